"""The reader's memory of bodies: a shortcut that must never see anything else than the long way does."""

from __future__ import annotations

import random

import pytest

from rollbook.match.chain import link
from rollbook.match.events import Event
from rollbook.rules.catalogue import find
from rollbook_replays.audit import events as reading
from rollbook_replays.audit.divergence import Diverged
from rollbook_replays.audit.events import Reader
from rollbook_replays.audit.verdicts import Divergence
from tests.replays.forging import eventful, replay_of

GAME = find("cant_stop")


def read(reader: Reader, number: int, data: bytes, previous: bytes) -> tuple[Event, int, bytes] | Divergence:
    """What the reader makes of an event."""
    try:
        return reader(number, data, previous)
    except Diverged as diverged:
        return diverged.divergence


def test_what_is_remembered_is_read_like_what_is_seen_for_the_first_time() -> None:
    """Every bit of many events of a service's log flipped, and bytes put in or left out anywhere."""
    rng = random.Random(1)
    events = replay_of(eventful()).events
    links = [link(data) for data in events]
    knowing = Reader(GAME)
    for number, data in enumerate(events[1:], start=2):
        assert knowing(number, data, links[number - 2]) == Reader(GAME)(number, data, links[number - 2])
    for number in rng.sample(range(2, len(events) + 1), 25):
        data, previous = events[number - 1], links[number - 2]
        spoilt = [data[:at] + data[at + 1 :] for at in range(len(data))]
        spoilt += [data[:at] + bytes([rng.randrange(256)]) + data[at:] for at in range(len(data) + 1)]
        spoilt += [data[:at] + b"\x2a\x10" + bytes(16) + data[at:] for at in range(len(data) + 1)]
        spoilt += [data[:at] + b"\0" + data[at + 1 :] for at in range(len(data))]
        for bit in range(8 * len(data)):
            flipped = bytearray(data)
            flipped[bit // 8] ^= 1 << bit % 8
            spoilt.append(bytes(flipped))
        for wrong in spoilt:
            assert read(Reader(GAME), number, wrong, previous) == read(knowing, number, wrong, previous)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge's memory is not for logs of ever different bodies to fill."""
    monkeypatch.setattr(reading, "MOST_REMEMBERED", 10)
    events = replay_of(eventful()).events
    reader = Reader(GAME)
    for number, data in enumerate(events[1:], start=2):
        reader(number, data, link(events[number - 2]))
        assert len(reader._proved) <= 10
