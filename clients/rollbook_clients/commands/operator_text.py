"""Output of `rollbook admin`: texts for matches, bans and the state of a service, or JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Final

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from rollbook.v1.admin_pb2 import Ban, GetStateResponse
from rollbook.v1.match_pb2 import GetMatchResponse, MatchState, MatchSummary
from rollbook_clients.sdk.lobby import OVER
from rollbook_replays.text import printable

STRENGTHS: Final = {1: "weak", 2: "medium", 3: "strong"}
"""Words for the strength of bots."""

_MIB: Final = 1 << 20


def json_of(message: Message) -> str:
    """A message as one line of JSON, with the field names of the proto files."""
    return json.dumps(MessageToDict(message, preserving_proto_field_name=True), ensure_ascii=False)


def say_facts(facts: dict[str, object], *, as_json: bool) -> None:
    """Print the result of an action."""
    print(json.dumps(facts) if as_json else "  ".join(f"{name} {value}" for name, value in facts.items()))


def name_of(seat: MatchSummary.Seat) -> str:
    """The name of a seat's player, marked if it is a bot of the house.

    >>> name_of(MatchSummary.Seat(taken=True, name="Uno", is_house=True, strength=3)), name_of(MatchSummary.Seat())
    ('Uno (bot, strong)', '(free)')
    """
    if not seat.taken:
        return "(free)"
    strength = STRENGTHS.get(seat.strength, "")
    mark = f" (bot{strength and f', {strength}'})" if seat.is_house else ""
    return f"{printable(seat.name) or '?'}{mark}"


def _state_of(summary: MatchSummary) -> str:
    return MatchState.Name(summary.state).removeprefix("MATCH_STATE_").lower()


def match_line(summary: MatchSummary) -> str:
    """A match in one line: whether it is lost, id, game, state, time of the last change, players.

    >>> seats = [{"taken": True, "name": "Anna"}, {}]
    >>> match_line(MatchSummary(match_id="a" * 24, game="cant_stop", state=3, seats=seats))
    'aaaaaaaaaaaaaaaaaaaaaaaa  cant_stop    running        1970-01-01T00:00:00Z  Anna, (free)'
    """
    marks = ("LOST  " if summary.is_lost else "") + ("private  " if summary.is_private else "")
    seats = ", ".join(map(name_of, summary.seats))
    return (
        f"{marks}{summary.match_id}  {summary.game:<11}  {_state_of(summary):<13}  {_time(summary.changed_ms)}  {seats}"
    )


def match_lines(found: GetMatchResponse) -> str:
    """A match in a few lines: summary, position, clock and seats."""
    summary = found.summary
    lines = [
        match_line(summary),
        f"opened {_time(summary.opened_ms)}, last event {summary.position.sequence} at {_time(summary.changed_ms)}",
        f"clock {summary.turn_seconds} s a turn, {summary.reserve_seconds} s in reserve",
    ]
    for number, seat in enumerate(summary.seats):
        words = [name_of(seat)]
        words += [word for word, holds in (("ready", seat.ready), ("forfeited", seat.forfeited)) if holds]
        if summary.state not in OVER and summary.HasField("awaited_seat") and summary.awaited_seat == number:
            words.append("to choose")
        lines.append(f"seat {number}: {', '.join(words)}")
    return "\n".join(lines)


def ban_line(found: Ban) -> str:
    """A ban in one line: id, end, target, issuer, reason."""
    target = found.target
    match target.WhichOneof("target"):
        case "subject":
            who = f"subject {target.subject.issuer}:{target.subject.sub}"
        case "address":
            who = f"address {target.address}"
        case _:
            who = f"seat {target.seat.seat} of {target.seat.match_id}"
    note = f"  ({printable(found.why)})" if found.why else ""
    return f"{found.ban_id}  until {_time(found.until_ms)}  {printable(who)}  by {printable(found.by)}{note}"


def state_lines(found: GetStateResponse) -> Sequence[str]:
    """The state of a service, one line per part."""
    worker = f", worker {found.worker}" if found.worker else ""
    matches = ", ".join(f"{count} {name}" for name, count in sorted(found.matches.items()))
    swept = "sweeps" if found.sweeps else "another process sweeps"
    if found.swept_ms:
        swept += f", last at {_time(found.swept_ms)}"
    lines = [
        f"rollbook {found.version}, process {found.process}{worker}: {swept}",
        f"store    {_well(found.store_is_up)}, durability {found.durability}, clock ahead by {found.clock_ahead_ms} ms",
    ]
    for master in found.masters:
        most = f" of {master.most_bytes // _MIB}" if master.most_bytes else ""
        file = "well" if master.file_is_well else "NOT WELL, or none"
        facts = (
            f"{master.version}, {master.used_bytes // _MIB}{most} MiB, {_count(master.replicas, 'replica', 'replicas')}"
        )
        told = f"port {master.port}: {facts}, append-only file {file}" if master.answers else "a master does not answer"
        lines.append(f"  {told}")
    waiting = _count(found.archive_backlog, "match waits", "matches wait")
    lines += [
        f"archive  {_well(found.archive_is_up)}, {found.archive}, {waiting}",
        f"matches  {matches or 'unknown: the store does not answer'}",
        f"lost     {_count(found.lost_tails, 'log', 'logs')} found lost by this process",
        f"bans     {found.bans} in force",
    ]
    return lines


def _well(is_up: bool) -> str:  # noqa: FBT001 - the only parameter
    return "up" if is_up else "DOWN"


def _time(at_ms: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at_ms / 1_000))


def _count(number: int, one: str, many: str) -> str:
    """A number with its noun, in singular or plural.

    >>> _count(1, "log", "logs"), _count(0, "log", "logs")
    ('1 log', '0 logs')
    """
    return f"{number} {one if number == 1 else many}"
