"""Replay files, made by hand, that claim far more data than they have bytes.

As a program, with a key file and files, it audits them in one process and prints the growth of its memory in KiB.
"""

from __future__ import annotations

import resource
import struct
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from rollbook.match.chain import link
from rollbook.replay_file import container
from rollbook.replay_file.container import LARGEST_EVENT, LARGEST_FILE, Replay
from rollbook.replay_file.key_lines import read_keys
from rollbook.rules.catalogue import current
from rollbook.v1 import events_pb2 as proto
from rollbook_replays.audit.auditor import audit_one
from rollbook_replays.audit.sources import File
from tests.replays.forging import head_of
from tests.replays.replaying import KEYS, recorded

MOST_GROWTH_KB: Final = 192 << 10
MANY: Final = LARGEST_FILE - 40_000
"""Bytes that a file has for one part beside the rest of a match."""
FEW: Final = LARGEST_EVENT - 200
"""Bytes that an event has for its content."""
CLAIMED: Final = 3 * 10**8


def rewritten(replay: Replay, number: int, data: bytes) -> Replay:
    """Replace the bytes of an event and link all later events again, with all keys."""
    events = list(replay.events)
    events[number - 1] = data
    for later in range(number, len(events)):
        event = proto.Event.FromString(events[later])
        event.previous = link(events[later - 1])
        events[later] = event.SerializeToString(deterministic=True)
    return replace(replay, events=tuple(events), heads=(head_of(replay.match_id, events, len(events), KEYS),))


def changed(game: str, body: str, change: Callable[[proto.Event], object]) -> Replay:
    """Return a match whose first event with such a body is changed by `change`."""
    replay = recorded(game, current()[game].seats[0])
    for number, data in enumerate(replay.events, start=1):
        event = proto.Event.FromString(data)
        if event.WhichOneof("body") == body and change(event) is not False:
            return rewritten(replay, number, event.SerializeToString(deterministic=True))
    raise LookupError(body)


def _claim(event: proto.Event) -> bool:
    outcome = event.happened.outcome.allie_gator
    draws = outcome.WhichOneof("kind") == "draw"
    if draws:
        outcome.draw.count = CLAIMED
    return draws


def claimed(*, hiding: bool = True) -> Replay:
    """A draw of 300 million hidden cards; with `hiding` the file omits its hidden part."""
    replay = changed("allie_gator", "happened", _claim)
    return replay if hiding else replace(replay, private={})


def _throw(times: int, face: int) -> Callable[[proto.Event], bool]:
    def change(event: proto.Event) -> bool:
        outcome = event.happened.outcome.cant_stop
        rolls = outcome.WhichOneof("kind") == "roll"
        if rolls:
            outcome.roll.dice.extend([face] * times)
        return rolls

    return change


def _unknown(data: bytes) -> Callable[[proto.Event], object]:
    return lambda event: None if event.opened.options.cant_stop.MergeFromString(data) else False


def events() -> dict[str, Replay]:
    """Return matches with a greedy event of legal size."""
    return {
        "a count of millions": claimed(),
        "a count of millions that stays hidden": claimed(hiding=False),
        "many dice": changed("cant_stop", "happened", _throw(FEW, 5)),
        "many large dice": changed("cant_stop", "happened", _throw(FEW // 5, 2**31 - 1)),
        "many places": changed("cant_stop", "sealed", lambda event: event.sealed.places.places.extend([1] * FEW)),
        "many seats not ready": changed(
            "cant_stop",
            "sealed",
            lambda event: event.sealed.aborted.MergeFrom(
                proto.Sealed.Aborted(reason=proto.ABORT_REASON_NOT_READY, seats=[1] * FEW)
            ),
        ),
        "many unknown options": changed("cant_stop", "opened", _unknown(b"\xf8\x01\x01" * (FEW // 3))),
        "a long reference": changed(
            "cant_stop", "seat_taken", lambda event: setattr(event.seat_taken, "player", b"x" * FEW)
        ),
        "bodies by turns": rewritten(recorded("cant_stop", 2), 2, b"\x82\x01\x00\x8a\x01\x00" * (FEW // 6)),
    }


def _sealed_for_many() -> bytes:
    aborted = proto.Sealed.Aborted(reason=proto.ABORT_REASON_NOT_READY, seats=[1] * MANY)
    return proto.Event(sequence=2, sealed=proto.Sealed(aborted=aborted)).SerializeToString(deterministic=True)


def _thrown() -> bytes:
    event = proto.Event(sequence=2)
    event.happened.outcome.cant_stop.roll.dice.extend([5] * MANY)
    return event.SerializeToString(deterministic=True)


def files() -> dict[str, bytes]:
    """Return files of legal size with a part that is too large."""
    first = recorded("cant_stop", 2).events[0]
    large = {
        "an event of seats": _sealed_for_many(),
        "an event of dice": _thrown(),
        "an event of bodies by turns": b"\x82\x01\x00\x8a\x01\x00" * (MANY // 6),
    }
    made = {name: _file(_field(1, b"m") + _field(5, first) + _field(5, data)) for name, data in large.items()}
    by_turns = (
        _field(1, b"m") + _field(5, first) + _field(6, b"\x08\x01" + _field(2, b"\x7a\x00\x0a\x00" * (MANY // 4)))
    )
    cards = _field(6, b"\x08\x01" + _field(2, _field(15, _field(1, b"\x01" * MANY))))
    made["hidden outcomes by turns"] = _file(by_turns)
    made["a hidden outcome of cards"] = _file(_field(1, b"m") + _field(5, first) + cards)
    return made


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(number: int) -> bytes:
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*written, number])


def _file(body: bytes) -> bytes:
    header = container._HEADER.pack(container.MAGIC, container.VERSION, 0, len(body))
    return header + body + struct.pack(">I", 0) + bytes(container._FOOTER.size)


def _peak_kb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    keys = read_keys(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for game in current():
        replay = container.write(recorded(game, current()[game].seats[0]), KEYS.replays)
        Path(sys.argv[1]).with_suffix(".good").write_bytes(replay)
        audit_one(File(Path(sys.argv[1]).with_suffix(".good")), keys, ())
    for name in sys.argv[2:]:
        before = _peak_kb()
        audited = audit_one(File(Path(name)), keys, ())
        divergence = audited.divergence
        check = "" if divergence is None else f"{divergence.check} {divergence.event}"
        print(_peak_kb() - before, audited.verdict, check, sep="\t")
