"""The AdminService: bans and the state of the service, for operators only; every act is logged."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from rollbook.identity.tokens import LONGEST_TEXT, OWN_ISSUER, Role, Subject
from rollbook.server.access.bans import Bans, Bar, Barred
from rollbook.server.access.revocations import Revocations
from rollbook.server.addresses import bannable_network, is_single
from rollbook.server.configuration.limit_table import LIMITS
from rollbook.server.configuration.settings import Settings
from rollbook.server.configuration.table import without_credentials
from rollbook.server.health.process_health import Vitals
from rollbook.server.lobby.match_access import Acted, Callers, Context, Sights
from rollbook.server.play.holdings import SubjectHoldings
from rollbook.server.refusals import Refusal
from rollbook.storage.port import StoreUnavailable
from rollbook.storage.redis.master_status import ANSWER_SECONDS, MasterStatus
from rollbook.v1 import admin_pb2 as proto
from rollbook.v1.admin_pb2_grpc import AdminServiceServicer
from rollbook.v1.match_pb2 import MatchState

PAGE: Final = 50
LONGEST_PAGE: Final = 200
MOST_SECONDS: Final = 10 * 365 * 24 * 3_600
LONGEST_NOTE: Final = 200


@dataclass(frozen=True, slots=True)
class Condition:
    """The state of this process, its store and its archive, for GetState."""

    version: str
    process: int
    settings: Settings
    vitals: Vitals
    masters: Callable[[], Awaitable[list[MasterStatus]]]
    counts: Callable[[], Awaitable[Mapping[tuple[MatchState.ValueType, str], int]]]
    """How many matches the store lists, by state and game; "" means all games."""
    last_beat: Callable[[], Awaitable[int | None]]
    """When any process last swept, in Unix milliseconds by the store's clock."""
    accept_loss: Callable[[], Awaitable[Sequence[str] | None]]
    """Accepts that the store has lost data; returns the matches that it ended, None if nothing was lost."""
    lacking: Callable[[], Awaitable[Mapping[str, int]]]
    """The matches of which the store lacks acknowledged events."""


MOST_LACKING: Final = 200
"""Limit for the matches that GetState names."""


class AdminServicer(AdminServiceServicer):
    """Bans and state. `layers.Refusing` turns exceptions of handlers into refusals."""

    def __init__(  # noqa: PLR0913 - a part for each kind of call
        self,
        *,
        callers: Callers,
        sights: Sights,
        bans: Bans,
        revocations: Revocations,
        holdings: SubjectHoldings,
        condition: Condition,
        acted: Acted,
        clock_ms: Callable[[], int],
    ) -> None:
        """Serve operators; `acted` is called with every act of an operator."""
        self._callers = callers
        self._sights = sights
        self._bans = bans
        self._revocations = revocations
        self._holdings = holdings
        self._condition = condition
        self._acted = acted
        self._clock_ms = clock_ms

    async def Ban(  # noqa: N802 - named by the contract
        self, request: proto.BanRequest, context: Context
    ) -> proto.BanResponse:
        """Ban a subject, an address or a seat, and end what a banned subject holds."""
        caller = self._callers.operator(context)
        if not 1 <= request.seconds <= MOST_SECONDS:
            raise _malformed_error("seconds", f"a ban lasts 1 to {MOST_SECONDS} seconds")
        if len(request.why) > LONGEST_NOTE or not (request.why.isprintable() or not request.why):
            raise _malformed_error("why", f"a note has at most {LONGEST_NOTE} printable characters")
        target = await self._target(caller, request.target)
        if self._bans.concern(target, caller):
            raise _malformed_error("target", "that is you")
        now_ms = self._clock_ms()
        bar = Bar(target, now_ms, now_ms + request.seconds * 1_000, _who(caller), request.why)
        await self._bans.put(bar)
        self._acted(
            caller, "banned", ban=target.ban_id, target=_target_name(target), until_ms=bar.until_ms, why=bar.why
        )
        taken = await self._holdings.take_away(caller, bar)
        ban = _message(target.ban_id, bar)
        return proto.BanResponse(ban=ban, withdrawn=taken.withdrawn, resigned=taken.resigned)

    async def LiftBan(  # noqa: N802 - named by the contract
        self, request: proto.LiftBanRequest, context: Context
    ) -> proto.LiftBanResponse:
        """Lift a ban."""
        caller = self._callers.operator(context)
        if not request.ban_id:
            raise _malformed_error("ban_id", "the id of a ban is needed; ListBans has them")
        lifted = await self._bans.lift(request.ban_id)
        self._acted(caller, "lifted a ban", ban=request.ban_id[:LONGEST_TEXT], lifted=lifted)
        return proto.LiftBanResponse(lifted=lifted)

    async def ListBans(  # noqa: N802 - named by the contract
        self, request: proto.ListBansRequest, context: Context
    ) -> proto.ListBansResponse:
        """A page of the bans in force."""
        self._callers.operator(context)
        if request.page_size < 0:
            allowed = f"0 to {LONGEST_PAGE}"
            raise Refusal("PAGE_SIZE_NEGATIVE", f"a page has {allowed} bans", {"allowed": allowed})
        size = min(request.page_size or PAGE, LONGEST_PAGE)
        behind = _place(request.page_token) if request.page_token else None
        listed = [each for each in self._bans.list_bans() if behind is None or (each[1].until_ms, each[0]) > behind]
        response = proto.ListBansResponse(bans=[_message(*each) for each in listed[:size]])
        if len(listed) > size:
            ban_id, last = listed[size - 1]
            response.next_page_token = base64.urlsafe_b64encode(f"{last.until_ms}.{ban_id}".encode()).decode("ascii")
        return response

    async def ListOpened(  # noqa: N802 - named by the contract
        self, request: proto.ListOpenedRequest, context: Context
    ) -> proto.ListOpenedResponse:
        """The matches, not over, that a subject or an address has opened."""
        caller = self._callers.operator(context)
        target = await self._target(caller, request.target)
        if target.player or (target.address and not is_single(target.address)):
            raise _malformed_error("target", "name a subject or a single address")
        opened = await self._holdings.opened_by(target.subject or target.address)
        return proto.ListOpenedResponse(matches=[listed.summary for listed in opened])

    async def RevokeToken(  # noqa: N802 - named by the contract
        self, request: proto.RevokeTokenRequest, context: Context
    ) -> proto.RevokeTokenResponse:
        """Revoke one token."""
        caller = self._callers.operator(context)
        issuer, jti = request.issuer or OWN_ISSUER, request.jti
        if not 0 < len(jti) <= LONGEST_TEXT or not jti.isprintable() or len(issuer) > LONGEST_TEXT:
            raise _malformed_error("jti", f"a token's id has 1 to {LONGEST_TEXT} printable characters")
        is_new = await self._revocations.revoke(issuer, jti, _who(caller))
        self._acted(caller, "revoked a token", token_id=jti, issuer=issuer)
        return proto.RevokeTokenResponse(is_new=is_new)

    async def AcceptLoss(  # noqa: N802 - named by the contract
        self, request: proto.AcceptLossRequest, context: Context
    ) -> proto.AcceptLossResponse:
        """Let all processes go on with a store that has lost its data."""
        del request
        caller = self._callers.operator(context)
        ended = await self._condition.accept_loss()
        self._acted(caller, "accepted a loss", accepted=ended is not None, ended=ended or [])
        return proto.AcceptLossResponse(accepted=ended is not None, ended=ended)

    async def GetState(  # noqa: N802 - named by the contract
        self, request: proto.GetStateRequest, context: Context
    ) -> proto.GetStateResponse:
        """The state of this process, its store and its archive."""
        del request
        self._callers.operator(context)
        condition = self._condition
        settings, vitals = condition.settings, condition.vitals
        response = proto.GetStateResponse(
            version=condition.version,
            process=condition.process,
            worker=settings.worker,
            durability=settings.durability,
            store_is_up=vitals.store_is_up,
            clock_ahead_ms=vitals.clock_ahead_ms,
            sweeps=vitals.sweeps,
            archive=without_credentials(settings.archive_place),
            archive_is_up=vitals.archive_is_up,
            archive_backlog=vitals.archive_backlog,
            lost_tails=vitals.lost_tails,
            bans=len(self._bans.list_bans()),
        )
        masters, _ = await asyncio.gather(condition.masters(), self._ask_store(response))
        for master in masters:
            response.masters.add(
                port=master.port,
                answers=master.answers,
                version=master.version,
                used_bytes=master.used_bytes,
                most_bytes=master.most_bytes,
                replicas=master.replicas,
                file_is_well=master.file_is_well,
            )
        for limit in LIMITS:
            value = limit.toml(getattr(settings.limits, limit.name))
            is_shared = limit.about.scope == "store"
            response.limits.add(key=limit.key, value=value, is_shared=is_shared, about=limit.about.help)
        return response

    async def _ask_store(self, response: proto.GetStateResponse) -> None:
        """Add what the store knows for all processes; without an answer in ANSWER_SECONDS these fields stay empty."""
        with suppress(StoreUnavailable, TimeoutError):
            async with asyncio.timeout(ANSWER_SECONDS):
                response.lacking.extend(sorted(await self._condition.lacking())[:MOST_LACKING])
                response.swept_ms = await self._condition.last_beat() or 0
                for (state, _), count in (await self._condition.counts()).items():
                    response.matches[MatchState.Name(state).removeprefix("MATCH_STATE_").lower()] = count

    async def _target(self, caller: Subject, target: proto.BanTarget) -> Barred:
        """The target of a ban; raises Refusal if the request names none."""
        match target.WhichOneof("target"):
            case "subject":
                issuer, sub = target.subject.issuer or OWN_ISSUER, target.subject.sub
                if not 0 < len(sub) <= LONGEST_TEXT or len(issuer) > LONGEST_TEXT:
                    raise _malformed_error(
                        "subject", f"a subject has 1 to {LONGEST_TEXT} characters, and so has its issuer"
                    )
                # The key depends on issuer and sub only.
                key = Subject(issuer, sub, Role.PLAYER, (), "", 0).key
                return Barred(subject=key, issuer=issuer, sub=sub)
            case "address":
                try:
                    return Barred(address=bannable_network(target.address))
                except ValueError as wrong:
                    raise _malformed_error(
                        "address", f"no address or network that can be banned: {str(wrong)[:LONGEST_NOTE]}"
                    ) from None
            case "seat":
                match_id, seat = target.seat.match_id, target.seat.seat
                players = (await self._sights.now(caller, match_id)).ledger.players
                if not 0 <= seat < len(players) or not players[seat]:
                    raise _malformed_error("seat", "the seat is free")
                return Barred(match_id=match_id, seat=seat, player=players[seat].hex())
        raise _malformed_error("target", "name a subject, an address or a seat")


def _malformed_error(field: str, why: str) -> Refusal:
    return Refusal("BAN_MALFORMED", why, {"field": field})


def _who(caller: Subject) -> str:
    return f"{caller.issuer}:{caller.sub}"


def _target_name(target: Barred) -> str:
    """The target's name, for the log."""
    if target.sub:
        return f"{target.issuer}:{target.sub}"
    return target.address or f"seat {target.seat} of {target.match_id}"


def _message(ban_id: str, bar: Bar) -> proto.Ban:
    target = bar.target
    message = proto.Ban(ban_id=ban_id, since_ms=bar.since_ms, until_ms=bar.until_ms, by=bar.by, why=bar.why)
    if target.sub:
        message.target.subject.issuer, message.target.subject.sub = target.issuer, target.sub
    elif target.address:
        message.target.address = target.address
    else:
        message.target.seat.match_id, message.target.seat.seat = target.match_id, target.seat
    return message


def _place(token: str) -> tuple[int, str]:
    """The end time and the id of the ban after which a page begins; raises Refusal for another token."""
    try:
        until, _, ban_id = base64.urlsafe_b64decode(token.encode()).decode().partition(".")
        return int(until), ban_id
    except ValueError:
        raise Refusal("PAGE_TOKEN_BAD", "the page token is none of this list") from None
