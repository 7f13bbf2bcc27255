"""Where replays to audit come from: files, bundles, and folders with everything below them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rollbook.replay_file.container import SUFFIX
from rollbook.replay_file.disk import PACKED_SUFFIX, read_file
from rollbook_replays.tournament.bundle import begins_like_bundle, looks_like_bundle


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
    if _holds(path.is_dir):
        yield from map(File, _below(path, _is_replay))
    else:
        yield File(path)


def _below(folder: Path, is_meant: Callable[[Path], bool]) -> Iterator[Path]:
    """What is meant, at any depth; also folders that cannot be looked into, so that reading them says why."""
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        try:
            goes_on = path is folder or (path.is_dir() and not path.is_symlink())
            inside = sorted(path.iterdir(), reverse=True) if goes_on else []
        except OSError:
            yield path
            continue
        if path is not folder and is_meant(path):
            yield path
        waiting += inside


@dataclass(frozen=True, slots=True)
class BundleFile:
    """A file that begins like a bundle; what it holds is looked at when it is its turn."""

    path: Path


def everything(paths: Iterable[Path]) -> list[File | BundleFile]:
    """All that these paths stand for, in their order; a bundle that is there twice is one."""
    found: dict[tuple[type, Path, int], File | BundleFile] = {}
    for path in paths:
        here = _in_folder(path) if _holds(path.is_dir) else [BundleFile(path) if _begins_zip(path) else File(path)]
        for each in here:
            # A replay that is named twice is audited twice, as it was asked for.
            found[type(each), each.path, 0 if isinstance(each, BundleFile) else len(found)] = each
    return list(found.values())


def _in_folder(folder: Path) -> Iterator[File | BundleFile]:
    for path in _below(folder, _is_meant):
        yield File(path) if _is_replay(path) or not _holds(path.is_file) else BundleFile(path)


def _is_meant(path: Path) -> bool:
    """Whether a file in a folder is a replay by its name, or a bundle by how it begins.

    A zip archive of something else is none; one that cannot be looked into may be one.
    """
    if _is_replay(path):
        return True
    try:
        return path.is_file() and begins_like_bundle(path)
    except OSError:
        return path.name.endswith(".zip")


def _is_replay(path: Path) -> bool:
    return path.name.endswith((SUFFIX, PACKED_SUFFIX))


def _begins_zip(path: Path) -> bool:
    return _holds(lambda: path.is_file() and looks_like_bundle(path))


def _holds(question: Callable[[], bool]) -> bool:
    """Whether that can be looked at and is so; of what cannot, reading it says why."""
    try:
        return question()
    except OSError:
        return False
