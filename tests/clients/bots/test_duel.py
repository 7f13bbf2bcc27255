"""Matches of a duel: the order of the seats, the dice, and the counting of wins."""

from __future__ import annotations

from fractions import Fraction

import pytest

from rollbook.match.events import Happened
from rollbook.match.simulation import Simulation
from rollbook.rules.catalogue import find
from rollbook.rules.chance import FirstSeat
from rollbook_clients.bots.bot import Unsuited
from rollbook_clients.bots.catalogue import Unknown
from rollbook_clients.bots.duel import Duel, Played, check, play, play_all, seed
from rollbook_clients.bots.tally import Tally, wilson


def duel(one: str = "heuristic", other: str = "random", *, game: str = "cant_stop", seats: int = 2) -> Duel:
    """Return a duel with a fixed seed."""
    return Duel(game, find(game).settle({}, seats), seats, (one, other), seed=7)


def tallied(duel: Duel, *played: Played) -> Tally:
    """Return the tally of these matches."""
    tally = Tally(duel)
    for match in played:
        tally.take(match)
    return tally


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_over_two_matches_both_strategies_sit_once_in_every_seat(seats: int) -> None:
    """Both strategies have every seat equally often."""
    wuerfelzoo = duel(game="wuerfelzoo", seats=seats)
    for number in (0, 1, 6):
        pairs = zip(wuerfelzoo.sides(number), wuerfelzoo.sides(number + 1), strict=True)
        assert [{0, 1}] * seats == [set(pair) for pair in pairs]
    assert set(wuerfelzoo.sides(0)) == {0, 1}


def test_a_match_has_the_dice_of_the_simulated_match_of_its_seed_and_number() -> None:
    """`rollbook simulate` with the same seed and number plays the same match."""
    for number in range(6):
        simulation = Simulation(find("cant_stop"), {}, 2, 7, number)
        first = next(
            event.outcome.seat
            for _, event in simulation.events()
            if isinstance(event, Happened) and isinstance(event.outcome, FirstSeat)
        )
        assert first == play(duel(), number).first_seat


def test_the_first_seat_is_that_of_the_first_round() -> None:
    """Würfelzoo draws a first seat for every round; the tally counts the seat that started the match."""
    options = find("wuerfelzoo").settle({"rounds_to": 100}, 2)
    for number in range(4):
        simulation = Simulation(find("wuerfelzoo"), options, 2, 7, number)
        first = next(
            event.outcome.seat
            for _, event in simulation.events()
            if isinstance(event, Happened) and isinstance(event.outcome, FirstSeat)
        )
        assert first == play(Duel("wuerfelzoo", options, 2, ("heuristic", "random"), 7), number).first_seat


def test_matches_are_the_same_however_many_processes_play_them() -> None:
    """Each match and each bot has its own seed."""
    one, two = (sorted(play_all(duel(), 9, jobs), key=lambda match: match.number) for jobs in (1, 2))
    assert one == two
    assert list(range(9)) == [match.number for match in one]


def test_every_bot_has_a_seed_of_its_own() -> None:
    """With a shared seed random bots would do the same at every seat and in every match."""
    assert 6 == len({seed(match_id, seat) for match_id in ("cant_stop-7-0", "cant_stop-7-1") for seat in range(3)})


def test_a_victory_counts_for_side_seat_and_turn() -> None:
    """Seat 1 started and won; in match 0 it belongs to the second strategy."""
    tally = tallied(duel(), Played(0, (0, 1), first_seat=1, places=(2, 1), faults=()))
    assert [0, 1] == [side.all.wins for side in tally.sides]
    assert {0: 1, 1: 0} == {turn: rate.wins for turn, rate in tally.by_turn.items()}
    assert [1, 1] == [tally.sides[1].by_seat[1].wins, tally.sides[1].by_turn[0].wins]
    assert [0, 0] == [tally.sides[0].by_seat[0].wins, tally.sides[0].by_turn[1].wins]


def test_a_shared_victory_counts_for_its_parts() -> None:
    """Two of three seats share the victory, both of one strategy or one of each."""
    three = duel(game="raffzahn", seats=3)
    both = tallied(three, Played(0, (0, 1, 0), first_seat=0, places=(1, 3, 1), faults=()))
    assert [1, 0] == [side.all.wins for side in both.sides]
    assert Fraction(1, 2) == both.sides[0].by_seat[2].wins
    each = tallied(three, Played(0, (0, 1, 0), first_seat=0, places=(1, 1, 3), faults=()))
    assert [Fraction(1, 2)] * 2 == [side.all.wins for side in each.sides]


def test_wins_add_up_to_the_matches() -> None:
    """The wins of both strategies add up to the matches, in total and by each split."""
    tally = tallied(duel(game="wuerfelzoo", seats=3), *play_all(duel(game="wuerfelzoo", seats=3), 30, 1))
    assert 30 == sum(side.all.wins for side in tally.sides)
    assert 30 == sum(rate.wins for rate in tally.by_turn.values())
    assert 30 == sum(rate.wins for side in tally.sides for rate in side.by_seat.values())
    assert [30] * 3 == [rate.matches for rate in tally.by_turn.values()]


@pytest.mark.parametrize(
    ("wins", "matches", "low", "high"),
    [(50, 100, 0.4038, 0.5962), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (1, 1, 0.2065, 1.0)],
)
def test_intervals_are_wilsons(wins: int, matches: int, low: float, high: float) -> None:
    """The values are those of published tables; intervals stay within 0 to 1 and have a width."""
    assert (low, high) == tuple(round(end, 4) for end in wilson(wins, matches))


def test_strategies_that_do_not_exist_or_do_not_fit_are_refused_before_anything_is_played() -> None:
    """The exception lists the available strategies."""
    with pytest.raises(Unknown, match=r"there is no strategy 'chess'; strategies: .*heuristic.*random"):
        check(duel("chess"))
    with pytest.raises(Unsuited, match="lightest_zoo plays wuerfelzoo only, not cant_stop"):
        check(duel("random", "lightest_zoo"))
    with pytest.raises(Unknown, match=r"monte_carlo has no setting 'depth'; .* think=1.0, playouts=0"):
        check(duel("monte_carlo:depth=3"))
    with pytest.raises(Unknown, match="random has no setting 'luck'; its settings with their defaults: none"):
        check(duel("random:luck=1"))
    with pytest.raises(Unknown, match="playouts of monte_carlo must be a whole number, not 'many'"):
        check(duel("monte_carlo:playouts=many"))
    for think in ("0", "-1", "nan", "inf", "3601"):
        with pytest.raises(Unsuited, match="more than 0 and at most 3600 seconds"):
            check(duel(f"monte_carlo:think={think}"))
    with pytest.raises(Unsuited, match="must not be negative"):
        check(duel("monte_carlo:playouts=-1"))
