"""Opening a match: what a client asks for becomes event 1, or a refusal that says what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rollbook.identity.tokens import Role, Subject
from rollbook.match.codec.stubs import game_in
from rollbook.match.codec.views import read_options
from rollbook.match.commands import OpenMatch
from rollbook.match.dice import commitment
from rollbook.match.events import Opened, Terms
from rollbook.rules.catalogue import AnyGame, current, find
from rollbook.rules.refusals import Invalid, Reason
from rollbook.server.access import Players, check_request_id, require
from rollbook.server.lobby import StoredLobby
from rollbook.server.play.matches import Answer, Matches
from rollbook.server.refusals import Refusal
from rollbook.server.settings import Limits
from rollbook.storage.port import Log
from rollbook.v1 import match_pb2 as proto

TWO_WEEKS: Final = 1_209_600
READY_SECONDS: Final = 300
"""The time to get ready if nothing is said."""

TURN_SECONDS: Final = range(5, TWO_WEEKS + 1)
RESERVE_SECONDS: Final = range(TWO_WEEKS + 1)
READY_SECONDS_ALLOWED: Final = range(10, TWO_WEEKS + 1)
OPEN_SECONDS: Final = 3_600
"""How long seats may stay free without an event if nothing is said."""
IDLE_SECONDS: Final = TWO_WEEKS
"""How long a match without a turn clock may go without an event if nothing is said."""
OPEN_SECONDS_ALLOWED: Final = range(60, TWO_WEEKS + 1)
IDLE_SECONDS_ALLOWED: Final = range(3_600, 31_536_001)
DELAY_SECONDS: Final = range(3_601)


class Opener:
    """Opens matches for callers."""

    def __init__(  # noqa: PLR0913 - what a new match needs
        self,
        matches: Matches,
        log: Log,
        lobby: StoredLobby,
        players: Players,
        limits: Limits,
        *,
        clock_ms: Callable[[], int],
        draw_secret: Callable[[], bytes],
    ) -> None:
        """Open matches in this log."""
        self._matches = matches
        self._log = log
        self._lobby = lobby
        self._players = players
        self._limits = limits
        self._clock_ms = clock_ms
        self._draw_secret = draw_secret

    async def open(self, caller: Subject, request: proto.OpenMatchRequest) -> Answer:
        """Open a match, once, however often it is asked for."""
        require(caller, Role.PLAYER)
        check_request_id(request.request_id)
        game = _game(request)
        terms = _terms(request)
        options = read_options(game, request.options, request.seats)
        match_id = self._players.opens(caller, request.request_id)
        if not await self._log.head(match_id):
            await self._check_limits(caller)
        origin = self._players.origin(caller, match_id, request.request_id, self._clock_ms())
        secret = self._draw_secret()
        names = ("",) * request.seats
        opened = Opened(match_id, game.name, game.version, options, names, commitment(secret), terms)
        return await self._matches.open(OpenMatch(origin, opened, secret))

    async def _check_limits(self, caller: Subject) -> None:
        listed = await self._lobby.listed()
        limits = self._limits
        if len(listed) >= limits.matches:
            raise Refusal("TOO_MANY_MATCHES", "too many matches are open or running", {"limit": limits.matches})
        mine = sum(match.opener == self._players.reference(caller, match.summary.match_id) for match in listed)
        if mine >= limits.matches_per_subject:
            limit = {"limit": limits.matches_per_subject}
            raise Refusal("TOO_MANY_MATCHES", "this subject has opened too many matches that are not over", limit)


def _game(request: proto.OpenMatchRequest) -> AnyGame:
    game = game_in(request.options)
    if game is None:
        why = "the options of no game that is known here are set"
        raise Invalid(Reason.GAME_UNKNOWN, why, allowed=tuple(current()))
    return find(game.name, request.ruleset) if request.HasField("ruleset") else game


def _terms(request: proto.OpenMatchRequest) -> Terms:
    turn, reserve = request.turn_seconds, request.reserve_seconds
    ready = request.ready_seconds if request.HasField("ready_seconds") else READY_SECONDS
    delay = request.spectator_delay_seconds
    if turn and turn not in TURN_SECONDS:
        raise _out_of_range("CLOCK_OUT_OF_RANGE", "turn_seconds", TURN_SECONDS, or_none=True)
    if reserve not in RESERVE_SECONDS:
        raise _out_of_range("CLOCK_OUT_OF_RANGE", "reserve_seconds", RESERVE_SECONDS)
    if reserve and not turn:
        raise Refusal("CLOCK_OUT_OF_RANGE", "a reserve needs a clock", {"field": "reserve_seconds", "allowed": "0"})
    if ready and ready not in READY_SECONDS_ALLOWED:
        raise _out_of_range("READY_TIME_OUT_OF_RANGE", "ready_seconds", READY_SECONDS_ALLOWED, or_none=True)
    if delay not in DELAY_SECONDS:
        raise _out_of_range("DELAY_OUT_OF_RANGE", "spectator_delay_seconds", DELAY_SECONDS)
    open_seconds = request.open_seconds if request.HasField("open_seconds") else OPEN_SECONDS
    idle_seconds = request.idle_seconds if request.HasField("idle_seconds") else IDLE_SECONDS
    if open_seconds not in OPEN_SECONDS_ALLOWED:
        raise _out_of_range("EXPIRY_OUT_OF_RANGE", "open_seconds", OPEN_SECONDS_ALLOWED)
    if idle_seconds not in IDLE_SECONDS_ALLOWED:
        raise _out_of_range("EXPIRY_OUT_OF_RANGE", "idle_seconds", IDLE_SECONDS_ALLOWED)
    return Terms(turn, reserve, ready, delay, request.is_private, open_seconds, idle_seconds)


def _out_of_range(reason: str, name: str, allowed: range, *, or_none: bool = False) -> Refusal:
    words = f"{'0 or ' if or_none else ''}{allowed[0]} to {allowed[-1]}"
    return Refusal(reason, f"{name} can be {words}", {"field": name, "allowed": words})
