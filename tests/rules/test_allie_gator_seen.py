"""Allie Gator: the views of all perspectives."""

from __future__ import annotations

from random import Random

import pytest

from rollbook.rules.allie_gator import GAME
from rollbook.rules.allie_gator.moves import GIFT, RAISE, STEAL, Drawn, Snap, Steal, Stolen
from rollbook.rules.allie_gator.view import View
from rollbook.rules.chance import Draw, FirstSeat
from rollbook.rules.game import OVER, Perspective, Watcher
from tests.rules.positions_allie_gator import (
    after,
    drawn,
    last_state,
    raising,
    random_outcome,
    random_play,
    stolen,
    target,
)
from tests.rules.questions_allie_gator import MATCHES, PLAIN, hidden_shuffled, judged, seen_by, table

# The view of each perspective


def test_before_the_first_seat_is_drawn_the_chip_lies_where_every_round_begins() -> None:
    """An early watcher sees the same table as a later one."""
    start = GAME.start({}, 3)
    for state in (start, GAME.apply(start, FirstSeat(1))):
        view = GAME.view(state, Watcher.PUBLIC)
        assert isinstance(view, View)
        assert 0 == view.chip


def test_a_hand_is_seen_by_its_seat_and_the_judge() -> None:
    """All viewers see the sizes of the hands; strangers see no more."""
    state = table(hands=[(1, 2), (3, 4, GIFT), (5,)])
    eyes: list[tuple[Perspective, list[tuple[int, ...] | None]]] = [
        (Watcher.PUBLIC, [None, None, None]),
        (0, [(1, 2), None, None]),
        (1, [None, (3, 4, GIFT), None]),
        (Watcher.JUDGE, [(1, 2), (3, 4, GIFT), (5,)]),
    ]
    for perspective, expected in eyes:
        players = seen_by(state, perspective).players
        assert expected == [player.hand for player in players]
        assert [2, 3, 1] == [player.hand_size for player in players]


def test_everybody_sees_the_table() -> None:
    """Piles, chip, direction, turn, penalty cards, sizes, teeth, round and places are public."""
    state = table(
        hands=[(1, 2), (3,), ()],
        seat=1,
        targets=((40, 50), (60,)),
        laid=((), (10, 11)),
        chip=1,
        clockwise=False,
        penalties=[(), (GIFT, 7), (8,)],
        teeth=(0, 1, 2),
        round=3,
    )
    seen = seen_by(state, Watcher.PUBLIC)
    assert (3, 1, False, 1, len(state.stock)) == (seen.round, seen.seat, seen.clockwise, seen.chip, seen.stock_size)
    assert [((40, 50), ()), ((60,), (10, 11))] == [(pile.targets, pile.cards) for pile in seen.piles]
    assert [(), (GIFT, 7), (8,)] == [player.penalties for player in seen.players]
    assert [0, 1, 2] == [player.teeth for player in seen.players]
    assert (3, 2, 1) == seen.places


def test_nobody_is_on_before_the_start_and_after_the_end() -> None:
    """The view names a seat only during a turn."""
    assert seen_by(GAME.start({}, 2), 0).seat is None
    assert seen_by(last_state(2, Random(0)), 0).seat is None


def test_when_the_match_is_over_all_hands_are_open() -> None:
    """After the end all cards are public."""
    end = table(hands=[(1, 2), (3, 4)], stock=(), teeth=(2, 2))
    end = after(end, Snap())
    assert OVER == GAME.awaited(end)
    assert judged(end) == seen_by(end, Watcher.PUBLIC) == seen_by(end, 1)
    assert [(1, 2), (3, 4)] == [player.hand for player in judged(end).players]


@pytest.mark.parametrize(("seats", "seed"), MATCHES)
def test_a_view_does_not_depend_on_hidden_cards(seats: int, seed: int) -> None:
    """Two states that differ only in cards hidden from a perspective have equal views, in every stage."""
    random = Random(seed)
    differed = 0
    for step, (state, _) in enumerate(random_play(seats, Random(seed))):
        for perspective in (Watcher.PUBLIC, *range(seats)):
            other = hidden_shuffled(state, perspective, random)
            differed += other != state
            assert seen_by(state, perspective) == seen_by(other, perspective), f"seed {seed}, step {step}"
    assert differed > 100


@pytest.mark.parametrize(("seats", "seed"), MATCHES)
def test_an_outcome_as_seen_does_not_depend_on_hidden_cards(seats: int, seed: int) -> None:
    """Strangers see the number of drawn cards and nothing of a theft; involved seats and the judge see the cards."""
    random = Random(seed)
    for step, (state, move) in enumerate(random_play(seats, Random(seed))):
        awaited = GAME.awaited(state)
        if not isinstance(move, Drawn | Stolen) or not isinstance(awaited, Draw):
            continue
        concerned = {state.seat, state.served} if isinstance(move, Stolen) else {state.served}
        for perspective in (Watcher.PUBLIC, *range(seats)):
            other = hidden_shuffled(state, perspective, random)
            awaited_there = GAME.awaited(other)
            assert isinstance(awaited_there, Draw)
            seen = GAME.seen(state, move, perspective)
            if perspective in concerned:
                assert move == seen, f"seed {seed}, step {step}"
            else:
                instead = GAME.seen(other, random_outcome(other, awaited_there, random), perspective)
                assert seen == instead, f"seed {seed}, step {step}"
        assert move == GAME.seen(state, move, Watcher.JUDGE), f"seed {seed}, step {step}"


def test_strangers_see_how_many_cards_are_drawn_and_that_one_is_stolen() -> None:
    """Hidden forms keep the number of cards; public outcomes stay as they are."""
    state = table(hands=[(1, 2, 3, 70, RAISE), PLAIN, (STEAL,)])
    raised = after(state, raising(70, 0))
    assert Drawn(0, (None, None)) == GAME.seen(raised, drawn(0, 10, 11), Watcher.PUBLIC)
    assert drawn(0, 10, 11) == GAME.seen(raised, drawn(0, 10, 11), 0)
    asked = after(table(hands=[(1, STEAL), PLAIN, (7, 8)]), Steal(1))
    assert Stolen(None) == GAME.seen(asked, stolen(43), 2)
    for concerned in (0, 1):
        assert stolen(43) == GAME.seen(asked, stolen(43), concerned)
    assert target(0, 4) == GAME.seen(state, target(0, 4), Watcher.PUBLIC)
