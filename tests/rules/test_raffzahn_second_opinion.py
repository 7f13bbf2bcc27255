"""Raffzahn: random play against a naive reference that was written from the rulebook alone."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from rollbook.rules.chance import Draw, FirstSeat, Throw
from rollbook.rules.game import Over, ToChoose, Watcher
from rollbook.rules.raffzahn import GAME
from rollbook.rules.raffzahn.moves import TILES, Choice, Outcome, Pass, Roll, Rolled, Surrender, Take
from rollbook.rules.raffzahn.state import State
from rollbook.rules.raffzahn.view import View
from rollbook.rules.refusals import RefusedByRules
from tests.rules import naive_raffzahn as naive
from tests.rules.positions_raffzahn import (
    owned_by,
    position,
)
from tests.rules.questions_raffzahn import (
    TILES_WITH_COUNTABLE_SUBSETS,
)

# A second opinion


def as_naive(state: State) -> naive.Position:
    """Convert a state to a position of the naive reference, through the view."""
    shown = GAME.view(state, Watcher.JUDGE)
    assert isinstance(shown, View)
    where: naive.Where = dict.fromkeys(TILES, ("out", None))
    where |= dict.fromkeys(shown.middle, ("middle", None))
    for seat, row in enumerate(shown.rows):
        where |= dict.fromkeys(row.open_tiles, ("open", seat))
        where |= dict.fromkeys(row.safe_tiles, ("safe", seat))
    awaited = GAME.awaited(state)
    if isinstance(awaited, ToChoose):
        waits_for = "surrender" if isinstance(GAME.legal(state)[0], Surrender) else "choice"  # type: ignore[index]  # listed
    else:
        waits_for = "end" if isinstance(awaited, Over) else "throw"
    return naive.Position(
        edition="original" if "original" in state.ruleset.result.__name__ else "revised",
        announce="tiles_to_win" == state.ruleset.to_announce.__name__,
        seats=len(shown.rows),
        teeth=dict(state.ruleset.teeth),
        where=where,
        seat=state.seat,
        throws=shown.throws,
        dice=shown.dice,
        announced=shown.announced,
        waits_for=waits_for,
    )


def as_named(choice: object) -> naive.Named:
    """Convert a choice to the form of the naive reference."""
    if isinstance(choice, Take):
        return ("take", choice.tile, choice.safe)
    if isinstance(choice, Roll):
        return ("roll", choice.dice, choice.announce)
    return ("surrender", choice.tiles) if isinstance(choice, Surrender) else ("pass",)


def comparable(one: naive.Position) -> naive.Position:
    """Remove the parts that differ after the end of a match."""
    return replace(one, seat=0, throws=0, dice=(), announced=None) if one.waits_for == "end" else one


def random_position(rng: random.Random) -> State:
    """Return a state before any throw of any seat, with few tiles so that subsets can be counted."""
    seats = rng.randint(3, 6)
    seat = rng.randrange(seats)
    tiles = rng.sample(TILES, len(TILES))
    mine, others, rest = tiles[:9], tiles[9:27], tiles[27:]
    mine = rng.sample(mine, rng.randint(0, 9))
    opened = rng.randint(0, len(mine))
    open_tiles: dict[int, list[int]] = {owner: [] for owner in range(seats)}
    safe_tiles: dict[int, list[int]] = {owner: [] for owner in range(seats)}
    open_tiles[seat], safe_tiles[seat] = mine[:opened], mine[opened:]
    for tile in others:
        owner = rng.choice([other for other in range(seats) if other != seat])
        rng.choice([open_tiles, safe_tiles])[owner].append(tile)
    throws = rng.randrange(3)
    announce = rng.random() < 0.5
    return position(
        seats=seats,
        edition=rng.choice(["original", "revised"]),
        announce=announce,
        seat=seat,
        middle=rng.sample(rest, rng.randint(1, len(rest))),
        open_tiles=open_tiles,
        safe_tiles=safe_tiles,
        throws=throws,
        announced=rng.choice(rest) if announce and throws else None,
    )


def random_outcome(state: State, rng: random.Random) -> Outcome:
    """Return a random outcome."""
    awaited = GAME.awaited(state)
    if isinstance(awaited, Throw):
        return GAME.outcome(state, tuple(rng.choice(faces) for faces in awaited.dice))
    assert isinstance(awaited, Draw)
    return GAME.outcome(state, (rng.choice(awaited.items),))


def agree(state: State, note: str) -> None:
    """Assert that both implementations agree on choices, order and places."""
    expected = as_naive(state)
    choices = [as_named(choice) for choice in GAME.legal(state)]
    assert len(set(choices)) == len(choices), note
    assert naive.choices(expected) == set(choices), note
    assert naive.placed(expected) == GAME.places(state), note
    for choice in GAME.legal(state):
        following = naive.chosen(expected, as_named(choice))
        if isinstance(choice, Roll):
            following = replace(following, announced=choice.announce)
        assert comparable(following) == comparable(as_naive(GAME.apply(state, choice))), note
    assert expected == as_naive(state), note
    if choices:
        assert as_named(GAME.caretaker(state)) in choices, note


@pytest.mark.parametrize("seed", range(40))
def test_random_positions_are_judged_as_by_the_naive_reference(seed: int) -> None:
    """Throws and choices have the same effects in both."""
    rng = random.Random(seed)
    for number in range(12):
        note = f"seed {seed}, position {number}"
        before = random_position(rng)
        rolled = random_outcome(before, rng)
        assert isinstance(rolled, Rolled)
        expected = naive.thrown(as_naive(before), rolled.dice)
        state = GAME.apply(before, rolled)
        assert expected == as_naive(state), note
        agree(state, note)


def playthrough(rng: random.Random) -> Iterator[tuple[State, Choice | Outcome, State]]:
    """Yield every move of a random match, with the state before and after it."""
    state = GAME.start(
        {"edition": rng.choice(["original", "revised"]), "announce": rng.random() < 0.5}, rng.randint(3, 6)
    )
    while not isinstance(GAME.awaited(state), Over):
        choices = GAME.legal(state)
        takes = [choice for choice in choices if isinstance(choice, Take)]
        move: Choice | Outcome
        if takes and rng.random() < 0.5:
            move = rng.choice(takes)
        else:
            move = choices.sample(rng.randrange) if choices else random_outcome(state, rng)
        following = GAME.apply(state, move)
        yield state, move, following
        state = following


@pytest.mark.parametrize("seed", range(12))
def test_random_matches_are_played_as_by_the_naive_reference(seed: int) -> None:
    """Both agree in all states that whole matches reach."""
    for before, move, following in playthrough(random.Random(seed)):
        note = f"seed {seed}, {move}"
        expected = as_naive(before)
        if isinstance(move, Rolled):
            assert naive.thrown(expected, move.dice) == as_naive(following), note
        elif not isinstance(move, FirstSeat):
            if len(owned_by(before, before.seat)) <= TILES_WITH_COUNTABLE_SUBSETS:
                assert as_named(move) in naive.choices(expected), note
            assert comparable(naive.chosen(expected, as_named(move))) == comparable(as_naive(following)), note


@pytest.mark.parametrize("seed", range(6))
def test_apply_leaves_its_argument_unchanged_and_folding_comes_to_the_same(seed: int) -> None:
    """`play` may change its argument, so `apply` and `fold` work on independent copies."""
    moves = []
    first = last = None
    for before, move, following in playthrough(random.Random(seed)):
        kept = GAME.copy(before)
        assert following == GAME.apply(before, move), f"seed {seed}, {move}"
        assert kept == before, f"seed {seed}, {move}"
        first = first or kept
        last = following
        moves.append(move)
    assert first is not None
    assert last == GAME.fold(first, moves), f"seed {seed}"


@pytest.mark.parametrize("seed", range(20))
def test_choices_that_are_not_legal_are_refused(seed: int) -> None:
    """`play` checks a choice without the list of legal ones, and both agree."""
    rng = random.Random(seed)
    guesses: list[Choice] = [
        *(Take(tile, safe) for tile in range(42) for safe in (False, True)),
        *(Roll(dice, tile) for dice in [(0,), (1, 2), (0, 1, 2)] for tile in [None, *range(42)]),
        Pass(),
        *(Surrender((tile,)) for tile in TILES),
        *(Surrender((low, high)) for high in TILES for low in range(1, high)),
    ]
    for number in range(5):
        state = random_position(rng)
        state = GAME.apply(state, random_outcome(state, rng))
        legal = set(GAME.legal(state))
        taken = set()
        for guess in guesses:
            try:
                GAME.apply(state, guess)
            except RefusedByRules:
                continue
            taken.add(guess)
        assert legal & set(guesses) == taken, f"seed {seed}, position {number}"
