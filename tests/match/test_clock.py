"""Turn clocks: the charge of a wait, and the time that no seat is charged."""

from __future__ import annotations

from rollbook.match.clock import Clock
from rollbook.match.events import Terms

TURN_MS = 30_000
RESERVE_MS = 60_000


def waiting(seat: int = 0) -> Clock:
    """Return a clock that waits for this seat since 0, with its full turn and reserve."""
    clock = Clock.of(Terms(turn_seconds=30, reserve_seconds=60), 2)
    clock.wait_for(seat, 0)
    return clock


def test_a_wait_costs_the_turn_first_and_then_the_reserve_of_that_seat() -> None:
    """To the millisecond before and after the end of the turn."""
    for charged_ms, left in (
        (TURN_MS, (0, RESERVE_MS)),
        (TURN_MS + 1, (0, RESERVE_MS - 1)),
        (1, (TURN_MS - 1, RESERVE_MS)),
    ):
        clock = waiting(1)
        assert TURN_MS + RESERVE_MS == clock.runs_out_ms()
        clock.end_wait(charged_ms)
        assert (*left, RESERVE_MS) == (clock.left_ms, clock.reserve_ms[1], clock.reserve_ms[0])
        assert clock.runs_out_ms() is None


def test_a_choice_later_than_the_time_left_leaves_no_debt() -> None:
    """A choice before the time-out is in time; the seat's next turn has its full length."""
    clock = waiting()
    clock.end_wait(TURN_MS + RESERVE_MS + 5_000)
    assert (0, 0) == (clock.left_ms, clock.reserve_ms[0])
    clock.wait_for(1, 100_000)
    clock.end_wait(0)
    clock.wait_for(0, 200_000)
    assert 200_000 + TURN_MS == clock.runs_out_ms()


def test_what_was_pardoned_counts_for_one_wait_only() -> None:
    """All pardons of a wait add up; the next wait, of the same turn or another, starts without pardons."""
    for next_seat in (0, 1):
        clock = waiting()
        clock.pardon(4_000)
        clock.pardon(2_000)
        assert (1_000, 6_000 + TURN_MS + RESERVE_MS) == (clock.charge(7_000), clock.runs_out_ms())
        clock.end_wait(1_000)
        clock.wait_for(next_seat, 7_000)
        assert (0, 10_000) == (clock.not_charged_ms, clock.charge(17_000))


def test_a_wait_that_runs_goes_on_when_the_same_seat_is_still_awaited() -> None:
    """The charge of the wait so far and its pardons are kept."""
    clock = waiting()
    clock.pardon(1_000)
    clock.wait_for(0, 5_000)
    assert 8_000 == clock.charge(9_000)


def test_without_a_clock_nothing_costs_and_nothing_runs_out() -> None:
    """A reserve has no effect without turn time."""
    clock = Clock.of(Terms(reserve_seconds=60), 2)
    clock.wait_for(0, 0)
    assert (0, None, [0, 0]) == (clock.charge(10**9), clock.runs_out_ms(), clock.reserve_ms)


def test_a_copy_is_a_clock_of_its_own() -> None:
    """A charge on the copy does not change the original."""
    clock = waiting()
    other = clock.copy()
    assert clock == other
    other.end_wait(TURN_MS + 1)
    assert (RESERVE_MS, True) == (clock.reserve_ms[0], clock.waiting)
