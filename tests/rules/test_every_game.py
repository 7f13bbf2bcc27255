"""The promises of the game contract hold in random play of every game, option and number of seats.

Hypothesis draws the seeds; a failure prints the seed, and `@example(seed=...)` or `ROLLBOOK_SEED` repeats it.
"""

from __future__ import annotations

import os
import random
from dataclasses import fields
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rollbook.match.codec.moves import write_choice
from rollbook.match.codec.notation import LineReader, LineWriter, read_header
from rollbook.match.events import Chosen, Event, Happened
from rollbook.match.simulation import Simulation
from rollbook.rules import allie_gator
from rollbook.rules.catalogue import current, find
from rollbook.rules.chance import Draw, Throw
from rollbook.rules.game import Over, ToChoose, Uniform, Watcher, everything_is_open
from rollbook.rules.options import write_value
from rollbook.rules.refusals import Invalid, Reason, RefusedByRules
from tests.games.material import OWN_GAMES, own_tests
from tests.match.table import Table
from tests.rules.cases import CASES, Case

MOST_MOVES = 60_000
"""Above the length of any random match so far; a game that does not end reaches this."""

NO_VALUES: list[Any] = ["maybe", "", -1, 10**5000, None, 2.0, [], "x" * 10_000]
"""Values that no option accepts."""

SEED = os.environ.get("ROLLBOOK_SEED")
seeds = st.just(int(SEED)) if SEED else st.integers(0, 2**32 - 1)
few = settings(max_examples=3, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
every_case = pytest.mark.parametrize("case", CASES, ids=str)


def material(game: str, state: Any) -> object:
    """Return the material that never changes in a match; None for games of other distributions."""
    return own_tests(game).material(state) if game in OWN_GAMES else None


def chance(awaited: Throw | Draw, rng: random.Random) -> tuple[Any, ...]:
    """Return random values for awaited chance."""
    if isinstance(awaited, Throw):
        return tuple(rng.choice(faces) for faces in awaited.dice)
    return tuple(rng.sample(awaited.items, awaited.count))


def conceivable(kind: type[Any], rng: random.Random) -> Any:
    """Return a choice of this kind with random fields that a client could send, mostly nonsense."""
    hints = get_type_hints(kind)
    return kind(*[_value(hints[field.name], rng) for field in fields(kind)])


def _value(hint: Any, rng: random.Random) -> Any:
    if get_origin(hint) is tuple:
        return tuple(sorted(_value(get_args(hint)[0], rng) for _ in range(rng.randrange(5))))
    if type(None) in get_args(hint):
        inner = next(part for part in get_args(hint) if part is not type(None))
        return None if rng.random() < 0.3 else _value(inner, rng)
    if hint is bool:
        return rng.random() < 0.5
    return rng.choice([rng.randrange(7), rng.randrange(80), rng.choice([-1, 2**31 - 1, -(2**31), 10**30])])


def examine(case: Case, state: Any, rng: random.Random) -> None:
    """Assert the contract in a state in which a seat has to choose."""
    game = case.game
    before = game.copy(state)
    choices = game.legal(state)
    assert choices
    assert game.caretaker(state) in choices
    if game.seen is everything_is_open:
        assert 1 == len({repr(game.view(state, eyes)) for eyes in (*Watcher, *range(case.seats))})
    for choice in [choices.sample(uniform(rng)), game.caretaker(state)]:
        assert choice in choices
        assert game.apply(state, choice) != before
    for choice, _ in zip(choices, range(10), strict=False):
        game.apply(state, choice)
    for kind in game.choices.values():
        choice = conceivable(kind, rng)
        if choice in choices:
            game.apply(state, choice)
            continue
        after = game.copy(state)
        with pytest.raises(RefusedByRules) as refused:
            game.play(after, choice)
        assert before == after
        assert refused.value.why
        assert refused.value.learn
    for seat in (Watcher.PUBLIC, Watcher.JUDGE, *range(case.seats)):
        assert game.view(state, seat) == game.view(before, seat)
    assert before == state


def uniform(rng: random.Random) -> Uniform:
    """Return a source of random numbers for sampling."""
    return rng.randrange


def random_match(case: Case, seed: int) -> tuple[Any, list[Any], list[Event]]:
    """Play a random match with all checks; returns its last state, its moves and its events."""
    rng = random.Random(seed)
    game = case.game
    state = game.start(case.options, case.seats)
    begun = material(game.name, state)
    moves: list[Any] = []
    events: list[Event] = []
    while not isinstance(awaited := game.awaited(state), Over):
        assert len(moves) < MOST_MOVES
        if isinstance(awaited, ToChoose):
            if rng.random() < 0.05 or len(moves) < 40:
                examine(case, state, rng)
            move = game.legal(state).sample(uniform(rng))
            events.append(Chosen(awaited.seat, move))
        else:
            assert not game.legal(state)
            values = chance(awaited, rng)
            move = game.outcome(state, values)
            events.append(Happened(move))
        one_at_a_time = game.apply(state, move) if rng.random() < 0.05 else None
        game.play(state, move)
        assert one_at_a_time in (None, state)
        moves.append(move)
        assert begun == material(game.name, state)
    return state, moves, events


@every_case
@few
@given(seed=seeds)
def test_random_play_ends_keeps_its_material_and_folds_to_the_same_state(case: Case, seed: int) -> None:
    """A match ends, keeps its material, accepts exactly the legal choices, folds alike, and its lines read back."""
    game = case.game
    state, moves, events = random_match(case, seed)
    start = game.start(case.options, case.seats)
    assert state == game.fold(start, moves) == game.fold(start, moves)
    assert start == game.start(case.options, case.seats)
    assert 1 in game.places(state)
    assert len(game.places(state)) == case.seats
    header = read_header(Table(game.name, seats=case.seats, options=case.options).lines()[0])
    write, read = LineWriter(game), LineReader(header)
    for sequence, event in enumerate(events, start=7):
        line = write(sequence, event)
        assert (sequence, event) == read(line)


@every_case
def test_the_caretaker_alone_plays_a_match_that_stands_still_or_ends(case: Case) -> None:
    """All players have left: the caretaker's choices are always legal."""
    rng = random.Random(7)
    game = case.game
    state = game.start(case.options, case.seats)
    for _ in range(2_000):
        awaited = game.awaited(state)
        if isinstance(awaited, Over):
            break
        if isinstance(awaited, ToChoose):
            game.play(state, game.caretaker(state))
        else:
            game.play(state, game.outcome(state, chance(awaited, rng)))


@pytest.mark.parametrize("seats", [2, 5])
@pytest.mark.parametrize("box", [False, True])
def test_wuerfelzoo_to_999_points_ends_or_is_sealed_by_the_standing(seats: int, box: bool) -> None:
    """The longest possible match also fits a log."""
    simulation = Simulation(find("wuerfelzoo"), {"rounds_to": 999, "box": box}, seats, 3, 0)
    *_, (sequence, _last) = simulation.events()
    assert sequence <= 10_000
    assert simulation.match.sealed is not None


@pytest.mark.parametrize("name", list(current()))
def test_unknown_options_values_and_seats_are_refused_with_what_is_allowed(name: str) -> None:
    """The refusal names the allowed values."""
    game = current()[name]
    for seats in (0, -1, game.seats[0] - 1, game.seats[-1] + 1, 10**30, True):
        with pytest.raises(Invalid, match=f"seats: {game.seats[0]} to {game.seats[-1]}") as refused:
            game.start({}, seats)
        assert Reason.SEATS_OUT_OF_RANGE == refused.value.reason
    for unknown in ("blitz", "", "x" * 10_000):
        with pytest.raises(Invalid, match=f"options: {', '.join(option.name for option in game.options)}") as refused:
            game.start({unknown: 1}, game.seats[0])
        assert Reason.OPTION_UNKNOWN == refused.value.reason
    for option in game.options:
        for value in NO_VALUES:
            with pytest.raises(Invalid) as refused:
                game.start({option.name: value}, game.seats[0])
            assert Reason.OPTION_VALUE_UNKNOWN == refused.value.reason
            assert f"allowed: {option.allowed}" in str(refused.value)
            assert len(str(refused.value)) < 200


@pytest.mark.parametrize("name", list(current()))
def test_an_option_is_read_as_it_is_written_and_nothing_else_is(name: str) -> None:
    """On a command line every value is text; the refusal repeats it with the allowed values."""
    for option in current()[name].options:
        assert list(option.values) == [option.read(write_value(value)) for value in option.values]
        for text in ("", "True", "-1", "none"):
            with pytest.raises(Invalid, match=f"allowed: {option.allowed}") as refused:
                option.read(text)
            assert Reason.OPTION_VALUE_UNKNOWN == refused.value.reason
            assert f"option {option.name} cannot be '{text}'" in str(refused.value)


@pytest.mark.parametrize("name", list(current()))
def test_every_choice_has_its_name_and_fields_in_the_plain_form(name: str) -> None:
    """Otherwise a choice could be made but not written down."""
    game = current()[name]
    rng = random.Random(1)
    for kind in game.choices.values():
        assert isinstance(write_choice(conceivable(kind, rng)), dict)


def test_allie_gators_watchers_see_equal_views_where_only_hidden_cards_differ() -> None:
    """Non-interference: the view stays equal when cards hidden from the seat are exchanged."""
    rng = random.Random(11)
    game = allie_gator.GAME
    state = game.start({}, 3)
    while not isinstance(awaited := game.awaited(state), Over):
        if isinstance(awaited, ToChoose):
            other = game.copy(state)
            hidden = [*other.hands[1], *other.hands[2], *other.stock]
            rng.shuffle(hidden)
            one, two = len(other.hands[1]), len(other.hands[1]) + len(other.hands[2])
            other.hands[1] = sorted(hidden[:one])
            other.hands[2] = sorted(hidden[one:two])
            other.stock = sorted(hidden[two:])
            for perspective in (Watcher.PUBLIC, 0):
                assert game.view(state, perspective) == game.view(other, perspective)
        play = game.legal(state).sample(uniform(rng)) if isinstance(awaited, ToChoose) else None
        game.play(state, play if play is not None else game.outcome(state, chance(awaited, rng)))  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "version"), [("chess", None), ("", None), ("cant_stop", 2), ("cant_stop", 10**30)])
def test_unknown_games_and_versions_are_refused_with_what_there_is(name: str, version: int | None) -> None:
    """A log of an unknown ruleset is never played by another one."""
    with pytest.raises(Invalid, match="games: allie_gator" if version is None else "newest: 1") as refused:
        find(name, version)
    assert Reason.GAME_UNKNOWN == refused.value.reason
