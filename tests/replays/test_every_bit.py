"""Flips every bit of a replay and cuts it at every length: a full loop, not a sample.

A cut file is no replay at any length. A file with a flipped bit is never exact, with all keys at hand. For bits of an
event, where checksum and signature do not help, the test makes and signs chain, head and file again.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rollbook.match.commands import AbortUnready
from rollbook.match.decide import decide
from rollbook.match.simulation import Simulation
from rollbook.replay_file.container import Replay, write
from rollbook.replay_file.recording import record
from rollbook.rules.catalogue import find
from rollbook.v1 import events_pb2 as proto
from rollbook_replays.audit.audit import audit
from rollbook_replays.audit.verdicts import Check, Verdict
from tests.match.played import Played
from tests.replays.forging import PUBLIC, SERVICE, judged, relinked, replay_of


def played() -> Replay:
    """Return a whole match, one of the shortest."""
    game = find("wuerfelzoo")
    simulations = (Simulation(game, {}, 2, 1, number) for number in range(12))
    return min((record(simulation, SERVICE.heads) for simulation in simulations), key=lambda replay: len(replay.events))


def aborted() -> Replay:
    """Return a match that ended before its start, which also reveals its secret."""
    match = Played(entropy=bytes(16)).sit()
    match.now_ms += 60_000
    match.append(decide(match.ledger, AbortUnready(match.by())))
    return replay_of(match)


@pytest.mark.timeout(600)  # an audit for every bit of a file
@pytest.mark.parametrize("replay", [played(), aborted()], ids=["played", "aborted"])
def test_no_flipped_bit_and_no_cut_is_exact(replay: Replay) -> None:
    """The bits are in header, body, names and footer."""
    data = write(replay, SERVICE.replays)
    assert Verdict.EXACT is audit(data, PUBLIC).verdict
    for length in range(len(data)):
        assert Verdict.UNREADABLE is audit(data[:length], PUBLIC).verdict, f"cut to {length} bytes"
    flipped = bytearray(data)
    for bit in range(8 * len(data)):
        flipped[bit // 8] ^= 1 << bit % 8
        assert Verdict.EXACT is not audit(bytes(flipped), PUBLIC).verdict, f"bit {bit} flipped"
        flipped[bit // 8] ^= 1 << bit % 8


def without_what_nothing_contradicts(data: bytes) -> proto.Event:
    """Remove from an event the values that only the service asserts.

    These are times without a clock, the players, the terms, and options without an effect.
    """
    event = proto.Event.FromString(data)
    event.time_ms = 0
    event.request = b""
    if event.HasField("seat_taken"):
        event.seat_taken.player = b""
        event.seat_taken.house = False
    if event.HasField("opened"):
        opened = event.opened
        opened.is_private = False
        for name in (
            "turn_seconds",
            "reserve_seconds",
            "ready_seconds",
            "spectator_delay_seconds",
            "open_seconds",
            "idle_seconds",
        ):
            setattr(opened, name, 0)
        getattr(opened.options, opened.game).Clear()
    return event


def test_a_flipped_bit_of_an_event_is_found_although_everything_around_it_was_made_and_signed_anew() -> None:
    """The service itself cannot change values on which the rules depend."""
    replay = played()
    last = len(replay.events) - 1
    for index in sorted({0, 1, 2, 3, 4, 5, 6, 7, 8, last} & set(range(last + 1))):
        original = replay.events[index]
        for bit in range(8 * len(original)):
            flipped = bytearray(original)
            flipped[bit // 8] ^= 1 << bit % 8
            if judged(relinked(replay, index, bytes(flipped)), SERVICE).verdict is Verdict.EXACT:
                same = without_what_nothing_contradicts(bytes(flipped)) == without_what_nothing_contradicts(original)
                assert same, f"event {index + 1}, bit {bit}"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data + b"\xf8\x07\x01",  # an unknown field
        lambda data: data + data[:2],  # the sequence twice
        lambda data: data[2:] + data[:2],  # the sequence last
        lambda data: data[:1] + bytes([data[1] | 0x80, 0]) + data[2:],  # a longer varint
        lambda data: data + b"\x2a\x00",  # a default value, written
        lambda data: data[:-2],  # cut
        lambda data: data[:0],
    ],
)
@pytest.mark.parametrize("index", [0, 1, 6, 12])
def test_an_event_that_is_written_in_any_other_way_diverges(spoil: Callable[[bytes], bytes], index: int) -> None:
    """Even an operator with the keys cannot hide data in a log that all folds ignore."""
    replay = played()
    verdict = judged(relinked(replay, index, spoil(replay.events[index])), SERVICE)
    assert verdict.divergence is not None
    assert (index + 1, Check.CONTAINER) == (verdict.divergence.event, verdict.divergence.check)
