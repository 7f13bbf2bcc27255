"""Where replays to audit come from: files, bundles, and folders with everything below them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rollbook.replay_file.container import SUFFIX
from rollbook.replay_file.disk import PACKED_SUFFIX, read_file
from rollbook_replays.tournament.bundle import Bundle, NotABundle, looks_like_bundle, open_bundle


class Source(Protocol):
    """One replay to audit; it can be sent to another process."""

    @property
    def name(self) -> str:
        """What reports call it."""

    def read(self) -> bytes:
        """Its bytes, never many more than a replay can have; `OSError` or `NotAReplay` if they cannot be had."""


@dataclass(frozen=True, slots=True)
class File:
    """A file by itself."""

    path: Path

    @property
    def name(self) -> str:
        """Its path."""
        return str(self.path)

    def read(self) -> bytes:
        """What it holds, unpacked; of a file that is too large only so much that this shows."""
        return read_file(self.path)


def sources(path: Path) -> Iterator[Source]:
    """The replays that a path stands for: those below a folder in the order of their paths, else the file itself."""
    if path.is_dir():
        yield from map(File, _below(path))
    else:
        yield File(path)


def _below(folder: Path) -> Iterator[Path]:
    """What is named like a replay, at any depth; also what cannot be looked into, so that reading it says why."""
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        try:
            goes_on = path is folder or (path.is_dir() and not path.is_symlink())
            inside = sorted(path.iterdir(), reverse=True) if goes_on else []
        except OSError:
            yield path
            continue
        if path is not folder and path.name.endswith((SUFFIX, PACKED_SUFFIX)):
            yield path
        waiting += inside


@dataclass(frozen=True, slots=True)
class Found:
    """All that some paths stand for."""

    sources: tuple[Source, ...]
    """Every replay; those of a bundle in the bundle's order."""
    bundles: tuple[Bundle, ...]
    broken: tuple[tuple[Path, str], ...]
    """What begins like a bundle and is none, and why."""

    @classmethod
    def at(cls, paths: Iterable[Path]) -> Found:
        """Look there; a bundle that is named twice is one."""
        found: list[Source] = []
        bundles: dict[Path, Bundle] = {}
        broken = []
        for path in paths:
            try:
                if path.is_file() and looks_like_bundle(path):
                    if path not in bundles:
                        bundles[path] = open_bundle(path)
                        found += bundles[path].sources
                    continue
            except NotABundle as wrong:
                broken.append((path, str(wrong)))
                continue
            except OSError:
                pass  # reading it again says why
            found += sources(path)
        return cls(tuple(found), tuple(bundles.values()), tuple(broken))
