"""Envelopes taken off the quick way: whatever is not as usual is left alone, for the long way to read."""

from __future__ import annotations

from rollbook_replays.audit.envelopes import without_request

REQUEST = b"\x2a\x10" + bytes(range(16))
BODY = b"\xa2\x01\x00"


def test_a_request_is_taken_out_with_or_without_a_seat_before_it() -> None:
    """What is left is what the same choice of somebody else would be."""
    assert (bytes(range(16)), BODY) == without_request(REQUEST + BODY)
    assert (bytes(range(16)), b"\x20\x7f" + BODY) == without_request(b"\x20\x7f" + REQUEST + BODY)


def test_what_has_no_request_stays_as_it_is() -> None:
    """Also where its bytes would end before a request could."""
    for left in (BODY, b"\x20\x01" + BODY, REQUEST[:-1], b"\x20\x01" + REQUEST[:-1], b""):
        assert (b"", left) == without_request(left)
    assert (bytes(range(16)), b"") == without_request(REQUEST)


def test_a_seat_of_two_bytes_is_not_looked_behind() -> None:
    """No game has one; its second byte may look like the beginning of a request."""
    assert (b"", b"\x20\x80" + REQUEST + BODY) == without_request(b"\x20\x80" + REQUEST + BODY)


def test_a_seat_behind_its_request_is_left_for_the_long_way() -> None:
    """Without the request it would look like the usual order."""
    left = REQUEST + b"\x20\x01" + BODY
    assert (b"", left) == without_request(left)
