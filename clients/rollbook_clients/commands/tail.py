"""`rollbook tail`: prints a match in the plain form while it is played."""

import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from typing import Final

from rollbook.cli.exits import Exit, Failed
from rollbook.cli.service_options import LOCAL_SERVICE, ServiceOptions
from rollbook.match.codec.envelope import Logged, read_bytes
from rollbook.match.codec.moves import Unreadable
from rollbook.match.codec.notation import Header, LineWriter, dumps, write_header
from rollbook.match.events import Opened, Ready, Sealed, Started
from rollbook.rules.catalogue import find
from rollbook.v1.events_pb2 import Private
from rollbook.v1.games_pb2 import HiddenOutcome
from rollbook.v1.match_pb2 import (
    MATCH_STATE_GETTING_READY,
    MATCH_STATE_OPEN,
    MATCH_STATE_RUNNING,
)
from rollbook_clients.commands.matches import match_line
from rollbook_clients.commands.service_calls import at_the_service, say
from rollbook_clients.sdk import Away, CaughtUp, Ended, Event, Events, Revealed
from rollbook_clients.sdk.lobby import OVER
from rollbook_clients.sdk.sync import SyncMatch, SyncTable

_LISTED: Final = (MATCH_STATE_OPEN, MATCH_STATE_GETTING_READY, MATCH_STATE_RUNNING)


def tail(match: str | None = None, *, at: ServiceOptions = LOCAL_SERVICE, follow: bool = True) -> int:
    """Print a match in the plain form, line by line, as it is played.

    The output of a finished match can be checked by `rollbook check`. The first line has the entropy of all seats, so
    nothing is printed before the match has started. Hidden cards are null, unless the owner of the token may see them
    or the match is over. Lost connections are renewed, and no line comes twice.

    Without MATCH it lists open and running matches; `rollbook matches` finds any other. Exit code 1 if the service
    refuses, 3 if no service answers or it has no such match.

    Example: `rollbook tail MATCH | tee match.jsonl`

    Parameters
    ----------
    match
        The id of a match.
    follow
        Follow the match to its end, or print the events so far and end. Default: follow.
    """

    def work(table: SyncTable) -> Exit:
        return list_matches(table) if match is None else Tail(table.match(match), follow=follow).run()

    return at_the_service("tail", at, work)


def list_matches(table: SyncTable) -> Exit:
    """Print open and running matches, one line each; each state has the latest opened match first."""
    summaries = [summary for state in _LISTED for summary in table.matches(state=state)]
    for summary in summaries:
        _print(match_line(summary))
    if not summaries:
        raise Failed(Exit.UNREADABLE, "no match is open or running; `rollbook serve --demo` always has some")
    return Exit.GOOD


class Tail:
    """One match: the events read, and those that have been printed."""

    def __init__(self, match: SyncMatch, *, follow: bool) -> None:
        self._match = match
        self._follow = follow
        self._opened: Opened | None = None
        self._waiting: list[Logged] = []
        """Events that have been read but not printed."""
        self._line: LineWriter | None = None
        """Writes lines; None until the header is printed."""
        self._started = False
        self._was_over = False
        """Whether the match was already over: then its hidden parts are revealed, and all is printed at the end."""
        self._said_waiting = False

    def run(self) -> Exit:
        """Print until the match is over; without `follow`, only the events so far."""
        self._was_over = self._match.state().summary.state in OVER
        with closing(self._match.watch(views=False)) as frames:
            for frame in frames:
                match frame:
                    case Events():
                        self._waiting += map(self._log_event, frame.events)
                    case Revealed() if self._was_over:
                        self._reveal(frame.outcomes)
                    case Away():
                        say("tail", f"the connection is lost ({frame.why}); it is made again when the service is back")
                self._print(at_the_end=isinstance(frame, Ended))
                if isinstance(frame, CaughtUp):
                    self._say_waiting()
                    if not self._follow and not self._was_over:
                        break
        if self._line is None:
            raise Failed(Exit.UNREADABLE, "the match has not started, so there is nothing to print yet")
        return Exit.GOOD

    def _log_event(self, event: Event) -> Logged:
        logged = self._read(event.data, event.hidden)
        if isinstance(logged.event, Opened):
            self._opened = logged.event
        self._started = self._started or isinstance(logged.event, Started | Sealed)
        return logged

    def _read(self, data: bytes, hidden: HiddenOutcome | None) -> Logged:
        private = b"" if hidden is None else Private(hidden=hidden).SerializeToString()
        game = None if self._opened is None else find(self._opened.game, self._opened.ruleset)
        try:
            return read_bytes(data, private, game, self._match.id)
        except Unreadable as wrong:
            raise Failed(Exit.UNREADABLE, f"this version of rollbook cannot read the match: {wrong}") from None

    def _reveal(self, hidden: Mapping[int, HiddenOutcome]) -> None:
        self._waiting = [
            self._read(logged.data, hidden[logged.sequence]) if logged.sequence in hidden else logged
            for logged in self._waiting
        ]

    def _print(self, *, at_the_end: bool) -> None:
        """Print the events that can be printed now: none before the match has started."""
        if self._opened is None or not self._started or (self._was_over and not at_the_end):
            return
        if self._line is None:
            header = self._header(self._opened)
            self._line = LineWriter(header.game)
            _print(dumps(write_header(header)))
        for logged in self._waiting:
            if not isinstance(logged.event, Opened):
                _print(self._line(logged.sequence, logged.event))
        self._waiting.clear()

    def _header(self, opened: Opened) -> Header:
        """The header with the current names, which are not in the log because they can be erased."""
        names = tuple(seat.name for seat in self._match.state().summary.seats)
        entropy = [b""] * len(opened.names)
        for logged in self._waiting:
            if isinstance(logged.event, Ready):
                entropy[logged.event.seat] = logged.event.entropy
        return Header(replace(opened, names=names), tuple(entropy))

    def _say_waiting(self) -> None:
        if self._follow and not self._started and not self._said_waiting:
            self._said_waiting = True
            say("tail", "the match has not started: its first line needs the entropy of all seats; waiting")


def _print(line: str) -> None:
    """Print a line in UTF-8, as the plain form requires, and flush it for readers of a pipe."""
    sys.stdout.buffer.write(line.encode() + b"\n")
    sys.stdout.buffer.flush()
