"""The last signed head of every match that was seen, and the file that holds these heads between runs.

The file is the one that `rollbook audit --head` takes.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rollbook.files import write_file
from rollbook.replay_file.kept_heads import WitnessedHead, read_heads, write_heads
from rollbook.replay_file.lines import WrongLine

SAVE_SECONDS: Final = 1.0
"""Least number of seconds between two writes of the file, except for `save`."""


class HeadsUnreadable(ValueError):
    """A file of heads contains a line that cannot be parsed."""


class KeptHeads:
    """The last head of each match, in memory and, if a file is given, on disk."""

    def __init__(self, file: Path | None = None) -> None:
        """Start with the heads in the file; raises HeadsUnreadable if it cannot be parsed."""
        self._file = file
        self._known: dict[str, WitnessedHead] = {}
        self._saved_at = float("-inf")
        self._dirty = False
        if file is not None:
            self._merge(file)

    def __iter__(self) -> Iterator[WitnessedHead]:
        """All heads, sorted by match id."""
        return iter(sorted(self._known.values(), key=lambda head: head.match_id))

    def last(self, match_id: str) -> WitnessedHead | None:
        """The last head of a match; None if none is known."""
        return self._known.get(match_id)

    def keep(self, head: WitnessedHead) -> None:
        """Keep a head whose signature was checked, unless a later head of the match is known."""
        known = self._known.get(head.match_id)
        if known is not None and known.sequence >= head.sequence:
            return
        self._known[head.match_id] = head
        self._dirty = True
        if self._file is not None and time.monotonic() - self._saved_at >= SAVE_SECONDS:
            self.save()

    def save(self) -> None:
        """Write new heads to the file atomically; keeps heads that other processes wrote meanwhile."""
        if self._file is None or not self._dirty:
            return
        self._merge(self._file)
        write_file(self._file, write_heads(self).encode(), 0o600)
        self._dirty = False
        self._saved_at = time.monotonic()

    def _merge(self, file: Path) -> None:
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return
        try:
            heads = read_heads(text)
        except WrongLine as wrong:
            raise HeadsUnreadable(f"{file}, line {wrong}") from None
        for head in heads:
            known = self._known.get(head.match_id)
            if known is None or known.sequence < head.sequence:
                self._known[head.match_id] = head
