"""Matches of a service as they are played, in the plain form; what `rollbook tail` does once gRPC may be imported."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from types import TracebackType
from typing import Any, Final, Self

import grpc
from google.rpc import error_details_pb2, status_pb2

from rollbook.cli.exits import Exit
from rollbook.match.chain import genesis
from rollbook.match.codec.envelope import Logged, read_bytes
from rollbook.match.codec.moves import Unreadable
from rollbook.match.codec.notation import Header, LineWriter, dumps, write_header
from rollbook.match.events import Opened, Ready, Sealed, Started
from rollbook.rules.catalogue import find
from rollbook.v1.events_pb2 import Private
from rollbook.v1.feed_pb2 import (
    END_REASON_MATCH_OVER,
    END_REASON_TOKEN_EXPIRED,
    MatchFrame,
    WatchMatchRequest,
)
from rollbook.v1.feed_pb2_grpc import FeedServiceStub
from rollbook.v1.games_pb2 import HiddenOutcome
from rollbook.v1.identity_pb2 import GetKeysRequest, SignInRequest
from rollbook.v1.identity_pb2_grpc import IdentityServiceStub
from rollbook.v1.match_pb2 import (
    MATCH_STATE_ABORTED,
    MATCH_STATE_FINISHED,
    MATCH_STATE_GETTING_READY,
    MATCH_STATE_OPEN,
    MATCH_STATE_RUNNING,
    GetMatchRequest,
    ListMatchesRequest,
    MatchState,
    MatchSummary,
)
from rollbook.v1.match_pb2_grpc import MatchServiceStub
from rollbook.v1.replay_pb2 import GetReplayRequest
from rollbook.v1.replay_pb2_grpc import ReplayServiceStub
from rollbook.v1.table_pb2 import Position, ProjectedEvent

ANSWER_SECONDS: Final = 10.0
"""How long a service may take to answer; feeds have no end."""

FILE_SECONDS: Final = 120.0
"""How long a whole file may take."""

SHORTEST_PAUSE_SECONDS: Final = 0.1
LONGEST_PAUSE_SECONDS: Final = 2.0
"""Between attempts to reach a service that has answered before."""

_OPTIONS: Final = [
    # A feed may be silent for long: whether the service is still there is asked now and then.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
]

_GONE: Final = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED}


class Failed(Exception):
    """What ends the command, with its exit code."""

    def __init__(self, code: Exit, why: str) -> None:
        """Keep both."""
        super().__init__(code, why)
        self.code = code
        self.why = why


class Lost(Exception):
    """The service is not there, or not any more."""


class Expired(Exception):
    """The token does not hold any more."""


class Connection:
    """A service, and who one is there: a guest, unless there is a token."""

    def __init__(self, address: str, token: str, authorities: bytes | None) -> None:
        """Call this address, with TLS if there are certificates to trust."""
        self._address = address
        self._token = token
        self._is_guest = not token
        if authorities is None:
            self._channel = grpc.insecure_channel(address, options=_OPTIONS)
        else:
            self._channel = grpc.secure_channel(address, grpc.ssl_channel_credentials(authorities), options=_OPTIONS)
        self._matches = MatchServiceStub(self._channel)
        self._feeds = FeedServiceStub(self._channel)
        self._identity = IdentityServiceStub(self._channel)
        self._replays = ReplayServiceStub(self._channel)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._channel.close()

    def no_service(self, lost: Lost) -> Failed:
        """What to say when there never was a service."""
        return Failed(
            Exit.UNREADABLE,
            f"no service answers at {self._address} ({lost}); `rollbook serve --demo` starts one with matches to look"
            " at, --service HOST:PORT names another, --tls-ca FILE is for one with TLS",
        )

    def sign_in(self) -> None:
        """Become a guest, or stay the one that one was; a token that was given is all there is."""
        if not self._is_guest:
            return
        with self._told():
            request = SignInRequest(old_token=self._token)
            self._token = self._identity.SignIn(request, timeout=ANSWER_SECONDS).token

    def renew(self) -> None:
        """Get a token for one that has expired."""
        if not self._is_guest:
            raise Failed(Exit.WRONG, "the token has expired")
        self.sign_in()

    def summary(self, match_id: str) -> MatchSummary:
        """A match in a few lines."""
        with self._told():
            request = GetMatchRequest(match_id=match_id)
            return self._matches.GetMatch(request, metadata=self._metadata, timeout=ANSWER_SECONDS).summary

    def listed(self) -> Iterator[MatchSummary]:
        """The matches that are open or running, of each state those opened last first."""
        for state in (MATCH_STATE_OPEN, MATCH_STATE_GETTING_READY, MATCH_STATE_RUNNING):
            yield from self._listed(state)

    def _listed(self, state: MatchState.ValueType) -> Iterator[MatchSummary]:
        request = ListMatchesRequest(state=state)
        while True:
            with self._told():
                page = self._matches.ListMatches(request, metadata=self._metadata, timeout=ANSWER_SECONDS)
            yield from page.matches
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def frames(self, match_id: str, position: Position | None) -> Generator[MatchFrame, None, None]:
        """What happens in a match after a position."""
        request = WatchMatchRequest(match_id=match_id, position=position)
        call: Any = self._feeds.WatchMatch(request, metadata=self._metadata)
        try:
            with self._told():
                yield from call
        finally:
            call.cancel()

    def replay(self, match_id: str, *, public_only: bool, without_names: bool) -> bytes:
        """A match as a file."""
        request = GetReplayRequest(match_id=match_id, public_only=public_only, without_names=without_names)
        with self._told():
            call = self._replays.GetReplay(request, metadata=self._metadata, timeout=FILE_SECONDS)
            return b"".join(answer.part for answer in call)

    def published_keys(self) -> list[bytes]:
        """The public keys of heads, then those of replay files, each the oldest first; whoever asks needs no token."""
        try:
            with self._told():
                keys = self._identity.GetKeys(GetKeysRequest(), timeout=ANSWER_SECONDS)
        except Lost as lost:
            raise self.no_service(lost) from None
        return [key.public_key for key in keys.keys] + [key.public_key for key in keys.replay_keys]

    @property
    def _metadata(self) -> tuple[tuple[str, str]]:
        return (("authorization", f"Bearer {self._token}"),)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What gRPC raises, in our words."""
        try:
            yield
        except grpc.RpcError as error:
            # What is raised is the call as well, which its type does not say.
            call: Any = error
            code, why = call.code(), call.details() or ""
            if code in _GONE:
                raise Lost(why) from None
            if code is grpc.StatusCode.NOT_FOUND:
                raise Failed(Exit.UNREADABLE, f"{why}; `rollbook tail` alone lists those that can be seen") from None
            if _reason(call) == "TOKEN_EXPIRED":
                raise Expired from None
            raise Failed(Exit.WRONG, f"the service refuses: {why or code.name}") from None


def _reason(call: Any) -> str:
    """The reason of a refusal, for programs; empty if it has none."""
    for key, value in call.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in status_pb2.Status.FromString(value).details:
                info = error_details_pb2.ErrorInfo()
                if detail.Unpack(info):
                    return str(info.reason)
    return ""


def list_matches(connection: Connection) -> Exit:
    """Print the matches that are open or running, a line each."""
    try:
        connection.sign_in()
        count = 0
        for summary in connection.listed():
            count += 1
            _print(_listed(summary))
    except Lost as lost:
        raise connection.no_service(lost) from None
    except Expired:
        raise Failed(Exit.WRONG, "the token has expired") from None
    if not count:
        raise Failed(Exit.UNREADABLE, "no match is open or running; `rollbook serve --demo` always has some")
    return Exit.GOOD


def _listed(summary: MatchSummary) -> str:
    """One line: id, game, state, who sits there.

    >>> _listed(MatchSummary(match_id="a" * 24, game="cant_stop", state=3, seats=[{"taken": True, "name": "Anna"}, {}]))
    'aaaaaaaaaaaaaaaaaaaaaaaa  cant_stop    running        Anna, (free)'
    """
    state = MatchState.Name(summary.state).removeprefix("MATCH_STATE_").replace("_", " ").lower()
    seats = ", ".join(_printable(seat.name) or "?" if seat.taken else "(free)" for seat in summary.seats)
    return f"{summary.match_id}  {summary.game:<11}  {state:<13}  {seats}"


def _printable(name: str) -> str:
    """A stranger's name, that cannot steer a terminal."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in name)


class Tail:
    """One match: what has been read of it, and what has been printed."""

    def __init__(self, connection: Connection, match_id: str, *, follow: bool) -> None:
        """Print the match of this id, or what there is of it."""
        self._connection = connection
        self._match_id = match_id
        self._follow = follow
        self._opened: Opened | None = None
        self._position: Position | None = None
        self._link = genesis(match_id)
        self._waiting: list[Logged] = []
        """What was read and not printed."""
        self._line: LineWriter | None = None
        """Writes lines once the header is printed."""
        self._started = False
        self._was_over = False
        """Everything is printed at the end, with what it hid."""
        self._said_waiting = False

    def run(self) -> Exit:
        """Print until the match is over, or all there is is printed."""
        try:
            self._connection.sign_in()
            state = self._connection.summary(self._match_id).state
        except Lost as lost:
            raise self._connection.no_service(lost) from None
        except Expired:
            raise Failed(Exit.WRONG, "the token has expired") from None
        self._was_over = state in {MATCH_STATE_FINISHED, MATCH_STATE_ABORTED}
        pause = SHORTEST_PAUSE_SECONDS
        while True:
            before = self._position
            try:
                if self._watch():
                    return self._ended()
            except Expired:
                self._renew()
            except Lost as lost:
                if pause == SHORTEST_PAUSE_SECONDS:
                    _say(f"the connection is lost ({lost}); it is made anew when the service is back")
                time.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            if self._position != before:
                pause = SHORTEST_PAUSE_SECONDS

    def _renew(self) -> None:
        try:
            self._connection.renew()
        except Lost:
            # The next attempt to watch finds the token expired again.
            time.sleep(SHORTEST_PAUSE_SECONDS)

    def _watch(self) -> bool:
        """One connection to its end; whether nothing is left to be printed."""
        with closing(self._connection.frames(self._match_id, self._position)) as frames:
            for frame in frames:
                kind = frame.WhichOneof("frame")
                if kind == "events":
                    for event in frame.events.events:
                        self._take(event)
                elif kind == "revealed" and self._was_over:
                    self._reveal({outcome.sequence: outcome.hidden for outcome in frame.revealed.outcomes})
                elif kind == "ended" and frame.ended.reason == END_REASON_TOKEN_EXPIRED:
                    raise Expired
                over = kind == "ended" and frame.ended.reason == END_REASON_MATCH_OVER
                self._print(at_the_end=over)
                if over:
                    return True
                if kind == "caught_up":
                    self._say_waiting()
                    if not self._follow and not self._was_over:
                        return True
        # A service that drains ends its feeds in good order; the next one takes a moment to start.
        raise Lost("the service stops")

    def _take(self, event: ProjectedEvent) -> None:
        private = Private(hidden=event.hidden).SerializeToString() if event.HasField("hidden") else b""
        logged = self._read(event.event, private)
        expected = self._position.sequence + 1 if self._position is not None else 1
        if (logged.sequence, logged.previous) != (expected, self._link):
            raise Failed(Exit.WRONG, f"event {logged.sequence} does not follow from the one before: the log is broken")
        if isinstance(logged.event, Opened):
            self._opened = logged.event
        self._started = self._started or isinstance(logged.event, Started | Sealed)
        self._link = logged.link
        self._position = Position(sequence=logged.sequence, link=logged.link)
        self._waiting.append(logged)

    def _read(self, data: bytes, private: bytes) -> Logged:
        game = None if self._opened is None else find(self._opened.game, self._opened.ruleset)
        try:
            return read_bytes(data, private, game, self._match_id)
        except Unreadable as wrong:
            raise Failed(Exit.UNREADABLE, f"this version of rollbook cannot read the match: {wrong}") from None

    def _reveal(self, hidden: dict[int, HiddenOutcome]) -> None:
        self._waiting = [
            self._read(logged.data, Private(hidden=hidden[logged.sequence]).SerializeToString())
            if logged.sequence in hidden
            else logged
            for logged in self._waiting
        ]

    def _print(self, *, at_the_end: bool) -> None:
        """Print what can be printed by now."""
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
        """The log holds no names: they lie beside it, and can be erased."""
        names = tuple(seat.name for seat in self._connection.summary(self._match_id).seats)
        entropy = [b""] * len(opened.names)
        for logged in self._waiting:
            if isinstance(logged.event, Ready):
                entropy[logged.event.seat] = logged.event.entropy
        return Header(replace(opened, names=names), tuple(entropy))

    def _say_waiting(self) -> None:
        if self._follow and not self._started and not self._said_waiting:
            self._said_waiting = True
            _say("the match has not started: its first line needs the entropy of all seats; waiting")

    def _ended(self) -> Exit:
        if self._line is None:
            raise Failed(Exit.UNREADABLE, "the match has not started, so there is nothing to print yet")
        return Exit.GOOD


def _print(line: str) -> None:
    """The plain form is UTF-8 on every machine, and whoever reads a pipe gets each line at once."""
    sys.stdout.buffer.write(line.encode() + b"\n")
    sys.stdout.buffer.flush()


def _say(words: str) -> None:
    print(f"rollbook tail: {words}", file=sys.stderr, flush=True)
