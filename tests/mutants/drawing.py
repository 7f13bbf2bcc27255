"""Draws the changes from a seed and the current tree."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from tests.mutants.changes import Change, changes, means_something_else

SOURCES = ("service", "replays", "clients")
"""The roots of the changed code."""


def modules(root: Path, only: Sequence[str] = ()) -> list[str]:
    """Return the modules below these paths, without generated code and `__init__.py`."""
    found = (
        file.relative_to(root).as_posix()
        for source in SOURCES
        for file in (root / source).rglob("*.py")
        if file.name != "__init__.py" and "v1" not in file.parts
    )
    wanted = [path.strip("/") for path in only]
    return sorted(path for path in found if not wanted or any(_is_below(path, folder) for folder in wanted))


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def draw(root: Path, paths: Sequence[str], seed: int, count: int) -> list[Change]:
    """Draw changes, at most one a line; same seed and tree give the same, and a larger count adds more."""
    return list(islice(_drawn(root, paths, random.Random(seed)), count))


def _drawn(root: Path, paths: Sequence[str], chance: random.Random) -> Iterator[Change]:
    by_line: defaultdict[tuple[str, int], list[Change]] = defaultdict(list)
    for path in paths:
        for change in changes(path, (root / path).read_bytes()):
            by_line[path, change.line].append(change)
    lines = sorted(by_line)
    chance.shuffle(lines)
    for path, line in lines:
        change = chance.choice(by_line[path, line])
        source = (root / path).read_bytes()
        if means_something_else(source, change.made_in(source)):
            yield change
