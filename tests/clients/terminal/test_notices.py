"""The log reports the fate of every choice, and every time-out."""

from __future__ import annotations

from rollbook.v1 import events_pb2
from rollbook_clients.sdk import Event
from rollbook_clients.terminal.notices import Notices
from rollbook_clients.terminal.texts import words_in

WORDS = words_in("en")


def event(kind: str, *, by_caretaker: bool = False) -> Event:
    """Return an event of the own seat."""
    message = events_pb2.Event(sequence=9, seat=0)
    getattr(message, kind).SetInParent()
    if by_caretaker:
        message.chosen.by_caretaker = True
    return Event(message, b"", b"")


def told() -> tuple[Notices, list[str]]:
    """Return notices, and the list of lines that they add to the log."""
    log: list[str] = []
    return Notices(WORDS, log.append), log


def test_a_choice_that_came_too_late_is_said_and_stays_said() -> None:
    """The clock ran out while the service was away: the log reports that a bot chose instead."""
    notices, log = told()
    assert "Not sent yet: Stop" in notices.sends("Stop", is_away=True)
    notices.take_event(event("timed_out"))
    notices.came_too_late()
    assert ["Your choice came too late and did not count: Stop"] == log
    assert "Your time ran out" in notices.said
    assert "did not count: Stop" in notices.said
    notices.take_event(event("chosen", by_caretaker=True))
    assert "did not count: Stop" in notices.said


def test_a_choice_that_arrives_after_a_while_is_said_to_have_arrived() -> None:
    """The connection was lost while the choice was sent."""
    notices, log = told()
    notices.sends("Stop", is_away=False)
    assert "Not sent yet: Stop" in notices.connection_lost()
    notices.confirm_choice()
    assert ["Your choice has arrived: Stop"] == log


def test_a_choice_that_arrives_at_once_needs_no_word() -> None:
    """The board shows such a choice, so the log needs no line."""
    notices, log = told()
    notices.sends("Stop", is_away=False)
    notices.confirm_choice()
    assert ([], "", "") == (log, notices.said, notices.connection_lost())


def test_a_choice_that_nobody_answered_is_settled_by_the_log() -> None:
    """If the log has the choice, it counted; if it has a bot's choice, it did not."""
    for by_caretaker, expected in ((False, "has arrived: Stop"), (True, "did not count: Stop")):
        notices, log = told()
        notices.sends("Stop", is_away=True)
        assert "unclear whether this counted: Stop" in notices.is_unknown()
        notices.take_event(event("chosen", by_caretaker=by_caretaker))
        assert [True] == [expected in line for line in log]


def test_time_outs_are_counted_until_a_choice_of_ones_own() -> None:
    """Three time-outs in a row forfeit the seat; the log warns before and reports it after."""
    notices, _ = told()
    notices.take_event(event("timed_out"))
    assert "1 of 3 turns in a row" in notices.said
    notices.take_event(event("chosen", by_caretaker=True))
    assert "1 of 3 turns in a row" in notices.said
    notices.take_event(event("chosen"))
    assert "" == notices.said
    for _ in range(3):
        notices.take_event(event("timed_out"))
    assert "3 of 3 turns in a row" in notices.said
    notices.take_event(event("forfeited"))
    assert "You are out: your time ran out 3 turns in a row" in notices.said
