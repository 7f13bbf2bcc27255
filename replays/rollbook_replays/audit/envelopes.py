"""Fast decoding of the envelope of an event, without protobuf, for events in the usual form.

The form is usual if the fields before the body are canonical, the event has the expected number and link, and its time
has six bytes, as all times between 2004 and 2109 do. The caller decodes all other events with protobuf.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from rollbook.match.fold import MOST_EVENTS

LINK_BYTES: Final = 32
REQUEST_BYTES: Final = 16

# Tags of fields, followed by the length where it is fixed.
_SEQUENCE: Final = b"\x08"
_TIME: Final = b"\x10"
_PREVIOUS: Final = int.from_bytes(b"\x1a\x20", "little")
_SEAT: Final = b"\x20"
_REQUEST: Final = b"\x2a\x10"
_CHOSEN: Final = 0x3A
_BY_CARETAKER: Final = b"\x08\x01"
_CHARGED: Final = b"\x10"
_CHOICE: Final = 0x1A

_READY: Final = 0x72
_CLOSING: Final = b"\x0a\x20"
_CLOSING_BYTES: Final = len(_CLOSING) + LINK_BYTES
_ENTROPY: Final = 0x12

_ENDS: Final = 0x80
"""A varint continues after a byte of at least this value, and ends with a byte below it."""
_LONGEST_CHARGE: Final = 35
"""Bits of a charge (in ms) that are read here: more than a year."""

_LOWER_GOES_ON: Final = 0x8080
"""The continuation bits in the lower two bytes of a varint."""
_UPPER_GOES_ON: Final = 0x8080_8080
_UPPER_ENDS: Final = 0x0080_8080


def taken_off(number: int, data: bytes, previous: bytes) -> tuple[int, bytes] | None:
    """Return the time and the bytes after the link (an optional seat, an optional request, the body), or None.

    None means that the envelope is unusual or wrong.
    """
    parts, opening, behind = _layout(number)
    try:
        found, low, high, tag, link = parts(data)
    except struct.error:
        return None
    high_ms = _high_ms(high)
    if found != opening or tag != _PREVIOUS or link != previous:
        return None
    if high_ms is None or low & _LOWER_GOES_ON != _LOWER_GOES_ON:
        return None
    return high_ms | low & 0x7F | low >> 1 & 0x3F80, data[behind:]


def without_request(left: bytes) -> tuple[bytes, bytes]:
    """Split `left` into the request (empty if there is none) and the rest: an optional seat, and the body."""
    # Games have fewer than 128 seats; a request after a seat from 128 on is not recognised here.
    at = 2 if left.startswith(_SEAT) and left[1:2] < b"\x80" else 0
    if not left.startswith(_REQUEST, at):
        return b"", left
    behind = at + len(_REQUEST) + REQUEST_BYTES
    # The seat belongs before the request. A seat after the request is not canonical, and must stay recognisable.
    if len(left) < behind or (not at and left.startswith(_SEAT, behind)):
        return b"", left
    return left[behind - REQUEST_BYTES : behind], left[:at] + left[behind:]


def choice_taken_off(body: bytes) -> tuple[int, bool, int, bytes] | None:
    """Seat, caretaker, charge in ms and choice of a `Chosen`; None if the body is another event or unusual.

    Everything around the choice is canonical; the caller has to check the choice.
    """
    held = len(body) - 4
    if not 0 < held < _ENDS or (body[0], body[2], body[3]) != (_SEAT[0], _CHOSEN, held) or body[1] >= _ENDS:
        return None
    at = 4
    by_caretaker = body.startswith(_BY_CARETAKER, at)
    if by_caretaker:
        at += len(_BY_CARETAKER)
    charged_ms = 0
    if body.startswith(_CHARGED, at):
        at += 1
        shift = 0
        while at < len(body) and shift < _LONGEST_CHARGE:
            charged_ms |= (body[at] & 0x7F) << shift
            at += 1
            shift += 7
            if body[at - 1] < _ENDS:
                break
        if not body[at - 1] or body[at - 1] >= _ENDS:
            return None
    if len(body) < at + 2 or body[at] != _CHOICE or body[at + 1] != len(body) - at - 2 or body[at + 1] >= _ENDS:
        return None
    return body[1], by_caretaker, charged_ms, body[at + 2 :]


def readiness_taken_off(body: bytes) -> tuple[int, bytes, bytes] | None:
    """Seat, entropy and link of a `Ready`; None if the body is another event or unusual."""
    held = len(body) - 4
    if not _CLOSING_BYTES <= held < _ENDS or (body[0], body[2], body[3]) != (_SEAT[0], _READY, held):
        return None
    behind = 4 + _CLOSING_BYTES
    entropy = body[behind + 2 :]
    if not body.startswith(_CLOSING, 4) or body[1] >= _ENDS:
        return None
    if held > _CLOSING_BYTES and (not entropy or body[behind : behind + 2] != bytes((_ENTROPY, len(entropy)))):
        return None
    return body[1], entropy, body[behind - LINK_BYTES : behind]


@lru_cache(MOST_EVENTS)
def _layout(number: int) -> tuple[Callable[[bytes], tuple[bytes, int, int, int, bytes]], bytes, int]:
    """For event `number`: a function that unpacks the envelope, the bytes before the time, the envelope's length.

    It unpacks the bytes before the time, the time's lower two and upper four bytes, the tag of the link, and the link.
    """
    varint = bytearray()
    left = number
    while left > 0x7F:  # noqa: PLR2004 - seven bits a byte
        varint.append(left & 0x7F | 0x80)
        left >>= 7
    varint.append(left)
    opening = _SEQUENCE + varint + _TIME
    layout = struct.Struct(f"<{len(opening)}sHIH{LINK_BYTES}s")
    return layout.unpack_from, opening, layout.size


@lru_cache(1 << 10)
def _high_ms(high: int) -> int | None:
    """The upper bits of a time, which change every 16 seconds; None if `high` cannot end a varint of six bytes."""
    last = high >> 24
    if high & _UPPER_GOES_ON != _UPPER_ENDS or not last:
        return None
    return (high & 0x7F | high >> 1 & 0x3F80 | high >> 2 & 0x1F_C000 | last << 21) << 14
