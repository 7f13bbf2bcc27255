"""Commands of callers: from a request to the events it made.

What is checked comes in the order of the contract: match, request id, seat, turn, position, legality. A request that
was carried out before is found first and gets its answer again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from rollbook.identity.tokens import Subject
from rollbook.match import decide
from rollbook.match.chain import Position, genesis, link
from rollbook.match.codec.envelope import LINK_BYTES, Logged, read_bytes
from rollbook.match.codec.messages import read_choice
from rollbook.match.decide import Command, Decision, Declined, Why
from rollbook.match.events import BY_OPERATOR, Chosen, Ready, Resigned, Sealed, SeatLeft, SeatTaken
from rollbook.match.ledger import Ledger
from rollbook.rules.refusals import Invalid
from rollbook.server.out.answers import made_message
from rollbook.server.play.matches import Answer, MatchUnknown, RequestReused, asked_for
from rollbook.server.rpc.errors import Refusal
from rollbook.server.service import Service, Sight
from rollbook.v1 import match_pb2 as proto
from rollbook.v1.games_pb2 import Choice

DECIDED_AGAIN: Final = 3
"""How often a command that means the same in a later state is decided when somebody else is faster."""

Decide = Callable[[Ledger], Decision]
Asked = Callable[[Logged], bool]
Tell = Callable[[Service, Subject, bytes, Answer, Ledger | None], Awaitable[proto.EventsMade]]


async def take_seat(
    service: Service, sight: Sight, request: proto.TakeSeatRequest, name: str
) -> tuple[proto.EventsMade, SeatTaken, bool]:
    """Sit down: what was made, where the caller sits, and whether that closed the seats."""
    command = service.command(sight.caller, sight.player, request.request_id)
    seat = request.seat if request.HasField("seat") else None
    misplaced = await _misplaced(service, sight, request)
    names, player = sight.beside.names, command.player

    def decided(ledger: Ledger) -> Decision:
        if seat is not None and seat < 0:
            raise Declined(Why.SEAT_UNKNOWN, "seats are numbered from 0")
        decision = decide.take_seat(
            ledger, command, seat=seat, commitment=request.entropy_commitment, house=sight.caller.is_house
        )
        _raise(misplaced)
        return decision

    def asked(logged: Logged) -> bool:
        event = logged.event
        same = isinstance(event, SeatTaken) and event.entropy_commitment == request.entropy_commitment
        return same and seat in {None, getattr(event, "seat", None)}

    known = names.get(player)
    if player not in sight.ledger.players:
        names[player] = name
    try:
        answer, made = await _carried_out(service, sight, command, decided, asked)
    except Exception:
        if known is None and player not in (await service.matches.ledger(request.match_id)).players:
            names.pop(player, None)
        raise
    if known and request.name and known != name and command.request in sight.ledger.requests:
        raise RequestReused
    taken = answer.made[0]
    if not isinstance(taken.event, SeatTaken):
        raise RequestReused
    closing = answer.ledger.closing
    return made, taken.event, closing is not None and closing.sequence == taken.sequence


async def leave_seat(service: Service, sight: Sight, request: proto.LeaveSeatRequest) -> proto.EventsMade:
    """Get up again."""
    command = service.command(sight.caller, sight.player, request.request_id)
    misplaced = await _misplaced(service, sight, request)

    def decided(ledger: Ledger) -> Decision:
        check_seat(ledger, command, request)
        decision = decide.leave_seat(ledger, command)
        _raise(misplaced)
        return decision

    asked = _of_seat(request, SeatLeft)
    _, made = await _carried_out(service, sight, command, decided, asked)
    return made


async def ready(service: Service, sight: Sight, request: proto.ReadyRequest) -> proto.EventsMade:
    """Get ready."""
    command = service.command(sight.caller, sight.player, request.request_id)
    misplaced = await _misplaced(service, sight, request)

    def decided(ledger: Ledger) -> Decision:
        check_seat(ledger, command, request)
        decision = decide.ready(ledger, command, closing_link=request.closing_link, entropy=request.entropy)
        _raise(misplaced)
        return decision

    of_seat = _of_seat(request, Ready)

    def asked(logged: Logged) -> bool:
        event = logged.event
        said = isinstance(event, Ready) and (event.entropy, event.closing_link)
        return of_seat(logged) and said == (request.entropy, request.closing_link)

    _, made = await _carried_out(service, sight, command, decided, asked)
    return made


async def resign(service: Service, sight: Sight, request: proto.ResignRequest) -> proto.EventsMade:
    """Give up."""
    command = service.command(sight.caller, sight.player, request.request_id)
    misplaced = await _misplaced(service, sight, request)

    def decided(ledger: Ledger) -> Decision:
        check_seat(ledger, command, request)
        decision = decide.resign(ledger, command)
        _raise(misplaced)
        return decision

    asked = _of_seat(request, Resigned)
    _, made = await _carried_out(service, sight, command, decided, asked)
    return made


async def abort(service: Service, sight: Sight, request: proto.AbortMatchRequest) -> proto.EventsMade:
    """End the match without a result."""
    command = service.command(sight.caller, sight.player, request.request_id)
    if (answer := await _aborted_before(service, sight.ledger, command)) is not None:
        return await made_message(service, sight.caller, sight.player, answer)
    misplaced = await _misplaced(service, sight, request)

    def decided(ledger: Ledger) -> Decision:
        decision = decide.abort(ledger, command, BY_OPERATOR)
        _raise(misplaced)
        return decision

    _, made = await _carried_out(service, sight, command, decided, lambda _: False)
    return made


async def _aborted_before(service: Service, ledger: Ledger, command: Command) -> Answer | None:
    """The answer to the request that aborted the match; the fold remembers no request for a seal."""
    if ledger.match.sealed is None:
        return None
    head = ledger.head.sequence
    entries = await service.log.read(ledger.opened.match_id, head - 1, 1)
    if not entries:
        return None
    last = read_bytes(entries[0].event, entries[0].private, ledger.game)
    is_same = isinstance(last.event, Sealed) and last.request == command.request
    return Answer((last,), ledger) if is_same else None


async def choose(
    service: Service,
    sight: Sight,
    request: proto.ChooseRequest | proto.PlayRequest,
    position: Position | Refusal,
    tell: Tell = made_message,
) -> tuple[proto.EventsMade, Position]:
    """Choose for the own seat in answer to a position, or to none that can be read: what was made, and where it led."""
    command = service.command(sight.caller, sight.player, request.request_id)
    choice = _choice(sight.ledger, request.choice)

    def decided(ledger: Ledger) -> Decision:
        check_seat(ledger, command, request)
        seat = decide.check_turn(ledger, command)
        if isinstance(position, Refusal):
            raise position
        decide.check_position(ledger, position)
        if isinstance(choice, Invalid):
            raise choice
        return decide.chosen(ledger, command, seat, choice)

    of_seat = _of_seat(request, Chosen)

    def asked(logged: Logged) -> bool:
        seat: Any = getattr(logged.event, "seat", None)
        return of_seat(logged) and isinstance(position, Position) and asked_for(Chosen(seat, choice), position)(logged)

    try:
        answer, made = await _carried_out(service, sight, command, decided, asked, tell, decided_again=False)
    except Declined as declined:
        if declined.reason is Why.POSITION_BEHIND and isinstance(position, Position) and position.link:
            ledger = await service.matches.ledger(sight.ledger.opened.match_id)
            _raise(await _misplacement(service, ledger, position))
        raise
    return made, answer.leads_to


def _choice(ledger: Ledger, sent: Choice) -> Any:
    """The choice, or why it is none: that is told only to a seat whose turn it is."""
    try:
        return read_choice(ledger.game, sent)
    except Invalid as invalid:
        return invalid


def position_of(request: proto.ChooseRequest | proto.PlayRequest) -> Position | Refusal:
    """The position that a choice answers, or why there is none."""
    if not request.HasField("position"):
        return Refusal("POSITION_MISSING", "a choice names the position that it answers")
    if len(request.position.link) != LINK_BYTES:
        return _malformed()
    return Position(request.position.sequence, request.position.link)


# Checks


def check_seat(ledger: Ledger, command: Command, request: Any) -> None:
    """Refuse a seat that the caller does not hold, if the request names one."""
    seat = ledger.seat_of(command.player)
    named = request.seat if request.HasField("seat") else seat
    if named is not None and named not in range(len(ledger.players)):
        raise Declined(Why.SEAT_UNKNOWN, f"the seats are 0 to {len(ledger.players) - 1}")
    if seat is None:
        raise Declined(Why.NOT_SEATED, "the caller has no seat in this match")
    if named != seat:
        raise Refusal("NOT_YOUR_SEAT", f"the caller has seat {seat}", {"seat": seat})


def _of_seat(request: Any, kind: type) -> Asked:
    seat = request.seat if request.HasField("seat") else None
    return lambda logged: isinstance(logged.event, kind) and seat in {None, getattr(logged.event, "seat", None)}


def _malformed() -> Refusal:
    return Refusal("POSITION_MALFORMED", f"a position has a link of {LINK_BYTES} bytes")


def _raise(error: Exception | None) -> None:
    if error is not None:
        raise error


async def _misplaced(service: Service, sight: Sight, request: Any) -> Exception | None:
    """What is wrong with the position that the caller has seen; it is told after everything about seat and turn."""
    if not request.HasField("position"):
        return None
    if len(request.position.link) != LINK_BYTES:
        return _malformed()
    try:
        seen = (await service.delayed(sight)).ledger
    except MatchUnknown:
        return _ahead(0, request.position.sequence)
    return await _misplacement(service, seen, Position(request.position.sequence, request.position.link))


async def _misplacement(service: Service, ledger: Ledger, position: Position) -> Declined | None:
    head, match_id = ledger.head.sequence, ledger.opened.match_id
    if position.sequence > head:
        return _ahead(head, position.sequence)
    if position.sequence == 0:
        found = genesis(match_id)
    else:
        entries = await service.log.read(match_id, position.sequence - 1, 1)
        found = link(entries[0].event) if entries else position.link
    if found == position.link:
        return None
    why = f"event {position.sequence} has another link"
    return Declined(Why.POSITION_OTHER_LINK, why, head=head)


def _ahead(head: int, sequence: int) -> Declined:
    return Declined(Why.POSITION_AHEAD, f"the log ends at event {head}, before event {sequence}", head=head)


# Carrying out


async def _carried_out(  # noqa: PLR0913, PLR0917 - what makes a retry safe
    service: Service,
    sight: Sight,
    command: Command,
    decided: Decide,
    asked: Asked,
    tell: Tell = made_message,
    *,
    decided_again: bool = True,
) -> tuple[Answer, proto.EventsMade]:
    match_id = sight.ledger.opened.match_id
    before: Ledger | None = None

    def remembering(ledger: Ledger) -> Decision:
        nonlocal before
        before = ledger
        return decided(ledger)

    for _ in range(DECIDED_AGAIN):
        try:
            answer = await service.matches.command(match_id, command, remembering, asked)
        except Declined as declined:
            if not decided_again or declined.reason is not Why.POSITION_BEHIND:
                raise
            # Whoever was faster has perhaps brought a name, which the next append must not lose.
            await service.lobby.beside(await service.matches.ledger(match_id))
        else:
            return answer, await tell(service, sight.caller, sight.player, answer, before)
    raise Refusal("CONTENDED", "others were faster, again and again: the same request may be repeated")
