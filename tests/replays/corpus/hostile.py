"""Hostile files, and files from before the first release."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from rollbook.replay_file.container import LARGEST_FILE, MAGIC, VERSION, write
from rollbook.v1.events_pb2 import Event
from tests.replays import greedy
from tests.replays.corpus.sample import UNREADABLE, UNVERIFIED, Part, Sample, diverged, sample
from tests.replays.replaying import KEYS, recorded
from tests.replays.test_before_release import FILES

FOOTER: Final = bytes(108)
GIGABYTES: Final = 0xFFFF_FFFF
FEWEST: Final = 1_000
"""Runs of at least this many repetitions are stored as a count."""


def runs(data: bytes, unit: bytes) -> Sequence[Part]:
    """Compress a long run: the bytes before it, the unit with its count, and the rest."""
    at = data.index(unit * FEWEST)
    times = FEWEST
    while data.startswith(unit, at + times * len(unit)):
        times += 1
    return ((data[:at], 1), (unit, times), (data[at + times * len(unit) :], 1))


def _around(claimed: int, *parts: Part, named: int = 0) -> Sequence[Part]:
    """Return a file with this body, whose lengths may be wrong."""
    header = struct.pack(">8sHHI", MAGIC, VERSION, 0, claimed)
    return ((header, 1), *parts, (struct.pack(">I", named) + FOOTER, 1))


def _many(unit: bytes) -> Sequence[Part]:
    times = (LARGEST_FILE - 200) // len(unit)
    return _around(times * len(unit), (unit, times))


def hostile() -> Iterator[Sample]:
    """Yield files that are no replays, and files that make a reader waste resources."""
    made: dict[str, bytes | Sequence[Part]] = {
        "nothing": b"",
        "garbage": random.Random(1).randbytes(1_000),
        "body-of-gigabytes": _around(GIGABYTES),
        "names-of-gigabytes": _around(0, (b"x", 1), named=GIGABYTES),
        "too-large": ((MAGIC, 1), (b"\0", LARGEST_FILE)),
        "body-of-zeros": _many(b"\0"),
        "events-without-end": _many(b"\x2a\x00"),
        "hidden-outcomes-without-end": _many(b"\x32\x00"),
        "heads-without-end": _many(b"\x3a\x00"),
        "a-head-of-heads": _around(8_000_005, (b"\x3a\xe0\xff\xff\x03", 1), (b"\x3a\x00", 4_000_000)),
        "a-field-of-gigabytes": _around(110, (b"\x2a" + b"\xff" * 9 + b"\x01" + bytes(99), 1)),
        "a-group-without-end": _around(1 << 20, (b"\x0b", 1 << 20)),
        "a-text-without-a-match": write(replace(recorded("cant_stop", 2), match_id="m"), KEYS.replays)[:16],
    }
    for name, what in made.items():
        data = what if isinstance(what, bytes) else _packed(what)
        yield sample(name, data, UNREADABLE)  # type: ignore[arg-type]
    for name, data in greedy.files().items():
        unit = next(each for each in UNITS if each * FEWEST in data)
        yield sample(name.replace(" ", "-"), runs(data, unit), UNREADABLE)  # type: ignore[arg-type]


UNITS: Final = (
    b"\x82\x01\x00\x8a\x01\x00",
    b"\xf8\x01\x01",
    b"\x7a\x00\x0a\x00",
    b"\xff\xff\xff\xff\x07",
    b"\x01",
    b"\x05",
    b"x",
)


def _packed(parts: Sequence[Part]) -> bytes | Sequence[Part]:
    """Join the parts if they are few bytes."""
    size = sum(len(data) * times for data, times in parts)
    return parts if size > FEWEST else b"".join(data * times for data, times in parts)


GREEDY: Final = {
    "a count of millions": ("draws", 10, False),
    "a count of millions that stays hidden": ("draws", 10, False),
    "many dice": ("draws", 8, False),
    "many large dice": ("draws", 8, False),
    "many places": ("result", 0, False),
    "many seats not ready": ("result", 0, True),
    "many unknown options": ("container", 1, True),
    "a long reference": ("entropy", 4, True),
    "bodies by turns": ("container", 2, True),
}
"""By sample: check, event (0: the last), and whether a reader without rules gives the same result."""


def greedy_events() -> Iterator[Sample]:
    """Yield valid files with events that make a reader allocate much memory."""
    for name, replay in greedy.events().items():
        check, event, alike = GREEDY[name]
        said = diverged(check, event or len(replay.events))
        data = write(replay, KEYS.replays)
        unit = next((each for each in UNITS if each * FEWEST in data), None)
        what = data if unit is None else runs(data, unit)
        yield sample(name.replace(" ", "-"), what, said, said if alike else UNVERIFIED)  # type: ignore[arg-type]


def before_release() -> Iterator[Sample]:
    """Yield files of version 1 and of the first envelope: recognised, and not called broken."""
    for file in FILES:
        yield sample(file.stem.replace("=", "-"), file.read_bytes(), UNVERIFIED)
    replay = recorded("cant_stop", 2)
    first = Event.FromString(replay.events[0])
    first.opened.envelope = 1
    old = replace(replay, events=(first.SerializeToString(deterministic=True),), heads=())
    yield sample("envelope-1", write(old, KEYS.replays), UNVERIFIED)
