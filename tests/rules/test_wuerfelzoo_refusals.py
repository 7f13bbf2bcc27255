"""Würfelzoo: every refusal has its reason and changes nothing."""

from __future__ import annotations

import random
from copy import deepcopy

import pytest

from rollbook.rules.chance import FirstSeat
from rollbook.rules.game import Over
from rollbook.rules.refusals import Illegal, Reason
from rollbook.rules.wuerfelzoo import GAME
from rollbook.rules.wuerfelzoo.moves import FACES, Bear, Boar, Drawn, Fox, Play, Reroll, Rolled, Squirrel, Worm
from rollbook.rules.wuerfelzoo.state import State
from tests.rules.positions_wuerfelzoo import after, bag, box, dice, die, position
from tests.rules.questions_wuerfelzoo import HUGE, any_move, illegal, invalid, refusal

# Refusals

OWN_TURN = "worm worm boar x2 trap"


@pytest.mark.parametrize("kind", [Play, Reroll])
def test_lists_of_dice_that_cannot_be_read_are_invalid(kind: type[Play | Reroll]) -> None:
    """Empty, too long, unknown dice, doubled dice: each error has its own reason for any numbers."""
    state = position(OWN_TURN, "bear")
    worm = die(state, 0, "worm")
    assert Reason.NOTHING_NAMED == invalid(state, kind(()))
    assert Reason.TOO_MANY_NAMED == invalid(state, kind((worm,) * 51))
    assert Reason.TOO_MANY_NAMED == invalid(state, kind(tuple(range(100_000))))
    assert Reason.NAMED_TWICE == invalid(state, kind((worm, worm)))
    assert Reason.NAMED_TWICE == invalid(state, kind((worm,) * 50))
    for weird in (-1, 50, HUGE, -HUGE, True, 1.0, "1", None):
        assert Reason.DIE_UNKNOWN == invalid(state, kind((worm, weird)))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [Play, Reroll])
def test_only_own_dice_are_played_or_thrown_again(kind: type[Play | Reroll]) -> None:
    """Dice of others, in the middle and in the bag are not the seat's."""
    state = position(OWN_TURN, "bear", middle="worm", box=1, bag=1)
    for foreign in (*dice(state, 1), *state.middle, *bag(state), *box(state)):
        refused = refusal(state, kind((die(state, 0, "boar"), foreign)))
        assert (Illegal, Reason.DIE_NOT_OWNED) == (type(refused), refused.reason)
        assert {"die": foreign, "seat": 0} == refused.facts
    assert Reason.DIE_NOT_OWNED == illegal(state, kind(tuple(range(50))))


def test_a_play_that_breaks_the_rules_says_which() -> None:
    """Two species, too small a species, a wrong number: each has its own reason and facts."""
    state = position("worm fox fox bear bear bear", "bear", middle="fox fox")
    worms, foxes, bears = dice(state, 0, "worm"), dice(state, 0, "fox"), dice(state, 0, "bear")
    assert Reason.SPECIES_MIXED == illegal(state, Play(worms + foxes))
    assert Reason.SPECIES_TOO_SMALL == illegal(state, Play(worms))
    assert Reason.COUNT_DOES_NOT_FIT == illegal(state, Play(foxes))
    refused = refusal(state, Play(bears))
    assert {"species": "bear", "number": 3, "needed": "exactly 2"} == refused.facts


def using(species: str) -> State:
    """A state in which the first of three seats has laid the species, with something in every place."""
    state = position(f"{species} trap worm", "fox bear", "boar", middle="worm", options={"box": True}, bag=5, box=1)
    return after(state, Play((die(state, 0, species),)))


WEIRD_DICE = (-1, 50, HUGE, -HUGE, True, 2.0, "3", None)


def test_a_bear_that_is_told_nonsense_is_refused() -> None:
    """Unknown dice are invalid; dice in the middle, the bag and the box are not in play."""
    state = using("bear")
    for weird in WEIRD_DICE:
        assert Reason.DIE_UNKNOWN == invalid(state, Bear(weird))  # type: ignore[arg-type]
    for elsewhere in (*state.middle, *bag(state), *box(state)):
        assert Reason.DIE_NOT_IN_PLAY == illegal(state, Bear(elsewhere))


def test_a_boar_that_is_told_nonsense_is_refused() -> None:
    """The own die must be the seat's, the other one another seat's, and both in play."""
    state = using("boar")
    own, other = dice(state, 0)[0], dice(state, 1)[0]
    for weird in WEIRD_DICE:
        assert Reason.DIE_UNKNOWN == invalid(state, Boar(weird, other))  # type: ignore[arg-type]
        assert Reason.DIE_UNKNOWN == invalid(state, Boar(own, weird))  # type: ignore[arg-type]
    assert Reason.NAMED_TWICE == invalid(state, Boar(own, own))
    assert Reason.DIE_NOT_OWNED == illegal(state, Boar(other, own))
    assert Reason.DIE_NOT_OWNED == illegal(state, Boar(dice(state, 2)[0], other))
    assert Reason.TARGET_IS_ONESELF == illegal(state, Boar(own, dice(state, 0)[1]))
    for elsewhere in (*state.middle, *bag(state), *box(state)):
        assert Reason.DIE_NOT_IN_PLAY == illegal(state, Boar(own, elsewhere))
        assert Reason.DIE_NOT_OWNED == illegal(state, Boar(elsewhere, other))


def test_a_fox_that_is_told_nonsense_is_refused() -> None:
    """The die must lie in front of another seat."""
    state = using("fox")
    for weird in WEIRD_DICE:
        assert Reason.DIE_UNKNOWN == invalid(state, Fox(weird))  # type: ignore[arg-type]
    assert Reason.TARGET_IS_ONESELF == illegal(state, Fox(dice(state, 0)[0]))
    for elsewhere in (*state.middle, *bag(state), *box(state)):
        assert Reason.DIE_NOT_IN_PLAY == illegal(state, Fox(elsewhere))


def test_a_squirrel_or_worm_that_is_told_nonsense_is_refused() -> None:
    """Targets are other seats, and a worm gives away an own die."""
    squirrel, worm = using("squirrel"), using_worm()
    own = dice(worm, 0)[0]
    for weird in (-1, 3, HUGE, -HUGE, True, 1.0, "1", None):
        assert Reason.SEAT_UNKNOWN == invalid(squirrel, Squirrel(weird))  # type: ignore[arg-type]
        assert Reason.SEAT_UNKNOWN == invalid(worm, Worm(own, weird))  # type: ignore[arg-type]
    for weird in WEIRD_DICE:
        assert Reason.DIE_UNKNOWN == invalid(worm, Worm(weird, 1))  # type: ignore[arg-type]
    assert Reason.TARGET_IS_ONESELF == illegal(squirrel, Squirrel(0))
    assert Reason.TARGET_IS_ONESELF == illegal(worm, Worm(own, 0))
    for foreign in (*dice(worm, 1), *worm.middle, *bag(worm), *box(worm)):
        assert Reason.DIE_NOT_OWNED == illegal(worm, Worm(foreign, 1))


def using_worm() -> State:
    """Like `using`, but with an empty middle, because a worm beats no other species."""
    state = position("worm trap fox", "fox bear", "boar", options={"box": True}, bag=5, box=1)
    return after(state, Play((die(state, 0, "worm"),)))


def test_another_choice_than_the_awaited_is_refused() -> None:
    """No ability before its animal is laid, no play before the ability is used, and no other ability."""
    state = position(OWN_TURN, "bear")
    for move in (Bear(0), Boar(0, 1), Fox(0), Squirrel(1), Worm(0, 1)):
        assert Reason.OTHER_CHOICE_AWAITED == illegal(state, move)
    for outcome in (Drawn(0, (0,)), Rolled((0,), ("trap",)), FirstSeat(0)):
        assert Reason.OTHER_CHOICE_AWAITED == illegal(state, outcome)
    state = using("fox")
    for other in (Play((0,)), Reroll((0,)), Bear(0), Boar(0, 1), Squirrel(1), Worm(0, 1)):
        assert Reason.OTHER_CHOICE_AWAITED == illegal(state, other)


def test_no_choice_is_taken_while_chance_is_awaited() -> None:
    """Choices are refused before the start, between draw and throw, and during an ability."""
    start = GAME.start({}, 2)
    dealing = after(start, FirstSeat(0))
    throwing = after(dealing, Drawn(0, tuple(range(12))))
    adding = after(using("squirrel"), Squirrel(1))
    for state in (start, dealing, throwing, adding):
        for move in (Play((0,)), Reroll((0,)), Bear(0), Boar(0, 1), Fox(0), Squirrel(1), Worm(0, 1)):
            assert Reason.CHANCE_AWAITED == illegal(state, move)
        assert not GAME.legal(state)
    assert Reason.CHANCE_AWAITED == illegal(start, Drawn(0, (0,)))
    assert Reason.CHANCE_AWAITED == illegal(dealing, Rolled((0,), ("trap",)))
    assert Reason.CHANCE_AWAITED == illegal(throwing, FirstSeat(0))


def test_moves_of_other_games_are_invalid() -> None:
    """A move of another game is refused in every state."""
    for state in (GAME.start({}, 2), position(OWN_TURN, "bear"), using("fox")):
        for stranger in (None, 7, "play", object(), (1, 2)):
            assert Reason.MOVE_OF_ANOTHER_GAME == invalid(state, stranger)


def test_outcomes_that_chance_cannot_give_are_refused() -> None:
    """Seats not at the table, dice not in the bag, faces that a die does not have."""
    start = GAME.start({}, 2)
    for seat in (2, -1, HUGE, True, None):
        assert Reason.OUTCOME_IMPOSSIBLE == illegal(start, FirstSeat(seat))  # type: ignore[arg-type]
    dealing = after(start, FirstSeat(0))
    twelve = tuple(range(12))
    for drawn in (
        Drawn(1, twelve),
        Drawn(HUGE, twelve),
        Drawn(seat=False, dice=twelve),
        Drawn(0, ()),
        Drawn(0, twelve[:11]),
        Drawn(0, (*twelve, 12)),
        Drawn(0, (*twelve[:11], 0)),
        Drawn(0, (*twelve[:11], 50)),
        Drawn(0, (*twelve[:11], -1)),
        Drawn(0, (*twelve[:11], HUGE)),
        Drawn(0, (*twelve[:1], True, *twelve[2:])),
    ):
        assert Reason.OUTCOME_IMPOSSIBLE == illegal(dealing, drawn)
    throwing = after(dealing, Drawn(0, twelve))
    faces = tuple(FACES[die][0] for die in twelve)
    for rolled in (
        Rolled((), ()),
        Rolled(twelve, faces[:11]),
        Rolled(twelve, (*faces, "bear")),
        Rolled(twelve[::-1], faces[::-1]),
        Rolled(tuple(range(1, 13)), faces),
        Rolled(twelve, ("bear", *faces[1:])),
        Rolled(twelve, ("", *faces[1:])),
        Rolled(twelve, (*faces[:11], "dragon")),
        Rolled(twelve, (*faces[:11], HUGE)),  # type: ignore[arg-type]
        Rolled((HUGE, *twelve[1:]), faces),
    ):
        assert Reason.OUTCOME_IMPOSSIBLE == illegal(throwing, rolled)
    second = after(throwing, Rolled(twelve, faces))
    assert Reason.OUTCOME_IMPOSSIBLE == illegal(second, Drawn(1, twelve))
    adding = after(using("squirrel"), Squirrel(1))
    in_bag = bag(adding)
    assert Reason.OUTCOME_IMPOSSIBLE == illegal(adding, Drawn(2, in_bag[:1]))
    assert Reason.OUTCOME_IMPOSSIBLE == illegal(adding, Drawn(1, in_bag[:2]))
    assert Reason.OUTCOME_IMPOSSIBLE == illegal(adding, Drawn(1, dice(adding, 0)[:1]))


def test_apply_leaves_its_argument_as_it_is() -> None:
    """States can be shared: `play` changes only its own argument."""
    rng = random.Random(11)
    for options in ({}, {"box": True, "rounds_to": 20}):
        state = GAME.start(options, 3)
        for _ in range(400):
            if isinstance(GAME.awaited(state), Over):
                break
            before = deepcopy(state)
            move = any_move(state, rng)
            following = GAME.apply(state, move)
            assert before == state
            assert following != state
            GAME.play(before, move)
            assert before == following
            state = following
