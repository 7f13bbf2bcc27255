"""States imagined from a view give the seat the same view as the true state, and do not depend on hidden cards."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import cast

import pytest

from rollbook.rules import allie_gator
from rollbook.rules.allie_gator.moves import DECK
from rollbook.rules.allie_gator.view import View
from rollbook.rules.game import everything_is_open
from rollbook_clients.bots.playbook import playbook
from tests.clients.bots.positions import positions, some_positions
from tests.rules.cases import CASES, Case


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_imagined_state_has_the_same_view_and_the_same_legal_choices(case: Case) -> None:
    """Legal choices in the imagined state are legal in the true one; without hidden cards both states are equal."""
    game = case.game
    rng = random.Random(1)
    for number, (state, seat) in enumerate(positions(case, seed=2)):
        if number % 7:
            continue
        view = game.view(state, seat)
        imagined = playbook(game.name).possible_state(case.options, view, rng.randrange)
        assert view == game.view(imagined, seat)
        legal = game.legal(state)
        assert game.legal(imagined) == legal
        if game.seen is everything_is_open:
            choice = legal.sample(rng.randrange)
            assert game.view(game.apply(state, choice), seat) == game.view(game.apply(imagined, choice), seat)


def test_hidden_cards_are_drawn_anew_each_time_and_all_of_them_lie_somewhere() -> None:
    """No card is doubled or lost, and every unseen card is in a rival's hand about equally often."""
    case = next(case for case in CASES if str(case) == "allie_gator-2-seats")
    state, seat = max(some_positions(case, seed=8, count=10), key=lambda position: len(position[0].stock))
    assert len(state.stock) > 20
    view = case.game.view(state, seat)
    rng = random.Random(5)
    held: Counter[int] = Counter()
    starters: Counter[int] = Counter()
    for _ in range(2_000):
        imagined = playbook("allie_gator").possible_state(case.options, view, rng.randrange)
        places = (imagined.targets, imagined.laid, imagined.hands, imagined.penalties, [imagined.stock])
        assert sorted(DECK) == sorted(card for piles in places for pile in piles for card in pile)
        held.update(imagined.hands[1 - seat])
        starters[imagined.starter] += 1
    unseen = Counter(state.hands[1 - seat]) + Counter(state.stock)
    expected = 2_000 * len(state.hands[1 - seat]) / unseen.total()
    assert set(unseen) == set(held)
    assert all(900 < starters[starter] < 1_100 for starter in (0, 1))
    assert all(abs(held[card] / copies - expected) < 5 * expected**0.5 for card, copies in unseen.items())


def test_a_judges_view_is_imagined_as_it_is() -> None:
    """A judge's view has all hands, so only the seat that started the round is drawn."""
    case = next(case for case in CASES if str(case) == "allie_gator-3-seats")
    state, seat = some_positions(case, seed=9, count=1)[0]
    view = cast("View", allie_gator.GAME.view(state, seat))
    players = tuple(replace(player, hand=tuple(hand)) for player, hand in zip(view.players, state.hands, strict=True))
    imagined = playbook("allie_gator").possible_state(
        case.options, replace(view, players=players), random.Random(1).randrange
    )
    assert state.hands == imagined.hands
    assert state.stock == imagined.stock
