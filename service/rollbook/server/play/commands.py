"""Carries out callers' commands: from a request to the events it made.

A request becomes a command value that is decided on the match. Checks run in the order of the contract: match, request
id, seat, turn, position, legality. A repeated request receives its first answer again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, TypeAlias

from rollbook.identity.names import is_name_at_table
from rollbook.identity.tokens import Role, Subject
from rollbook.match.chain import Position, entropy_commitment
from rollbook.match.codec.envelope import LINK_BYTES
from rollbook.match.codec.messages import read_choice
from rollbook.match.commands import (
    Abort,
    Choose,
    Command,
    Declined,
    FreeSeat,
    GetReady,
    LeaveSeat,
    Origin,
    Resign,
    TakeSeat,
    Why,
)
from rollbook.match.events import SeatTaken
from rollbook.match.ledger import Ledger
from rollbook.rules.refusals import Invalid
from rollbook.server.access.house_bots import HouseBot
from rollbook.server.access.players import Players
from rollbook.server.failures import RequestReused
from rollbook.server.lobby.beside import NOTHING, Beside
from rollbook.server.lobby.match_access import Sight, Sights, check_request_id, require
from rollbook.server.lobby.rematches import Kept
from rollbook.server.play.matches import Answer, Matches
from rollbook.server.refusals import Refusal
from rollbook.server.replica.replicas import Replicas
from rollbook.v1 import match_pb2 as proto
from rollbook.v1.games_pb2 import Choice

DECIDED_AGAIN: Final = 3
"""How often a command other than a choice is decided again when another append came first."""

Seated: TypeAlias = proto.LeaveSeatRequest | proto.ReadyRequest | proto.ResignRequest
Choosing: TypeAlias = proto.ChooseRequest | proto.PlayRequest
OfOpener: TypeAlias = proto.AbortMatchRequest | proto.AddBotRequest | proto.FreeSeatRequest
Placed: TypeAlias = Seated | Choosing | OfOpener | proto.TakeSeatRequest


class Commands:
    """Carries out callers' requests on matches that they may see."""

    def __init__(
        self,
        matches: Matches,
        replicas: Replicas,
        sights: Sights,
        players: Players,
        clock_ms: Callable[[], int],
    ) -> None:
        self._matches = matches
        self._replicas = replicas
        self._sights = sights
        self._players = players
        self._clock_ms = clock_ms

    async def take_seat(
        self, sight: Sight, request: proto.TakeSeatRequest, name: str, kept: Kept, bots_at_ms: int | None = None
    ) -> Answer:
        """Seat the caller, unless the free seats are kept for others."""
        origin = self._origin(sight, request.request_id)
        seat = request.seat if request.HasField("seat") else None
        house, misplaced = sight.caller.is_house, await self._check_position(sight, request)
        command = TakeSeat(origin, seat, request.entropy_commitment, house, kept.seats, kept.ms, misplaced)
        metadata, holder = sight.metadata, self._players.pseudonym(sight.caller.key)
        before = self._players.reference(sight.caller, metadata.rematch_of) if metadata.asked else b""
        beside = Beside(name, holder, before if before in metadata.asked else b"", bots_at_ms=bots_at_ms)
        answer = await self._carried_out(sight, command, beside)
        known = sight.metadata.names.get(sight.player)
        repeats = sight.ledger.made_by(origin.request) is not None
        if known and request.name and not is_name_at_table(known, name) and repeats:
            raise RequestReused
        return answer

    async def seat_bot(self, sight: Sight, request: proto.AddBotRequest, bot: HouseBot, kept: Kept) -> Answer:
        """Seat a bot of the house at the request of the caller, unless the free seats are kept for others."""
        check_request_id(request.request_id)
        match_id, players = sight.match_id, self._players
        asked = players.origin(sight.caller, match_id, request.request_id, self._clock_ms())
        origin = replace(asked, player=players.reference(bot.subject, match_id))
        seat = request.seat if request.HasField("seat") else None
        commitment = entropy_commitment(players.brought_by(bot, match_id))
        misplaced = await self._check_position(sight, request)
        command = TakeSeat(origin, seat, commitment, True, kept.seats, kept.ms, misplaced)  # noqa: FBT003 - house
        return await self._carried_out(sight, command, Beside(bot.name, players.pseudonym(bot.subject.key)))

    async def fill_seat(self, ledger: Ledger, bot: HouseBot) -> Answer:
        """Seat a bot of the house at a table of PlayNow, at the service's own wish."""
        match_id, players = ledger.opened.match_id, self._players
        # Two sweeping processes that fill the same seat send the same request.
        request = f"bot behind event {ledger.head.sequence}"
        origin = players.origin(bot.subject, match_id, request, self._clock_ms())
        command = TakeSeat(origin, None, entropy_commitment(players.brought_by(bot, match_id)), house=True)
        return await self._matches.carry_out(match_id, command, Beside(bot.name, players.pseudonym(bot.subject.key)))

    async def free_seat(self, sight: Sight, request: proto.FreeSeatRequest) -> Answer:
        """Free a seat of a match that the caller has opened."""
        origin = self._origin(sight, request.request_id)
        self.check_opener(sight, origin)
        if not request.HasField("seat"):
            raise Declined(Why.SEAT_UNKNOWN, "the seat to be freed has to be named")
        return await self._carried_out(
            sight, FreeSeat(origin, request.seat, await self._check_position(sight, request))
        )

    def check_opener(self, sight: Sight, origin: Origin) -> None:
        """Raise Refusal unless the caller opened the match, or repeats a request."""
        if not sight.is_opener and sight.ledger.made_by(origin.request) is None:
            raise Refusal("NOT_OPENER", "only the opener of the match may do this")

    async def leave_seat(self, sight: Sight, request: proto.LeaveSeatRequest, bots_at_ms: int | None = None) -> Answer:
        """Leave the caller's seat; at a table of PlayNow this may change when bots join."""
        origin = self._origin(sight, request.request_id)
        command = LeaveSeat(origin, _seat(request), await self._check_position(sight, request))
        return await self._carried_out(sight, command, Beside(bots_at_ms=bots_at_ms))

    async def ready(self, sight: Sight, request: proto.ReadyRequest) -> Answer:
        """Report the caller ready."""
        origin = self._origin(sight, request.request_id)
        misplaced = await self._check_position(sight, request)
        command = GetReady(origin, request.closing_link, request.entropy, _seat(request), misplaced)
        return await self._carried_out(sight, command)

    async def resign(self, sight: Sight, request: proto.ResignRequest) -> Answer:
        """Resign for the caller."""
        origin = self._origin(sight, request.request_id)
        return await self._carried_out(
            sight, Resign(origin, _seat(request), await self._check_position(sight, request))
        )

    async def abort(self, sight: Sight, request: proto.AbortMatchRequest) -> Answer:
        """End the match without a result, for an operator or for the player who opened it."""
        origin, caller = self._origin(sight, request.request_id), sight.caller
        has_opened = caller.role is Role.PLAYER and sight.is_opener
        # The opener is erased when the match is archived, but a repeated request still gets its answer.
        if not has_opened and sight.ledger.made_by(origin.request) is None:
            require(caller, Role.OPERATOR)
        by_opener = caller.role is not Role.OPERATOR
        return await self._carried_out(sight, Abort(origin, await self._check_position(sight, request), by_opener))

    async def end_lost(self, caller: Subject, request: proto.AbortMatchRequest) -> Answer | None:
        """End a match whose log is lost; None if only its lobby entry was left."""
        check_request_id(request.request_id)
        match_id = request.match_id
        origin = self._players.origin(caller, match_id, request.request_id, self._clock_ms())
        return await self._matches.end_lost(match_id, origin)

    async def choose(self, sight: Sight, request: Choosing, position: Position | Declined) -> Answer:
        """Choose for the caller's seat at a position; `position` is Declined if the request has no readable one."""
        origin = self._origin(sight, request.request_id)
        command = Choose(origin, position, _choice(sight.ledger, request.choice), _seat(request))
        try:
            return await self._matches.carry_out(sight.match_id, command)
        except Declined as declined:
            if declined.reason is Why.POSITION_BEHIND and isinstance(position, Position) and position.link:
                with self._replicas.use(sight.match_id) as replica:
                    head = (await replica.caught_up()).head.sequence
                    misplaced = await replica.check_position(position, head)
                if misplaced is not None:
                    raise misplaced from declined
            raise

    def _origin(self, sight: Sight, request_id: str) -> Origin:
        check_request_id(request_id)
        return self._players.origin(sight.caller, sight.match_id, request_id, self._clock_ms())

    async def _check_position(self, sight: Sight, request: Placed) -> Declined | None:
        """What is wrong with the request's position, as far as the caller may see the match; None if nothing is."""
        if not request.HasField("position"):
            return None
        if len(request.position.link) != LINK_BYTES:
            return position_malformed()
        position = Position(request.position.sequence, request.position.link)
        head = (await self._sights.delay(sight)).ledger.head.sequence
        with self._replicas.use(sight.match_id) as replica:
            return await replica.check_position(position, head)

    async def _carried_out(self, sight: Sight, command: Command, beside: Beside = NOTHING) -> Answer:
        """Carry out a command that is valid at any later state; raises Refusal after too many conflicts."""
        for _ in range(DECIDED_AGAIN):
            try:
                return await self._matches.carry_out(sight.match_id, command, beside)
            except Declined as declined:
                if declined.reason is not Why.POSITION_BEHIND:
                    raise
        raise Refusal("CONTENDED", "others were faster, again and again: the same request may be repeated")


def seat_taken(answer: Answer) -> tuple[int, bool]:
    """The seat that was taken, and whether that closed the seats; raises RequestReused for another answer."""
    taken, closing = answer.first, answer.ledger.closing
    if not isinstance(taken.event, SeatTaken):
        raise RequestReused
    return taken.event.seat, closing is not None and closing.sequence == taken.sequence


def position_of(request: Choosing) -> Position | Declined:
    """The position that a choice answers, or Declined with the cause."""
    if not request.HasField("position"):
        return Declined(Why.POSITION_MISSING, "a choice names the position that it answers")
    if len(request.position.link) != LINK_BYTES:
        return position_malformed()
    return Position(request.position.sequence, request.position.link)


def position_malformed() -> Declined:
    """The refusal of a position with a link of the wrong length."""
    return Declined(Why.POSITION_MALFORMED, f"a position has a link of {LINK_BYTES} bytes")


def _seat(request: Seated | Choosing) -> int | None:
    return request.seat if request.HasField("seat") else None


def _choice(ledger: Ledger, sent: Choice) -> Any:
    """The choice, or Invalid with the cause, which only the awaited seat receives."""
    try:
        return read_choice(ledger.game, sent)
    except Invalid as invalid:
        return invalid
