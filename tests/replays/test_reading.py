"""The reader caches bodies of events; a cached result always equals a fresh one."""

from __future__ import annotations

import random

import pytest

from rollbook.match.chain import link
from rollbook.match.codec.envelope import read_bytes, write_bytes
from rollbook.match.codec.moves import Unreadable
from rollbook.match.events import Event, Happened
from rollbook.rules.cant_stop.moves import Rolled
from rollbook.rules.catalogue import current, find
from rollbook.v1 import events_pb2
from rollbook_replays.audit import events as reading
from rollbook_replays.audit.divergence import Diverged
from rollbook_replays.audit.events import CANONICAL, Reader, check_chain
from rollbook_replays.audit.verdicts import Check, Divergence
from tests.replays.forging import eventful, replay_of

GAME = find("cant_stop")
GAMES = list(current())


def read(reader: Reader, number: int, data: bytes, previous: bytes) -> tuple[Event, int, bytes] | Divergence:
    """Return the reader's result for an event."""
    try:
        return reader(number, data, previous)
    except Diverged as diverged:
        return diverged.divergence


def test_what_is_remembered_is_read_like_what_is_seen_for_the_first_time() -> None:
    """Every bit of many events of a service's log is flipped, and bytes are inserted and removed."""
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


def the_long_way(name: str, number: int, data: bytes, previous: bytes) -> tuple[Event, int, bytes] | Divergence:
    """Decode an event with protobuf and encode it again."""
    game = find(name)
    try:
        logged = read_bytes(data, b"", game)
        again = write_bytes(
            game,
            logged.event,
            sequence=logged.sequence,
            time_ms=logged.time_ms,
            previous=logged.previous,
            request=logged.request,
        )
        if again.data != data:
            found = "unknown or repeated fields, or fields out of order"
            return Divergence(number, Check.CONTAINER, CANONICAL, found)
        check_chain(number, logged, previous)
    except Unreadable as unreadable:
        return Diverged(number, Check.CONTAINER, CANONICAL, str(unreadable)).divergence
    except Diverged as diverged:
        return diverged.divergence
    return logged.event, logged.time_ms, logged.request


@pytest.mark.parametrize("name", GAMES)
def test_the_quick_way_reads_what_the_long_way_reads(name: str) -> None:
    """For every game: events of a log, unchanged and with bytes flipped, inserted and removed."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    events = replay_of(eventful(name, brief=True)).events
    links = [link(data) for data in events]
    reader = Reader(find(name))
    for number, data in enumerate(events[1:], start=2):
        previous = links[number - 2]
        spoilt = [data, data]
        for _ in range(40):
            at = rng.randrange(len(data))
            spoilt.append(data[:at] + rng.choice((b"", b"\0", rng.randbytes(1), rng.randbytes(2))) + data[at + 1 :])
        for wrong in spoilt:
            assert the_long_way(name, number, wrong, previous) == read(reader, number, wrong, previous)


def test_only_the_bytes_of_what_was_drawn_say_so() -> None:
    """Other bytes are read as no draw, even after the same draw was cached."""
    reader = Reader(GAME)
    events = replay_of(eventful()).events
    links = [link(data) for data in events]
    throws = [number for number, data in enumerate(events, start=1) if number > 1 and _is_a_throw(data)]
    drawn, other = Rolled((1, 1, 1, 1)), Rolled((6, 6, 6, 6))
    for number in throws:
        data, previous = events[number - 1], links[number - 2]
        event, *_ = the_long_way("cant_stop", number, data, previous)  # type: ignore[misc]
        assert isinstance(event, Happened)
        for outcome in (event.outcome, drawn, other, event.outcome):
            found, *_ = reader(number, data, previous, outcome)
            assert found == event
            assert isinstance(found, Happened)
            assert (found.outcome is outcome) == (outcome == event.outcome)


def _is_a_throw(data: bytes) -> bool:
    return events_pb2.Event.FromString(data).happened.outcome.cant_stop.HasField("roll")


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log with ever new bodies cannot fill the judge's memory."""
    monkeypatch.setattr(reading, "MOST_REMEMBERED", 10)
    monkeypatch.setattr(reading, "MOST_HAPPENED", 5)
    events = replay_of(eventful()).events
    links = [link(data) for data in events]
    reader = Reader(GAME)
    for number, data in enumerate(events[1:], start=2):
        event, *_ = reader(number, data, links[number - 2])
        if isinstance(event, Happened):
            reader(number, data, links[number - 2], event.outcome)
        assert len(reader._proved) <= 10
        assert len(reader._happened) <= 5
    assert len(reader._happened) == 5
