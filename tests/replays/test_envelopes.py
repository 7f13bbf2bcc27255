"""The fast path that strips the envelope of an event leaves unusual events to the slow path."""

from __future__ import annotations

import random

from rollbook.v1 import events_pb2, games_pb2
from rollbook_replays.audit.envelopes import choice_taken_off, readiness_taken_off, without_request

REQUEST = b"\x2a\x10" + bytes(range(16))
BODY = b"\xa2\x01\x00"


def test_a_request_is_taken_out_with_or_without_a_seat_before_it() -> None:
    """The rest equals that of the same choice with another request."""
    assert (bytes(range(16)), BODY) == without_request(REQUEST + BODY)
    assert (bytes(range(16)), b"\x20\x7f" + BODY) == without_request(b"\x20\x7f" + REQUEST + BODY)


def test_what_has_no_request_stays_as_it_is() -> None:
    """Bytes without a request stay unchanged, and so do bytes that end within a request."""
    for left in (BODY, b"\x20\x01" + BODY, REQUEST[:-1], b"\x20\x01" + REQUEST[:-1], b""):
        assert (b"", left) == without_request(left)
    assert (bytes(range(16)), b"") == without_request(REQUEST)


def test_a_seat_of_two_bytes_is_not_looked_behind() -> None:
    """No game has such a seat, and its second byte may look like the start of a request."""
    assert (b"", b"\x20\x80" + REQUEST + BODY) == without_request(b"\x20\x80" + REQUEST + BODY)


def test_a_seat_behind_its_request_is_left_for_the_long_way() -> None:
    """Without its request the event would look canonical."""
    left = REQUEST + b"\x20\x01" + BODY
    assert (b"", left) == without_request(left)


def changed(rng: random.Random, body: bytes) -> bytes:
    """Return a body with some bytes changed, removed or inserted."""
    data = bytearray(body)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(data) + 1)
        data[at : at + rng.randrange(2)] = rng.choice((b"", bytes([rng.choice((0, 1, 2, 127, 128, 255))])))
    return bytes(data)


def test_a_choice_is_taken_off_only_from_the_one_way_to_write_what_is_around_it() -> None:
    """Other bytes in an event could hide data."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    choice = games_pb2.Choice()
    choice.cant_stop.stop.SetInParent()
    taken = 0
    for _ in range(20_000):
        event = events_pb2.Event(seat=rng.randrange(6))
        event.chosen.by_caretaker = rng.random() < 0.5
        event.chosen.charged_ms = rng.choice((0, 1, 127, 128, 16_384, 90_000, 1 << 34, 1 << 40))
        event.chosen.choice.CopyFrom(choice)
        body = event.SerializeToString(deterministic=True)
        body = body if rng.random() < 0.2 else changed(rng, body)
        found = choice_taken_off(body)
        if found is not None:
            taken += 1
            seat, by_caretaker, charged_ms, written = found
            again = events_pb2.Event(seat=seat)
            again.chosen.by_caretaker, again.chosen.charged_ms = by_caretaker, charged_ms
            around = again.SerializeToString(deterministic=True)[4:]
            held = around + b"\x1a" + bytes([len(written)]) + written
            assert b"\x20" + bytes([seat]) + b"\x3a" + bytes([len(held)]) + held == body
    assert taken


def test_a_readiness_is_taken_off_only_from_the_one_way_to_write_it() -> None:
    """The fast path decodes `ready` only in its canonical encoding, with entropy and without."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    taken = 0
    for _ in range(20_000):
        event = events_pb2.Event(seat=rng.randrange(6))
        event.ready.closing_link = rng.randbytes(rng.choice((32, 32, 31, 0)))
        event.ready.entropy = rng.randbytes(rng.choice((0, 16, 64, 1)))
        body = event.SerializeToString(deterministic=True)
        body = body if rng.random() < 0.2 else changed(rng, body)
        found = readiness_taken_off(body)
        if found is not None:
            taken += 1
            seat, entropy, closing_link = found
            again = events_pb2.Event(seat=seat)
            again.ready.closing_link, again.ready.entropy = closing_link, entropy
            assert again.SerializeToString(deterministic=True) == body
    assert taken
