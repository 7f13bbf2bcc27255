"""Allie Gator: random play against a naive reference that was written from the rulebook alone."""

from __future__ import annotations

from random import Random

import pytest

from rollbook.rules.allie_gator import GAME
from rollbook.rules.game import OVER, ToChoose
from rollbook.rules.refusals import Illegal, Invalid
from tests.rules import naive_allie_gator as naive
from tests.rules.positions_allie_gator import (
    all_cards,
    last_state,
    random_play,
    random_position,
)
from tests.rules.questions_allie_gator import MATCHES, judged

# Legal choices against brute force


def test_legal_agrees_with_the_naive_reference_on_odd_positions() -> None:
    """The legal choices are listed once and in order: short hands, bare piles, no stock, only special cards."""
    random = Random(1)
    for index in range(4000):
        state = random_position(random)
        assert naive.legal(judged(state)) == list(GAME.legal(state)), f"seed 1, position {index}"


@pytest.mark.parametrize(("seats", "seed"), MATCHES)
def test_legal_agrees_with_the_naive_reference_in_random_play(seats: int, seed: int) -> None:
    """The lists agree in every state; no choice is legal while chance is awaited or after the end."""
    for step, (state, _) in enumerate(random_play(seats, Random(seed), {"teeth_to_end": 6})):
        expected = naive.legal(judged(state)) if isinstance(GAME.awaited(state), ToChoose) else []
        assert expected == list(GAME.legal(state)), f"seed {seed}, step {step}"


def test_play_accepts_exactly_what_is_legal() -> None:
    """`play` validates a choice without a list; it has to agree with the list, and refusals change nothing."""
    random = Random(2)
    for index in range(150):
        state = random_position(random)
        before = GAME.copy(state)
        seen = judged(state)
        for choice in naive.CONCEIVABLE:
            expected = naive.is_legal(seen, choice)
            try:
                GAME.apply(state, choice)
                accepted = True
            except (Invalid, Illegal):
                accepted = False
            assert expected == accepted, f"seed 2, position {index}, {choice}"
            assert before == state, f"seed 2, position {index}, {choice}"


@pytest.mark.parametrize(("seats", "seed"), MATCHES)
def test_apply_leaves_its_argument_unchanged_and_agrees_with_fold(seats: int, seed: int) -> None:
    """Only `play` changes a state in place."""
    start = GAME.start({}, seats)
    moves = []
    for state, move in random_play(seats, Random(seed)):
        before = GAME.copy(state)
        GAME.apply(state, move)
        assert before == state, f"seed {seed}, {move}"
        moves.append(move)
    assert last_state(seats, Random(seed)) == GAME.fold(start, moves), f"seed {seed}"
    assert GAME.start({}, seats) == start


@pytest.mark.parametrize(("seats", "seed"), MATCHES)
def test_no_card_is_ever_lost_or_doubled(seats: int, seed: int) -> None:
    """All 88 cards are present, hands and stock stay sorted, no hand has more than five."""
    deck = all_cards(GAME.start({}, seats))
    assert 88 == len(deck)
    for state, _ in random_play(seats, Random(seed), {"teeth_to_end": 6}):
        assert deck == all_cards(state), f"seed {seed}"
        assert [sorted(hand) for hand in state.hands] == state.hands, f"seed {seed}"
        assert sorted(state.stock) == state.stock, f"seed {seed}"
        assert 5 >= max(map(len, state.hands)), f"seed {seed}"


@pytest.mark.parametrize(("seats", "seed"), MATCHES)
def test_every_match_ends_with_enough_teeth(seats: int, seed: int) -> None:
    """A seat has reached the number of teeth, none has more than six, and the best is first."""
    end = last_state(seats, Random(seed), {"teeth_to_end": 5})
    assert OVER == GAME.awaited(end)
    assert 5 <= max(end.teeth) <= 6
    assert max(end.teeth) == end.teeth[GAME.places(end).index(1)]
