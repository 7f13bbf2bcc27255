"""A match in a few lines, and its options as messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from rollbook.match.ledger import Ledger
from rollbook.rules.game import Game
from rollbook.rules.options import Options, OptionValue
from rollbook.rules.refusals import Invalid, Reason
from rollbook.v1 import match_pb2 as proto
from rollbook.v1.events_pb2 import AbortReason


def summary_message(ledger: Ledger, names: Mapping[bytes, str], opened_ms: int) -> proto.MatchSummary:
    """What everybody may know who may see the match; names are given by reference and lie beside the log."""
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
        dice_fixed=ledger.closing is not None and not any(ledger.entropy_commitments),
        opened_ms=opened_ms,
        changed_ms=ledger.time_ms,
        awaited_seat=ledger.awaited_seat if match.sealed is None else None,
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
        )
    write_options(getattr(message, opened.game), opened.options)
    _write_result(message, ledger)
    return message


def state_of(ledger: Ledger) -> proto.MatchState.ValueType:
    """Where the match is in its life."""
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
    reason, _, seat = sealed.aborted.partition(":")
    message.aborted.reason = AbortReason.Value(f"ABORT_REASON_{reason.upper()}")
    if seat:
        message.aborted.seat = int(seat)


def write_options(message: Message, options: Options) -> None:
    """Write all options into the message of their game."""
    message.SetInParent()
    for name, value in options.items():
        described: Any = message.DESCRIPTOR.fields_by_name[name]
        if described.enum_type is None:
            setattr(message, name, value)
        else:
            setattr(message, name, described.enum_type.values_by_name[_prefix(described) + str(value).upper()].number)


def read_options(game: Game[Any, Any, Any], message: Message) -> dict[str, OptionValue]:
    """The options that a client has set; those it left out are not in it, and what a game does not know is refused."""
    if len(UnknownFieldSet(message)):
        names = ", ".join(option.name for option in game.options)
        raise Invalid(Reason.OPTION_UNKNOWN, f"{game.name} has no such option", allowed=names)
    return {field.name: _option(field, value) for field, value in message.ListFields()}


def _option(described: Any, value: Any) -> OptionValue:
    """An option of words is a number of an enum; one that stands for no word is left for the rules to refuse."""
    if described.enum_type is None:
        option: OptionValue = value
        return option
    word = described.enum_type.values_by_number.get(value)
    return str(value) if word is None else str(word.name.removeprefix(_prefix(described)).lower())


def _prefix(described: Any) -> str:
    return str(described.enum_type.values_by_number[0].name.removesuffix("UNSPECIFIED"))
