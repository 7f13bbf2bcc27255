"""Properties of every built-in strategy, in every game, with all options and numbers of seats."""

from __future__ import annotations

import random
from importlib.metadata import entry_points
from typing import Any

import pytest

from rollbook.rules.catalogue import current, find
from rollbook.rules.options import Options
from rollbook_clients.bots import catalogue
from rollbook_clients.bots.duel import Duel, play_all
from rollbook_clients.bots.playbook import GROUP
from rollbook_clients.bots.tally import Tally
from tests.clients.bots.positions import positions, seat_of, some_positions
from tests.rules.cases import CASES, Case

every_case = pytest.mark.parametrize("case", CASES, ids=str)
EVERY_GAME = list(current())
THINKING = "monte_carlo:playouts=1"
"""One lot: every choice is tried once."""


def choose(strategy: str, case: Case, state: Any, seat: int, seed: int = 0) -> Any:
    """Return the choice of a new bot of this strategy."""
    bot = catalogue.find(strategy).create(seat_of(case, seat, seed))
    return bot.choose(case.game.view(state, seat), case.game.legal(state))


@every_case
@pytest.mark.parametrize("strategy", ["random", "heuristic"])
def test_every_choice_of_quick_strategies_is_legal_in_every_position(case: Case, strategy: str) -> None:
    """The positions come from random matches, so they include ones that no sensible bot reaches."""
    bots = [catalogue.find(strategy).create(seat_of(case, seat)) for seat in range(case.seats)]
    seen = 0
    for state, seat in positions(case, seed=3):
        before = case.game.copy(state)
        legal = case.game.legal(state)
        assert bots[seat].choose(case.game.view(state, seat), legal) in legal
        assert before == state
        seen += 1
    assert seen > 20


@every_case
def test_every_choice_of_monte_carlo_is_legal(case: Case) -> None:
    """It imagines states, in which the same choices must be legal as in the true state."""
    for state, seat in some_positions(case, seed=4, count=3):
        assert choose(THINKING, case, state, seat) in case.game.legal(state)


@pytest.mark.parametrize("strategy", ["random", "heuristic", "monte_carlo:playouts=60"])
@pytest.mark.parametrize("game", EVERY_GAME)
def test_the_same_seed_gives_the_same_choices(game: str, strategy: str) -> None:
    """With the same seed a duel can be repeated."""
    case = next(case for case in CASES if case.game.name == game)
    here = some_positions(case, seed=5, count=4)
    chosen = [[choose(strategy, case, state, seat, seed=9) for state, seat in here] for _ in range(2)]
    assert chosen[0] == chosen[1]


@pytest.mark.parametrize("game", EVERY_GAME)
def test_another_seed_gives_other_choices_by_chance(game: str) -> None:
    """If the seed had no effect, all random bots would play alike."""
    case = next(case for case in CASES if case.game.name == game)
    here = some_positions(case, seed=5, count=20)
    chosen = [[choose("random", case, state, seat, seed) for state, seat in here] for seed in (1, 2)]
    assert chosen[0] != chosen[1]


@pytest.mark.parametrize("strategy", ["random", "heuristic", "monte_carlo:playouts=120"])
def test_hidden_cards_make_no_difference_to_what_is_chosen(strategy: str) -> None:
    """Two true states that look the same to a seat give the same choice with the same seed."""
    rng = random.Random(11)
    case = next(case for case in CASES if str(case) == "allie_gator-3-seats")
    for state, seat in some_positions(case, seed=6, count=6):
        other = case.game.copy(state)
        rivals = [rival for rival in range(case.seats) if rival != seat]
        hidden = [card for rival in rivals for card in other.hands[rival]] + other.stock
        rng.shuffle(hidden)
        for rival in rivals:
            other.hands[rival] = sorted(hidden.pop() for _ in other.hands[rival])
        other.stock = sorted(hidden)
        other.starter = rng.randrange(case.seats)
        assert choose(strategy, case, state, seat) == choose(strategy, case, other, seat)


def won(game: str, options: Options, strategy: str, *, matches: int, seats: int) -> dict[str, Any]:
    """Return the results of a strategy against the random one, from a fixed seed."""
    duel = Duel(game, find(game).settle(options, seats), seats, (strategy, "random"), seed=2026)
    tally = Tally(duel)
    for played in play_all(duel, matches, jobs=1):
        tally.take(played)
    assert [] == tally.faults
    facts: dict[str, Any] = tally.facts()["strategies"][0]
    return facts


@pytest.mark.parametrize(
    ("strategy", "game", "seats", "options"),
    [
        ("rule_of_28", "cant_stop", 2, {}),
        ("rule_of_28", "cant_stop", 4, {"hasty": True}),
        ("expected_teeth", "raffzahn", 3, {}),
        ("expected_teeth", "raffzahn", 4, {"edition": "original", "announce": True}),
        ("lightest_zoo", "wuerfelzoo", 2, {}),
        ("lightest_zoo", "wuerfelzoo", 5, {"box": True}),
        ("fewest_penalties", "allie_gator", 2, {}),
        ("fewest_penalties", "allie_gator", 5, {}),
    ],
)
def test_every_heuristic_beats_random_clearly(strategy: str, game: str, seats: int, options: Options) -> None:
    """The whole interval is above two thirds; the seed is fixed, so the result never changes."""
    low, _high = won(game, options, strategy, matches=30, seats=seats)["interval"]
    assert low > 2 / 3


@pytest.mark.parametrize(("game", "matches", "seats"), [("cant_stop", 12, 2), ("wuerfelzoo", 12, 2)])
def test_thinking_beats_random(game: str, matches: int, seats: int) -> None:
    """A few imagined matches beat the random strategy."""
    low, _high = won(game, {}, "monte_carlo:playouts=40", matches=matches, seats=seats)["interval"]
    assert low > 1 / 2


def test_there_is_a_playbook_for_every_game() -> None:
    """The author of a game adds a playbook and a strategy."""
    assert set(current()) == entry_points(group=GROUP).names
