"""Answers about a match: what a command made, how things stand, and what goes with a refusal."""

from __future__ import annotations

from typing import Final

import grpc

from rollbook.identity.tokens import Subject
from rollbook.match.chain import Head, Position
from rollbook.match.codec.envelope import Logged, read_bytes
from rollbook.match.events import Happened
from rollbook.match.ledger import Ledger
from rollbook.rules.game import Watcher
from rollbook.server.access import judges
from rollbook.server.out.projection import (
    clocks_message,
    legal_message,
    perspective_message,
    perspective_of,
    projected_event,
    projected_events,
    view_message,
)
from rollbook.server.play.matches import PAGE, Answer, LogLost, MatchUnknown
from rollbook.server.rpc.errors import Refusal, refusal_of
from rollbook.server.service import Service, Sight
from rollbook.v1 import match_pb2 as proto
from rollbook.v1 import table_pb2
from rollbook.v1.table_pb2 import ProjectedEvent

_ABOUT_THE_MATCH: Final = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.PERMISSION_DENIED,
}


async def made_message(
    service: Service, caller: Subject, player: bytes, answer: Answer, before: Ledger | None = None
) -> proto.EventsMade:
    """What a command made, as its caller sees it, who is this player.

    `before` is the match that it was decided for, if that is known.
    """
    return proto.EventsMade(
        first=answer.made[0].sequence,
        last=answer.made[-1].sequence,
        events=await _projected(service, caller, player, answer, before),
        head=service.heads.of(answer.ledger, answer.leads_to),
    )


async def outcomes_message(
    service: Service, caller: Subject, player: bytes, answer: Answer, before: Ledger | None = None
) -> proto.EventsMade:
    """The same for a caller who wants no more than the range and what chance did."""
    projected = await _projected(service, caller, player, answer, before)
    return proto.EventsMade(
        first=answer.made[0].sequence,
        last=answer.made[-1].sequence,
        events=[
            event for event, logged in zip(projected, answer.made, strict=True) if isinstance(logged.event, Happened)
        ],
    )


async def _projected(
    service: Service, caller: Subject, player: bytes, answer: Answer, before: Ledger | None
) -> list[ProjectedEvent]:
    match_id = answer.ledger.opened.match_id
    perspective = perspective_of(answer.ledger, player, is_judge=judges(caller, match_id))
    first = answer.made[0]
    if not any(logged.private for logged in answer.made):
        return [projected_event(None, logged, perspective) for logged in answer.made]
    if before is None or before.head != Position(first.sequence - 1, first.previous):
        # A retry: the match is read again up to what the command found.
        before = await _as_it_was(service, match_id, first)
    return projected_events(before, answer.made, perspective)


async def _as_it_was(service: Service, match_id: str, first: Logged) -> Ledger | None:
    """The match right before this event; none before event 1."""
    before: Ledger | None = None
    while (after := 0 if before is None else before.head.sequence) < first.sequence - 1:
        entries = await service.log.read(match_id, after, min(PAGE, first.sequence - 1 - after))
        if not entries:
            raise LogLost(match_id, first.sequence, after)
        if before is None:
            before = Ledger.fold(match_id, entries)
        else:
            for entry in entries:
                before.take(read_bytes(entry.event, entry.private, before.game))
    return before


async def match_message(service: Service, sight: Sight) -> proto.GetMatchResponse:
    """The match as one caller sees it; all of it is of one position."""
    ledger, perspective = sight.ledger, sight.perspective
    terms = ledger.opened.terms
    delay_ms = 0
    if perspective is Watcher.PUBLIC and ledger.match.sealed is None:
        delay_ms = terms.spectator_delay_seconds * 1_000
    return proto.GetMatchResponse(
        summary=sight.summary,
        perspective=perspective_message(perspective),
        view=view_message(ledger, perspective),
        legal=legal_message(ledger, perspective),
        clocks=clocks_message(ledger, await service.log.now_ms() - delay_ms) if terms.turn_seconds else None,
        head=service.heads.of(ledger),
    )


async def located(  # noqa: PLR0913, PLR0917 - who asked for what
    service: Service,
    caller: Subject,
    match_id: str,
    error: Exception,
    position: table_pb2.Position,
    invitation_code: str = "",
    request_id: str = "",
) -> Exception:
    """The error with where the match stands, as far as its caller may see; others stay as they are.

    To whoever may not see the match it is unknown, whatever else was refused before that was found out. If the position
    that came with the call is a head that the service signed, and the log does not hold it, that is what is wrong,
    whatever else is.
    """
    refusal = refusal_of(error)
    if refusal is None or refusal.reason == "MATCH_NOT_FOUND" or refusal.code not in _ABOUT_THE_MATCH:
        return error
    sight = None
    try:
        sight = await service.now(caller, match_id, invitation_code, request_id)
    except MatchUnknown as unknown:
        return unknown
    except Exception:  # noqa: BLE001, S110 - a log that cannot be read may be one that was lost
        pass
    if (lost := await _lost(service, match_id, position)) is not None:
        return lost
    if sight is None:
        return refusal
    try:
        sight = await service.delayed(sight)
    except Exception:  # noqa: BLE001 - what was refused stays refused, whether or not its place can be told
        return refusal
    refined = _refined(refusal, sight)
    return refined.at(sight.ledger.head, legal_message(sight.ledger, sight.perspective))


async def _lost(service: Service, match_id: str, position: table_pb2.Position) -> Refusal | None:
    """That the log lacks the head which was sent; nothing if it does not, or cannot be read."""
    kept = Head(position.sequence, position.link, position.key_id, position.signature)
    try:
        await service.matches.compare(match_id, kept)
    except LogLost:
        # How much is stored is not told: a spectator delay may hide it.
        why = "the log does not hold the head that was sent, which this service signed; nothing is built on it"
        return Refusal("LOG_LOST", why, {"known": kept.sequence})
    except Exception:  # noqa: BLE001 - what was refused stays refused, whether or not the log can be read
        return None
    return None


def _refined(refusal: Refusal, sight: Sight) -> Refusal:
    """The contract tells more reasons apart than a decision has to."""
    match = sight.ledger.match
    if refusal.reason == "MATCH_SEALED" and match.sealed is not None and match.sealed.aborted is not None:
        return Refusal("MATCH_ABORTED", "the match has ended without a result", {"aborted": match.sealed.aborted})
    if refusal.reason == "NOT_YOUR_TURN" and sight.ledger.seat_of(sight.player) in match.forfeited:
        return Refusal("SEAT_FORFEITED", "the caretaker plays for this seat for good", refusal.facts)
    return refusal
