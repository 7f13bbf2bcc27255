"""Opens matches: a request becomes event 1, or a refusal with the allowed values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from rollbook.identity import references
from rollbook.identity.tokens import Role, Subject
from rollbook.match.codec.stubs import game_in
from rollbook.match.codec.views import read_options
from rollbook.match.commands import OpenMatch, Origin
from rollbook.match.dice import commitment
from rollbook.match.events import Opened, Terms
from rollbook.rules.catalogue import AnyGame, current, find
from rollbook.rules.options import Options
from rollbook.rules.refusals import Invalid, Reason
from rollbook.server.access.players import Players
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.lobby.beside import Beside
from rollbook.server.lobby.match_access import Sights, check_request_id, require
from rollbook.server.lobby.rematches import MOST_ABORTED
from rollbook.server.play.matches import Answer, Matches
from rollbook.server.play.quotas import Quotas
from rollbook.server.refusals import Refusal
from rollbook.server.replica.replicas import Replicas
from rollbook.storage.port import EventLog
from rollbook.v1 import match_pb2 as proto

TWO_WEEKS: Final = 1_209_600
READY_SECONDS: Final = 300
"""The default time to get ready."""

TURN_SECONDS: Final = range(5, TWO_WEEKS + 1)
RESERVE_SECONDS: Final = range(TWO_WEEKS + 1)
READY_SECONDS_ALLOWED: Final = range(10, TWO_WEEKS + 1)
OPEN_SECONDS_ALLOWED: Final = range(60, TWO_WEEKS + 1)
IDLE_SECONDS_ALLOWED: Final = range(3_600, 31_536_001)
"""If the operator sets no limit."""

DELAY_SECONDS: Final = range(3_601)


class Opener:
    """Opens matches for callers."""

    def __init__(  # noqa: PLR0913 - the parts that a new match needs
        self,
        matches: Matches,
        log: EventLog,
        players: Players,
        quotas: Quotas,
        limits: Limits,
        *,
        replicas: Replicas,
        sights: Sights,
        clock_ms: Callable[[], int],
        draw_secret: Callable[[], bytes],
    ) -> None:
        self._matches = matches
        self._replicas = replicas
        self._log = log
        self._players = players
        self._quotas = quotas
        self._limits = limits
        self._sights = sights
        self._clock_ms = clock_ms
        self._draw_secret = draw_secret

    async def open(self, caller: Subject, request: proto.OpenMatchRequest) -> Answer:
        """Open a match; repeating the request has no further effect."""
        require(caller, Role.PLAYER)
        check_request_id(request.request_id)
        if request.rematch_of:
            return await self._open_rematch(caller, request.rematch_of)
        game = _game(request)
        terms = _terms(request, self._limits)
        options = read_options(game, request.options, request.seats)
        return await self._open(caller, request.request_id, game, options, request.seats, terms)

    async def open_table(
        self, caller: Subject, request_id: str, game: AnyGame, terms: Terms, bots_at_ms: int
    ) -> Answer:
        """Open a table of PlayNow, with the fewest seats and default options; bots may join at `bots_at_ms`."""
        seats = game.seats[0]
        return await self._open(caller, request_id, game, game.settle({}, seats), seats, terms, bots_at_ms)

    async def _open(  # noqa: PLR0913, PLR0917 - what a match is made of
        self,
        caller: Subject,
        request_id: str,
        game: AnyGame,
        options: Options,
        seats: int,
        terms: Terms,
        bots_at_ms: int | None = None,
    ) -> Answer:
        match_id = self._players.opens(caller, request_id)
        if not await self._log.head(match_id):
            await self._quotas.reserve_match(caller, match_id)
        origin = self._players.origin(caller, match_id, request_id, self._clock_ms())
        secret = self._draw_secret()
        opened = Opened(match_id, game.name, game.version, options, ("",) * seats, commitment(secret), terms)
        return await self._matches.open(OpenMatch(origin, opened, secret), Beside(bots_at_ms=bots_at_ms))

    async def _open_rematch(self, caller: Subject, before: str) -> Answer:
        """Open the rematch, or return it if it is open; of concurrent requests in any process, one opens it."""
        ledger = (await self._sights.now(caller, before)).ledger
        if ledger.seat_of(self._players.reference(caller, before)) is None:
            raise Refusal("NOT_SEATED", "a rematch is for those who sat in the match before")
        sealed = ledger.match.sealed
        if sealed is None or sealed.aborted is not None:
            raise Refusal("NOT_FINISHED", "there is a rematch of a match that has a result")
        match_id = await self._next_of(before)
        if not await self._log.head(match_id):
            await self._quotas.reserve_match(caller, match_id)
        request = references.rematch_request(before)
        origin = Origin(self._clock_ms(), self._players.reference(caller, match_id), request)
        secret = self._draw_secret()
        terms = ledger.opened.terms
        if most := self._limits.idle_seconds:
            terms = replace(terms, idle_seconds=min(terms.idle_seconds or most, most))
        opened = replace(ledger.opened, match_id=match_id, commitment=commitment(secret), terms=terms)
        asked = tuple(b"" if house else player for player, house in zip(ledger.players, ledger.house, strict=True))
        return await self._matches.open(OpenMatch(origin, opened, secret), Beside(rematch_of=before, asked=asked))

    async def _next_of(self, before: str) -> str:
        """The id of the rematch: the first that does not exist yet, or was not aborted."""
        match_id = self._players.rematch(before)
        for _ in range(MOST_ABORTED):
            if not await self._log.head(match_id):
                return match_id
            sealed = (await self._replicas.ledger(match_id)).match.sealed
            if sealed is None or sealed.aborted is None:
                return match_id
            match_id = self._players.rematch(before, match_id)
        why = "the rematch was aborted too often"
        raise Refusal("TOO_MANY_MATCHES", why, {"limit": MOST_ABORTED, "of": "rematches"})


def _game(request: proto.OpenMatchRequest) -> AnyGame:
    game = game_in(request.options)
    if game is None:
        why = "the options of no game that is known here are set"
        raise Invalid(Reason.GAME_UNKNOWN, why, allowed=tuple(current()))
    return find(game.name, request.ruleset) if request.HasField("ruleset") else game


def _terms(request: proto.OpenMatchRequest, limits: Limits) -> Terms:
    turn, reserve = request.turn_seconds, request.reserve_seconds
    ready = request.ready_seconds if request.HasField("ready_seconds") else READY_SECONDS
    delay = request.spectator_delay_seconds
    if turn and turn not in TURN_SECONDS:
        raise _out_of_range("CLOCK_OUT_OF_RANGE", "turn_seconds", TURN_SECONDS, or_none=True)
    if reserve not in RESERVE_SECONDS:
        raise _out_of_range("CLOCK_OUT_OF_RANGE", "reserve_seconds", RESERVE_SECONDS)
    if reserve and not turn:
        raise Refusal("CLOCK_OUT_OF_RANGE", "a reserve needs a clock", {"field": "reserve_seconds", "allowed": "0"})
    if ready not in READY_SECONDS_ALLOWED:
        raise _out_of_range("READY_TIME_OUT_OF_RANGE", "ready_seconds", READY_SECONDS_ALLOWED)
    if delay not in DELAY_SECONDS:
        raise _out_of_range("DELAY_OUT_OF_RANGE", "spectator_delay_seconds", DELAY_SECONDS)
    open_seconds, idle_seconds = request.open_seconds, request.idle_seconds
    if request.HasField("open_seconds") and open_seconds not in OPEN_SECONDS_ALLOWED:
        raise _out_of_range("EXPIRY_OUT_OF_RANGE", "open_seconds", OPEN_SECONDS_ALLOWED)
    least, most = IDLE_SECONDS_ALLOWED[0], limits.idle_seconds or IDLE_SECONDS_ALLOWED[-1]
    allowed = range(min(least, most), most + 1)
    if request.HasField("idle_seconds") and idle_seconds not in allowed:
        raise _out_of_range("EXPIRY_OUT_OF_RANGE", "idle_seconds", allowed)
    # The operator's defaults are not limited to these ranges, and 0 means no limit.
    open_seconds = open_seconds or limits.open_seconds
    idle_seconds = idle_seconds or limits.idle_seconds
    return Terms(turn, reserve, ready, delay, request.is_private, open_seconds, idle_seconds)


def _out_of_range(reason: str, name: str, allowed: range, *, or_none: bool = False) -> Refusal:
    words = f"{'0 or ' if or_none else ''}{allowed[0]} to {allowed[-1]}"
    return Refusal(reason, f"{name} can be {words}", {"field": name, "allowed": words})
