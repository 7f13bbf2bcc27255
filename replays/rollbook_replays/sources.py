"""Where replays to audit come from: files, and folders with everything below them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rollbook_replays.container import LARGEST_FILE, SUFFIX


class Source(Protocol):
    """One replay to audit; it can be sent to another process."""

    @property
    def name(self) -> str:
        """What reports call it."""

    def read(self) -> bytes:
        """Its bytes, never many more than a replay can have; `OSError` if they cannot be had."""


@dataclass(frozen=True, slots=True)
class File:
    """A file by itself."""

    path: Path

    @property
    def name(self) -> str:
        """Its path."""
        return str(self.path)

    def read(self) -> bytes:
        """What it holds; of a file that is too large only so much that this shows."""
        with self.path.open("rb") as file:
            return file.read(LARGEST_FILE + 1)


def sources(path: Path) -> Iterator[Source]:
    """The replays that a path stands for: those below a folder in the order of their paths, else the file itself."""
    if path.is_dir():
        yield from map(File, sorted(path.rglob(f"*{SUFFIX}")))
    else:
        yield File(path)
