"""The summary of a match."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rollbook.match.codec.envelope import aborted_message
from rollbook.match.codec.views import write_options
from rollbook.match.events import BY_OPERATOR
from rollbook.match.ledger import Ledger
from rollbook.v1 import match_pb2 as proto

NO_STRENGTHS: Final[Mapping[bytes, int]] = {}


def summary_message(  # noqa: PLR0913, PLR0917 - the log, and what is beside it
    ledger: Ledger,
    names: Mapping[bytes, str],
    opened_ms: int,
    rematch_of: str = "",
    strengths: Mapping[bytes, int] = NO_STRENGTHS,
    bots_at_ms: int | None = None,
) -> proto.MatchSummary:
    """The summary for everyone who may see the match.

    `names`, and `strengths` of bots, are by reference, and come from outside the log. `bots_at_ms` is None unless
    PlayNow opened the match.
    """
    match, opened = ledger.match, ledger.opened
    message = proto.MatchSummary(
        match_id=opened.match_id,
        state=state_of(ledger),
        game=opened.game,
        ruleset=opened.ruleset,
        turn_seconds=opened.terms.turn_seconds,
        reserve_seconds=opened.terms.reserve_seconds,
        ready_seconds=opened.terms.ready_seconds,
        spectator_delay_seconds=opened.terms.spectator_delay_seconds,
        is_private=opened.terms.is_private,
        open_seconds=opened.terms.open_seconds,
        idle_seconds=opened.terms.idle_seconds,
        dice_fixed=ledger.closing is not None and not any(ledger.entropy_commitments),
        opened_ms=opened_ms,
        changed_ms=ledger.time_ms,
        awaited_seat=ledger.awaited_seat if match.sealed is None else None,
        rematch_of=rematch_of if match.sealed is None else "",
        in_pool=bots_at_ms is not None and not match.started,
        bots_at_ms=bots_at_ms or 0 if state_of(ledger) == proto.MATCH_STATE_OPEN else 0,
    )
    message.position.sequence = ledger.head.sequence
    message.position.link = ledger.head.link
    for seat, player in enumerate(ledger.players):
        message.seats.add(
            taken=match.taken[seat],
            name=names.get(player, "") if player else "",
            brings_entropy=bool(ledger.entropy_commitments[seat]),
            ready=match.entropy[seat] is not None,
            forfeited=seat in match.forfeited,
            is_house=ledger.house[seat],
            strength=strengths.get(player, 0) if player else 0,
        )
    message.options.CopyFrom(write_options(ledger.game, opened.options))
    _write_result(message, ledger)
    return message


def state_of(ledger: Ledger) -> proto.MatchState.ValueType:
    """The state of the match in its life cycle."""
    match = ledger.match
    if match.sealed is not None:
        return proto.MATCH_STATE_FINISHED if match.sealed.aborted is None else proto.MATCH_STATE_ABORTED
    if match.started:
        return proto.MATCH_STATE_RUNNING
    return proto.MATCH_STATE_GETTING_READY if match.closed else proto.MATCH_STATE_OPEN


def _write_result(message: proto.MatchSummary, ledger: Ledger) -> None:
    sealed = ledger.match.sealed
    if sealed is None:
        return
    if sealed.aborted is None:
        message.places.places.extend(sealed.places or ())
        return
    message.aborted.CopyFrom(aborted_message(sealed.aborted))
    is_unplayed = ledger.match.started and ledger.has_person and not ledger.person_chose
    message.unplayed = sealed.aborted == BY_OPERATOR and is_unplayed
