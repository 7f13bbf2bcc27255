"""The last signed head of every match that was seen, and the file in which they outlive the program.

A line of the file is one head: {"match": …, "sequence": …, "link": "hex", "key_id": "…", "signature": "hex"}, as
`rollbook audit --head` takes it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rollbook.files import write_file
from rollbook_clients.sdk.chain import Head

SAVE_SECONDS: Final = 1.0
"""Between two writes of the file while a match goes on."""


class HeadsUnreadable(ValueError):
    """A file of heads has a line that is none."""


class Heads:
    """By match the last head, in memory and, if there is a file, there as well."""

    def __init__(self, file: Path | None = None) -> None:
        """Begin with what the file holds."""
        self._file = file
        self._known: dict[str, Head] = {}
        self._saved_at = float("-inf")
        self._dirty = False
        if file is not None:
            self._merge(file)

    def __iter__(self) -> Iterator[Head]:
        """All heads, by match."""
        return iter(sorted(self._known.values(), key=lambda head: head.match_id))

    def last(self, match_id: str) -> Head | None:
        """The last head of a match."""
        return self._known.get(match_id)

    def keep(self, head: Head) -> None:
        """Keep a head whose signature was checked, unless a later one is known."""
        known = self._known.get(head.match_id)
        if known is not None and known.sequence >= head.sequence:
            return
        self._known[head.match_id] = head
        self._dirty = True
        if self._file is not None and time.monotonic() - self._saved_at >= SAVE_SECONDS:
            self.save()

    def save(self) -> None:
        """Write the file if there is anything new, whole or not at all; what others wrote meanwhile stays."""
        if self._file is None or not self._dirty:
            return
        self._merge(self._file)
        write_file(self._file, "".join(map(_line, self)).encode(), 0o600)
        self._dirty = False
        self._saved_at = time.monotonic()

    def _merge(self, file: Path) -> None:
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return
        for number, line in enumerate(text.splitlines(), start=1):
            if not line.strip():
                continue
            head = _head(file, number, line)
            known = self._known.get(head.match_id)
            if known is None or known.sequence < head.sequence:
                self._known[head.match_id] = head


def _line(head: Head) -> str:
    fields = {
        "match": head.match_id,
        "sequence": head.sequence,
        "link": head.link.hex(),
        "key_id": head.key_id,
        "signature": head.signature.hex(),
    }
    return json.dumps(fields) + "\n"


def _head(file: Path, number: int, line: str) -> Head:
    try:
        fields = json.loads(line)
        return Head(
            str(fields["match"]),
            int(fields["sequence"]),
            bytes.fromhex(fields["link"]),
            str(fields["key_id"]),
            bytes.fromhex(fields["signature"]),
        )
    except (ValueError, KeyError, TypeError):
        raise HeadsUnreadable(f"{file}, line {number}: this is no signed head") from None
