"""The backlog shows events one after the other, and at most four seconds late."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rollbook_clients.terminal.backlog import MOST_BEHIND_SECONDS, Backlog


class Clock:
    """A clock that advances only when the test sets it."""

    def __init__(self) -> None:
        """Start at zero."""
        self.seconds = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.seconds


def test_moves_that_come_together_are_shown_one_after_the_other() -> None:
    """Three simultaneous moves of a bot are shown with two pauses between them."""
    clock = Clock()
    backlog = Backlog[int](clock)
    for move in range(3):
        backlog.add(move, after=1.0)
    shown = []
    for _ in range(3):
        shown.append(backlog.due())
        clock.seconds += 1.0
    assert [[0], [1], [2]] == shown
    assert backlog.wait is None


def test_a_pace_of_nothing_shows_everything_at_once() -> None:
    """With a pace of 0 every event is shown at once."""
    backlog = Backlog[int](Clock())
    for move in range(3):
        backlog.add(move, after=0.0)
    assert [0, 1, 2] == backlog.due()


def test_the_present_is_one_key_away() -> None:
    """All pending events are taken at once, and later events start with no delay."""
    clock = Clock()
    backlog = Backlog[int](clock)
    for move in range(3):
        backlog.add(move, after=2.0)
    assert [0, 1, 2] == backlog.all()
    assert 0 == len(backlog)
    backlog.add(3, after=2.0)
    assert [3] == backlog.due()


@given(st.lists(st.tuples(st.floats(0, 3), st.sampled_from([0.0, 0.5, 1.0, 2.0])), max_size=60))
def test_nothing_is_shown_later_than_four_seconds_after_it_happened(moves: list[tuple[float, float]]) -> None:
    """For every speed of play and every pace, events are shown in order and at most four seconds late."""
    clock = Clock()
    backlog = Backlog[tuple[int, float]](clock)
    shown: list[int] = []

    def look() -> None:
        for number, happened in backlog.due():
            assert clock.seconds - happened <= MOST_BEHIND_SECONDS + 1e-6
            shown.append(number)

    for number, (pause, after) in enumerate(moves):
        until = clock.seconds + pause
        while backlog.wait is not None and clock.seconds + backlog.wait <= until:
            clock.seconds += backlog.wait
            look()
        clock.seconds = until
        backlog.add((number, clock.seconds), after=after)
        look()
    while backlog.wait is not None:
        clock.seconds += backlog.wait
        look()
    assert list(range(len(moves))) == shown
