"""Matches of a service as files; what `rollbook export` does once gRPC may be imported."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rollbook.cli.exits import Exit, worst
from rollbook.cli.watching import Connection, Expired, Failed, Lost
from rollbook.files import write_file
from rollbook.replay_file.container import SUFFIX, NotAReplay, read


@dataclass(frozen=True, slots=True)
class Wanted:
    """What shall be in the files."""

    public_only: bool
    without_names: bool


class Export:
    """Files of matches, one after the other."""

    def __init__(self, connection: Connection, folder: Path, wanted: Wanted, *, overwrite: bool) -> None:
        """Write into this folder."""
        self._connection = connection
        self._folder = folder
        self._wanted = wanted
        self._overwrite = overwrite

    def run(self, matches: Sequence[str]) -> Exit:
        """Export all of them, and say how that went."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as failure:
            raise Failed(Exit.WRONG, f"{self._folder}: {failure.strerror}") from None
        try:
            self._connection.sign_in()
        except Lost as lost:
            raise self._connection.no_service(lost) from None
        codes = set()
        for number, match_id in enumerate(dict.fromkeys(matches), start=1):
            try:
                path, size = self._export(match_id)
            except Failed as failed:
                codes.add(failed.code)
                _say(f"{match_id}: {failed.why}")
            else:
                print(path, flush=True)
                _say(f"{number} of {len(matches)}: {match_id}, {size:,} bytes")
        return worst(codes)

    def _export(self, match_id: str) -> tuple[Path, int]:
        path = self._folder / f"{match_id}{SUFFIX}"
        # An id with a folder in it is no id; the service would say so too, but not before we looked there.
        if path.name != f"{match_id}{SUFFIX}" or path.parent != self._folder:
            raise Failed(Exit.UNREADABLE, "no match has such an id")
        if path.exists() and not self._overwrite:
            raise Failed(Exit.WRONG, f"{path} is there already; --force overwrites it")
        data = self._fetched(match_id)
        try:
            found = read(data).replay.match_id
        except NotAReplay as broken:
            raise Failed(Exit.WRONG, f"what the service sent is no replay file: {broken}") from None
        if found != match_id:
            raise Failed(Exit.WRONG, f"the service sent match {found}")
        try:
            write_file(path, data)
        except OSError as failure:
            raise Failed(Exit.WRONG, f"{path}: {failure.strerror}") from None
        return path, len(data)

    def _fetched(self, match_id: str) -> bytes:
        wanted = self._wanted
        try:
            return self._connection.replay(match_id, public_only=wanted.public_only, without_names=wanted.without_names)
        except Expired:
            raise Failed(Exit.WRONG, "the token has expired") from None
        except Lost as lost:
            raise Failed(Exit.UNREADABLE, f"the service does not answer ({lost}); export it again") from None


def _say(words: str) -> None:
    print(f"rollbook export: {words}", file=sys.stderr, flush=True)
