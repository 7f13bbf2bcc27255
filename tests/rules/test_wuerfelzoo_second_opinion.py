"""Würfelzoo: random play against a naive reference that was written from the rulebook alone."""

from __future__ import annotations

import random

import pytest

from rollbook.rules.game import OVER, Over, ToChoose
from rollbook.rules.options import OptionValue
from rollbook.rules.refusals import RefusedByRules
from rollbook.rules.wuerfelzoo import GAME
from rollbook.rules.wuerfelzoo.moves import FACES, SPECIES, Choice, Play, Reroll
from rollbook.rules.wuerfelzoo.state import State
from tests.rules import naive_wuerfelzoo as naive
from tests.rules.positions_wuerfelzoo import bag, box, dice, position, unthrown
from tests.rules.questions_wuerfelzoo import any_move, plays, turn

# A second opinion

SEATS_AND_OPTIONS = [
    (seats, options)
    for seats in GAME.seats
    for options in ({}, {"box": True}, {"rounds_to": 60}, {"rounds_to": 30, "box": True})
]


def any_position(rng: random.Random) -> State:
    """Return a random small position: up to seven dice a seat, all faces, at most four animals in the middle."""
    by_size = rng.sample(range(50), 50)
    seats = rng.randint(2, 5)
    state = position(*[""] * seats, options={"box": rng.random() < 0.5}, bag=0)
    for seat in range(seats):
        for _ in range(rng.randint(seat == 0, 7)):
            number = by_size.pop()
            state.where[number] = seat
            state.faces[number] = rng.choice(FACES[number])
    if rng.random() < 0.7:
        species = rng.choice(SPECIES)
        lying = [number for number in by_size if species in FACES[number]][: rng.randint(1, 4)]
        state.middle, state.species, state.owner = tuple(sorted(lying)), species, rng.randrange(1, seats)
        for number in lying:
            state.faces[number] = species
            by_size.remove(number)
    for number in by_size[: rng.choice((0, 0, 1, 5))]:
        state.where[number] = -1
    return state


def hands_of(state: State) -> list[dict[int, str]]:
    """Return the dice of all seats in the form of the reference."""
    return [{number: state.faces[number] for number in dice(state, seat)} for seat in range(len(state.points))]


@pytest.mark.parametrize("seed", range(40))
def test_turns_agree_with_the_naive_reference(seed: int) -> None:
    """Enumeration, order, `in` and `play` agree with trying every subset of the hand."""
    rng = random.Random(seed)
    for number in range(15):
        message = f"seed {seed}, position {number}"
        state = any_position(rng)
        hand = hands_of(state)[0]
        middle = [state.species] * len(state.middle)
        laid = naive.plays(hand, middle)
        expected = [*map(Play, laid), *map(Reroll, naive.rerolls(hand))]
        choices = turn(state)
        assert expected == list(choices), message
        assert bool(choices), message
        may_be_laid = set(laid)
        for subset in naive.subsets(hand):
            shuffled = tuple(rng.sample(subset, len(subset)))
            assert (subset in may_be_laid) == (Play(shuffled) in choices) == accepted(state, Play(shuffled)), message
            assert Reroll(shuffled) in choices, message
        for _ in range(60):
            strange = tuple(rng.choices(range(-1, 51), k=rng.randint(0, 4)))
            for move in (Play(strange), Reroll(strange)):
                assert (move in choices) == accepted(state, move), message
        cheapest = naive.cheapest_play(hand, middle)
        caretaken = GAME.caretaker(state)
        if cheapest is None:
            assert isinstance(caretaken, Reroll), message
        else:
            assert Play(cheapest) == caretaken, message
        assert caretaken in choices, message
        sampled = choices.sample(rng.randrange)
        assert sampled in expected, message


@pytest.mark.parametrize("seed", range(40))
def test_abilities_agree_with_the_naive_reference(seed: int) -> None:
    """The legal uses are those of the reference; without any, the ability lapses."""
    rng = random.Random(seed)
    for number in range(30):
        state = any_position(rng)
        offered = plays(state)
        if not offered:
            continue
        chosen = rng.choice(offered)
        message = f"seed {seed}, position {number}, {chosen}"
        seat, species = state.seat, next(face for face in map(state.faces.__getitem__, chosen.dice) if face != "x2")
        after_play = GAME.apply(state, chosen)
        hands = hands_of(state)
        replaced = len(state.middle)
        hands[seat] = {die: face for die, face in hands[seat].items() if die not in chosen.dice}
        undrawn = len(bag(state)) + len(box(state)) + replaced
        expected = naive.uses(species, seat, hands, undrawn)
        if expected:
            assert ToChoose(seat) == GAME.awaited(after_play), message
            legal = list(GAME.legal(after_play))
            assert {GAME.choices[species]} == {type(use) for use in legal}, message
            assert expected == [tuple(getattr(use, name) for name in use.__dataclass_fields__) for use in legal], (
                message
            )
            assert all(accepted(after_play, use) for use in legal), message
            assert GAME.caretaker(after_play) in legal, message
        else:
            assert ToChoose(seat) != GAME.awaited(after_play), message


def accepted(state: State, move: Choice) -> bool:
    """Whether the rules accept the move; a refused one must not change the state."""
    trial = GAME.copy(state)
    try:
        GAME.play(trial, move)
    except RefusedByRules:
        assert state == trial
        return False
    return True


@pytest.mark.parametrize(("seats", "options"), SEATS_AND_OPTIONS)
def test_random_matches_end_and_lose_no_die(seats: int, options: dict[str, OptionValue]) -> None:
    """In every state each of the fifty dice is in exactly one place; matches end with a winner without dice."""
    for seed in range(4):
        rng = random.Random(seed)
        state = GAME.start(options, seats)
        for _ in range(20_000):
            if isinstance(GAME.awaited(state), Over):
                break
            GAME.play(state, any_move(state, rng))
            everywhere = [*bag(state), *box(state), *state.middle, *state.doubles]
            everywhere += [number for seat in range(seats) for number in dice(state, seat)]
            assert list(range(50)) == sorted(everywhere), f"seed {seed}"
            assert unthrown(state), f"seed {seed}"
        assert OVER == GAME.awaited(state), f"seed {seed}"
        assert [naive.penalty(hand) for hand in hands_of(state)][state.seat] == 0, f"seed {seed}"
        if not options.get("rounds_to"):
            assert [naive.penalty(hand) for hand in hands_of(state)] == state.points, f"seed {seed}"
            assert 1 == GAME.places(state).count(1), f"seed {seed}"


@pytest.mark.parametrize(("seats", "options"), SEATS_AND_OPTIONS)
def test_matches_of_caretakers_alone_end(seats: int, options: dict[str, OptionValue]) -> None:
    """A table without players ends."""
    rng = random.Random(seats)
    state = GAME.start(options, seats)
    for _ in range(20_000):
        awaited = GAME.awaited(state)
        if isinstance(awaited, Over):
            break
        GAME.play(state, GAME.caretaker(state) if isinstance(awaited, ToChoose) else any_move(state, rng))
    assert OVER == GAME.awaited(state), f"seed {seats}"
