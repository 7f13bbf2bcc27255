"""Finds the replays to audit: files, bundles, and folders with everything below them."""

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
        """The name in reports."""

    def read(self) -> bytes:
        """The bytes, at most slightly more than the limit for a replay; raises `OSError` or `NotAReplay`."""


@dataclass(frozen=True, slots=True)
class File:
    """A replay in a file of its own."""

    path: Path

    @property
    def name(self) -> str:
        """The path of the file."""
        return str(self.path)

    def read(self) -> bytes:
        """The unpacked content; of a file above the limit only enough bytes to exceed the limit."""
        return read_file(self.path)


def sources(path: Path) -> Iterator[Source]:
    """The replays below a folder in the order of their paths, or the file itself if the path is no folder."""
    if _holds(path.is_dir):
        yield from map(File, _below(path, _is_replay))
    else:
        yield File(path)


def _below(folder: Path, is_meant: Callable[[Path], bool]) -> Iterator[Path]:
    """The matching paths at any depth, and unreadable folders: reading these later reports the error."""
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
    """A file that begins like a bundle; its content is read when its turn comes."""

    path: Path


def everything(paths: Iterable[Path]) -> list[File | BundleFile]:
    """The replays and bundles at these paths, in order; a bundle that is named twice occurs once."""
    found: dict[tuple[type, Path, int], File | BundleFile] = {}
    for path in paths:
        here = _in_folder(path) if _holds(path.is_dir) else [BundleFile(path) if _begins_zip(path) else File(path)]
        for each in here:
            # A replay that the user names twice is audited twice.
            found[type(each), each.path, 0 if isinstance(each, BundleFile) else len(found)] = each
    return list(found.values())


def _in_folder(folder: Path) -> Iterator[File | BundleFile]:
    for path in _below(folder, _is_meant):
        yield File(path) if _is_replay(path) or not _holds(path.is_file) else BundleFile(path)


def _is_meant(path: Path) -> bool:
    """Whether a file in a folder is a replay by its name, or a bundle by its first bytes.

    Other zip archives do not count. An unreadable `.zip` file counts, so that reading it reports the error.
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
    """The answer to `question`; False if it raises OSError, which reading the file will report."""
    try:
        return question()
    except OSError:
        return False
