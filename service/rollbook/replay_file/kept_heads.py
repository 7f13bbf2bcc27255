"""Heads that players and spectators kept: one JSON object a line, its keys in this order.

    {"match":"…","sequence":57,"link":"<64 hex>","key_id":"<16 hex>","signature":"<128 hex>"}

A kept head can prove that a match was rewritten after that event. `replays/FORMAT.md` has the grammar.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from rollbook.match.chain import Position, is_match_id
from rollbook.replay_file.lines import WrongLine, content

LONGEST_LINE: Final = 1_000
_KEYS: Final = ("match", "sequence", "link", "key_id", "signature")
_LARGEST_SEQUENCE: Final = 1 << 63
_HEX: Final = re.compile(r"(?:[0-9a-f]{2})*")


@dataclass(frozen=True, slots=True)
class WitnessedHead:
    """A head of a match, kept by a player or spectator."""

    match_id: str
    sequence: int
    link: bytes
    key_id: str
    """The id of the signing key: sixteen hexadecimal digits."""
    signature: bytes

    @property
    def position(self) -> Position:
        """The position that the head vouches for."""
        return Position(self.sequence, self.link)


def read_heads(text: str) -> list[WitnessedHead]:
    """The heads of all lines; raises WrongLine for the first invalid line."""
    return [head for _, head in numbered_heads(text)]


def numbered_heads(text: str) -> Iterator[tuple[int, WitnessedHead]]:
    """The heads of all lines, each with its line number; raises WrongLine."""
    return ((number, _read(number, line)) for number, line in content(text))


def write_heads(heads: Iterable[WitnessedHead]) -> str:
    """The lines of these heads, which `read_heads` reads."""
    return "".join(
        json.dumps(
            {
                "match": head.match_id,
                "sequence": head.sequence,
                "link": head.link.hex(),
                "key_id": head.key_id,
                "signature": head.signature.hex(),
            },
            separators=(",", ":"),
        )
        + "\n"
        for head in heads
    )


class _Members(list[tuple[str, Any]]):
    """The members of a JSON object in their order, including repeated names."""


def _read(number: int, line: str) -> WitnessedHead:
    if len(line) > LONGEST_LINE:
        raise WrongLine(number, f"a head has at most {LONGEST_LINE} characters")
    try:
        members = json.loads(line, object_pairs_hook=_Members)
    except (ValueError, RecursionError):
        raise WrongLine(number, "this is no JSON object") from None
    if type(members) is not _Members or sorted(name for name, _ in members) != sorted(_KEYS):
        raise WrongLine(number, f"a head is a JSON object of {', '.join(_KEYS)}, each of them once")
    written = dict(members)
    if type(written["match"]) is not str or not is_match_id(written["match"]):
        raise WrongLine(number, "match must be a match's name")
    sequence = written["sequence"]
    if type(sequence) is not int or not 1 <= sequence < _LARGEST_SEQUENCE:
        raise WrongLine(number, "sequence must be the number of an event")
    return WitnessedHead(
        written["match"],
        sequence,
        _hex(number, written, "link", 32),
        _hex(number, written, "key_id", 8).hex(),
        _hex(number, written, "signature", 64),
    )


def _hex(number: int, written: dict[str, Any], key: str, size: int) -> bytes:
    text = written[key]
    if type(text) is not str or len(text) != 2 * size or _HEX.fullmatch(text) is None:
        raise WrongLine(number, f"{key} must be {size} bytes in hexadecimal, in small letters")
    return bytes.fromhex(text)
