"""The caller of a call, the caller's perspective on a match, and what the caller may see of it.

The caller is identified by a token; ListGames, SignIn and GetKeys need none and ignore it. A `Sight` is a match as one
caller sees it; a caller who may not see the match gets MatchUnknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Protocol

import grpc

from rollbook.identity import references
from rollbook.identity.refusals import TokenRefused
from rollbook.identity.tokens import Role, Subject, Verifier
from rollbook.match.ledger import Ledger
from rollbook.rules.game import Perspective, Watcher
from rollbook.server.access.bans import Bans
from rollbook.server.access.limits import EVENTS_A_POINT, Budgets, Strangers, turn
from rollbook.server.access.players import Players
from rollbook.server.failures import BROKEN, LOST, MatchUnknown, RulesetUnknown
from rollbook.server.lobby.listed_match import MatchMetadata
from rollbook.server.lobby.lobby import StoredLobby
from rollbook.server.lobby.pools import people_at
from rollbook.server.lobby.rematches import Rematches
from rollbook.server.log_output import note_operator
from rollbook.server.out.projection import perspective_of
from rollbook.server.out.summary import state_of, summary_message
from rollbook.server.refusals import Refusal
from rollbook.server.replica.replicas import Replicas
from rollbook.storage.archive.port import ArchiveUnavailable
from rollbook.v1.match_pb2 import MATCH_STATE_OPEN, MATCH_STATE_RUNNING, MatchSummary

Context = grpc.aio.ServicerContext[Any, Any]
"""gRPC's context of a call."""


class Acted(Protocol):
    """Called with an operator's act."""

    def __call__(self, operator: Subject, what: str, **facts: Any) -> None:
        """Record it."""


_SCHEME: Final = "bearer"
_REQUEST_ID: Final = re.compile(r"[!-~]{8,64}")


def caller_of(context: Context, verifier: Verifier) -> Subject:
    """The subject of the call's token; raises Refusal or TokenRefused if there is none, or an invalid one."""
    metadata = context.invocation_metadata() or ()
    sent = [value for key, value in metadata if key == "authorization"]
    if len(sent) == 1:
        value = sent[0] if isinstance(sent[0], str) else sent[0].decode("ascii", "replace")
        scheme, _, token = value.partition(" ")
        if scheme.lower() == _SCHEME and token:
            return verifier.verify(token)
    raise Refusal("TOKEN_MISSING", "the call needs one token, in the metadata as `authorization: Bearer …`")


def require(caller: Subject, role: Role) -> None:
    """Refuse a caller whose token does not give this role."""
    if caller.role is not role:
        raise Refusal("ROLE_MISSING", f"this needs the token of one in the role of {role}", {"role": role.value})


def is_gateway(verifier: Verifier, token: str) -> bool:
    """Whether this is a valid token with the role gateway."""
    try:
        return verifier.verify(token).role is Role.GATEWAY
    except TokenRefused:
        return False


def judges(caller: Subject, match_id: str) -> bool:
    """Whether the caller is a judge of this match."""
    return caller.role is Role.JUDGE and match_id in caller.matches


def check_request_id(request_id: str) -> None:
    """Raise Refusal for a malformed request id."""
    if not _REQUEST_ID.fullmatch(request_id):
        raise Refusal("REQUEST_ID_MALFORMED", "a request id has 8 to 64 visible ASCII characters")


class Callers:
    """Identifies callers, and charges points for their calls."""

    def __init__(self, verifier: Verifier, budgets: Budgets, strangers: Strangers, bans: Bans) -> None:
        """Callers with a valid token have these budgets, all others the limits of strangers."""
        self._verifier = verifier
        self._budgets = budgets
        self._strangers = strangers
        self._bans = bans

    def of(self, context: Context, points: float = 1) -> Subject:
        """Identify the caller and charge at least `points`; call it once for each call."""
        try:
            caller = caller_of(context, self._verifier)
        except (TokenRefused, Refusal):
            self._strangers.count(context)
            raise
        self._budgets.begin(caller, context, points)
        if caller.role is Role.OPERATOR:
            note_operator(caller)
        if self._bans.are_any:
            self._bans.check(caller, partial(self._strangers.addresses.of, context))
        return caller

    def limited_address(self, caller: Subject, context: Context) -> str:
        """The address whose calls are limited; empty for calls from this machine without a forwarded address."""
        return self._budgets.address(caller, context)

    def operator(self, context: Context, points: float = 1) -> Subject:
        """Identify the caller, who must be an operator."""
        caller = self.of(context, points)
        require(caller, Role.OPERATOR)
        return caller

    def anybody(self, context: Context) -> None:
        """Count a call that needs no token."""
        self._strangers.count(context)

    def expiry(self, caller: Subject, context: Context) -> Callable[[], bool]:
        """A function that returns whether the token with which a stream began has expired.

        The function raises if the caller has been banned meanwhile.
        """

        def has_expired() -> bool:
            if self._bans.are_any:
                self._bans.check(caller, partial(self._strangers.addresses.of, context))
            return self._verifier.has_expired(caller)

        return has_expired


def _follows(ledger: Ledger, listed: MatchSummary) -> bool:
    """Whether seats and names are the same as in the lobby entry, which is then current."""
    return state_of(ledger) == listed.state == MATCH_STATE_RUNNING


@dataclass(frozen=True, slots=True)
class Sight:
    """A match as one caller sees it."""

    ledger: Ledger
    """For a delayed viewer the past state; do not modify it."""
    caller: Subject
    perspective: Perspective
    metadata: MatchMetadata
    player: bytes
    """The caller's reference in this match."""

    @property
    def match_id(self) -> str:
        """The id of the match."""
        return self.ledger.opened.match_id

    @property
    def is_opener(self) -> bool:
        """Whether the caller opened the match and, at a table of PlayNow, sits there without other people."""
        if self.metadata.in_pool and set(people_at(self.ledger)) - {self.player}:
            return False
        return self.player == self.metadata.opener

    @property
    def summary(self) -> MatchSummary:
        """The match's summary."""
        metadata = self.metadata
        return summary_message(
            self.ledger,
            metadata.names,
            metadata.opened_ms,
            metadata.rematch_of,
            metadata.strengths,
            metadata.bots_at_ms,
        )

    def perspective_on(self, ledger: Ledger, *, public_only: bool = False) -> Perspective:
        """The caller's perspective on another state of the match."""
        caller = self.caller
        is_judge = caller.role is Role.JUDGE and judges(caller, self.match_id)
        return perspective_of(ledger, self.player, is_judge=is_judge, public_only=public_only)


class Sights:
    """Determines what a caller may see of a match."""

    def __init__(
        self,
        replicas: Replicas,
        lobby: StoredLobby,
        players: Players,
        rematches: Rematches,
        clock_ms: Callable[[], int],
    ) -> None:
        self._replicas = replicas
        self._rematches = rematches
        self._lobby = lobby
        self._players = players
        self._clock_ms = clock_ms

    async def now(self, caller: Subject, match_id: str, invitation_code: str = "", request_id: str = "") -> Sight:
        """The match's current state, without delay, for commands; raises MatchUnknown if it is private and not theirs.

        A caller who repeats a request that was carried out in the match gets its answer again.
        """
        if not references.is_match_id(match_id):
            raise MatchUnknown(match_id)
        try:
            ledger = await self._ledger(match_id)
        except LOST:
            if await self._may_know(caller, match_id, invitation_code):
                raise
            ledger = await self._delisted(match_id)
        sight = await self._of(caller, ledger)
        known = sight.ledger.made_by(references.request_hash(caller.key, request_id))
        if known is None and not self._may_see(sight, invitation_code) and not await self._is_expected(sight):
            raise MatchUnknown(match_id)
        return sight

    async def known_sight(self, caller: Subject, match_id: str) -> Sight:
        """The match as cached by this process, for a choice; a refused choice is decided again from the store.

        A caller who may not see the cached state gets the answer of `now`.
        """
        ledger = self._replicas.known_ledger(match_id)
        if ledger is not None:
            sight = await self._of(caller, ledger)
            if self._may_see(sight, ""):
                return sight
        return await self.now(caller, match_id)

    async def looked_at(self, caller: Subject, match_id: str, invitation_code: str = "") -> Sight:
        """The match as the caller may see it; a delayed viewer sees a past state once the seats are closed."""
        return await self.delay(await self.now(caller, match_id, invitation_code))

    async def delay(self, sight: Sight) -> Sight:
        """The sight with the spectator delay, which applies to public viewers from closed seats to the seal."""
        ledger, closing = sight.ledger, sight.ledger.closing
        delay_ms = ledger.opened.terms.spectator_delay_seconds * 1_000
        if sight.perspective is not Watcher.PUBLIC or not delay_ms:
            return sight
        until_ms = self._clock_ms() - delay_ms
        if closing is None or ledger.time_ms <= until_ms or ledger.match.sealed is not None:
            return sight
        with self._replicas.use(sight.match_id) as replica:
            async with turn(ledger.head.sequence / EVENTS_A_POINT):
                return replace(sight, ledger=await replica.as_of(until_ms, closing.sequence))

    def summary_if_known(self, listed: MatchSummary, length: int) -> MatchSummary | None:
        """The current public summary of a listed match, if this process has its log up to `length`; None otherwise.

        The log is compared by length only, so the summary must not be used for decisions.
        """
        if listed.spectator_delay_seconds or self._replicas.is_doubtful(listed.match_id):
            return None
        if listed.position.sequence == length:
            return listed
        ledger = self._replicas.known_ledger(listed.match_id)
        if ledger is None or ledger.head.sequence != length or not _follows(ledger, listed):
            return None
        seats = [(player, seat) for player, seat in zip(ledger.players, listed.seats, strict=True) if player]
        names = {player: seat.name for player, seat in seats}
        strengths = {player: seat.strength for player, seat in seats}
        return summary_message(ledger, names, listed.opened_ms, strengths=strengths)

    async def summary(self, caller: Subject, listed: MatchSummary) -> MatchSummary | None:
        """The current summary of a listed match for the caller; None if the match is gone.

        An unreadable match is shown as listed, unless a delayed viewer would see its future.
        """
        match_id = listed.match_id
        try:
            sight = await self.now(caller, match_id, self._players.invitation_code(match_id))
            return (await self.delay(sight)).summary
        except MatchUnknown:
            return None
        except (*BROKEN, ArchiveUnavailable) as failure:
            is_late = listed.state != MATCH_STATE_OPEN and listed.spectator_delay_seconds
            if is_late and listed.changed_ms > self._clock_ms() - listed.spectator_delay_seconds * 1_000:
                return None
            shown = MatchSummary(is_lost=not isinstance(failure, RulesetUnknown | ArchiveUnavailable))
            shown.MergeFrom(listed)
            return shown

    async def _ledger(self, match_id: str) -> Ledger:
        """The current state; a match that is not cached is read from event 1, which takes a turn of the caller."""
        if self._replicas.known_ledger(match_id) is not None:
            return await self._replicas.ledger(match_id)
        async with turn():
            return await self._replicas.ledger(match_id)

    async def _delisted(self, match_id: str) -> Ledger:
        """A match whose log this process has just found lost, and which the lobby lists no more.

        Another process may have sealed and archived it meanwhile; then it is read like any other finished match.
        """
        try:
            return await self._ledger(match_id)
        except LOST:
            raise MatchUnknown(match_id) from None

    async def _of(self, caller: Subject, ledger: Ledger) -> Sight:
        match_id = ledger.opened.match_id
        player = self._players.reference(caller, match_id)
        is_judge = caller.role is Role.JUDGE and judges(caller, match_id)
        perspective = perspective_of(ledger, player, is_judge=is_judge)
        return Sight(ledger, caller, perspective, await self._lobby.metadata(ledger), player)

    async def _may_know(self, caller: Subject, match_id: str, invitation_code: str) -> bool:
        """Whether the caller may learn that this match exists although its log cannot be read, judged by the lobby."""
        listed = await self._lobby.entry(match_id)
        if caller.role is Role.OPERATOR or judges(caller, match_id) or (listed and not listed.summary.is_private):
            return True
        knows = listed is not None and self._players.reference(caller, match_id) in {listed.opener, *listed.players}
        return knows or self._players.is_invited(match_id, invitation_code)

    async def _is_expected(self, sight: Sight) -> bool:
        return await self._rematches.expects(sight.caller, sight.metadata)

    def _may_see(self, sight: Sight, invitation_code: str) -> bool:
        if not sight.ledger.opened.terms.is_private or sight.perspective is not Watcher.PUBLIC:
            return True
        if sight.caller.role is Role.OPERATOR or sight.is_opener:
            return True
        return self._players.is_invited(sight.match_id, invitation_code)
