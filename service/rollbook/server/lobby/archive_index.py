"""An SQLite index of the archived matches in the data directory, for lists and for names.

The index is derived from the archive's files, compared with them periodically, and rebuilt if it is missing or broken.
Each replica of the service has its own, also with an archive in S3, which can only list names of files.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import structlog

from rollbook.identity.names import plain_name
from rollbook.server.lobby.listed_match import ListedMatch
from rollbook.storage.archive.port import ArchiveUnavailable

FORMAT: Final = 2
INDEX_NAME: Final = "archive-index.sqlite"
"""The file's name in a data directory."""

_SCHEMA: Final = f"""
    PRAGMA user_version = {FORMAT};
    CREATE TABLE matches (
        match_id TEXT PRIMARY KEY, version TEXT NOT NULL, opened_ms INTEGER NOT NULL,
        game TEXT NOT NULL, state INTEGER NOT NULL, listed BLOB NOT NULL
    );
    CREATE INDEX by_place ON matches (opened_ms DESC, match_id DESC);
    CREATE TABLE seats (match_id TEXT NOT NULL, name TEXT NOT NULL);
    CREATE INDEX by_match ON seats (match_id);
    CREATE INDEX by_name ON seats (name);
"""

_ORDERS: Final = """
    CREATE INDEX IF NOT EXISTS by_game ON matches (game, opened_ms DESC, match_id DESC);
    CREATE INDEX IF NOT EXISTS by_state ON matches (state, opened_ms DESC, match_id DESC);
    CREATE INDEX IF NOT EXISTS by_game_and_state ON matches (game, state, opened_ms DESC, match_id DESC);
"""
"""Filtered pages read only their own rows; an index file of an older version gets these indexes when it is opened."""

T = TypeVar("T")
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Wanted:
    """The filter of a list; empty fields match everything."""

    game: str = ""
    state: int = 0
    player: str = ""


class ArchiveIndex:
    """The index file; every method may be called on any thread."""

    def __init__(self, path: Path) -> None:
        """Open the index, or create an empty one."""
        self._path = path
        self.is_complete = False
        self._one_at_a_time = threading.Lock()
        self._database = self._open()

    def close(self) -> None:
        """Close the file."""
        with self._one_at_a_time:
            self._database.close()

    def put(self, listed: ListedMatch, version: str) -> None:
        """Insert or replace a match."""
        summary = listed.summary
        row = (
            summary.match_id,
            version,
            summary.opened_ms,
            summary.game,
            int(summary.state),
            listed.write(),
        )
        names = sorted({plain_name(seat.name) for seat in summary.seats if seat.taken and seat.name})

        def note(database: sqlite3.Connection) -> None:
            _forget(database, summary.match_id)
            database.execute("INSERT INTO matches VALUES (?, ?, ?, ?, ?, ?)", row)
            database.executemany("INSERT INTO seats VALUES (?, ?)", [(summary.match_id, name) for name in names])

        self._do(note)

    def remove(self, match_id: str) -> None:
        """Remove a match whose file is gone."""
        self._do(lambda database: _forget(database, match_id))

    def scrub(self) -> None:
        """Erase deleted rows from the file and its journal; raises ArchiveUnavailable while another process reads."""

        def write_anew(database: sqlite3.Connection) -> None:
            database.execute("VACUUM")
            (is_held, *_) = database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if is_held:
                raise ArchiveUnavailable("another process reads the index of the archive")

        self._do(write_anew)

    def versions(self) -> dict[str, str]:
        """The version of the archive file from which each row was made, by match id."""
        return self._do(lambda database: dict(database.execute("SELECT match_id, version FROM matches").fetchall()))

    def find(self, match_id: str) -> ListedMatch | None:
        """The row of a match; None if the index does not have it."""
        query = "SELECT listed FROM matches WHERE match_id = ?"
        row = self._do(lambda database: database.execute(query, (match_id,)).fetchone())
        return None if row is None else ListedMatch.read(row[0])

    def page(self, wanted: Wanted, before: tuple[int, str] | None, limit: int) -> list[ListedMatch]:
        """Up to `limit` matches after the place `before`, most recently opened first."""
        conditions, values = ["1"], list[object]()
        for condition, value in (
            ("(opened_ms, match_id) < (?, ?)", before),
            ("game = ?", wanted.game),
            ("state = ?", wanted.state),
            ("match_id IN (SELECT match_id FROM seats WHERE name = ?)", wanted.player),
        ):
            if value:
                conditions.append(condition)
                values += value if isinstance(value, tuple) else (value,)
        query = (
            f"SELECT listed FROM matches WHERE {' AND '.join(conditions)}"  # noqa: S608 - constant conditions
            " ORDER BY opened_ms DESC, match_id DESC LIMIT ?"
        )
        rows = self._do(lambda database: database.execute(query, (*values, limit)).fetchall())
        return [ListedMatch.read(row[0]) for row in rows]

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work`; a broken index is replaced by an empty one, which the next comparison fills from the files."""
        with self._one_at_a_time:
            try:
                with self._database:
                    return work(self._database)
            except sqlite3.DatabaseError as broken:
                if isinstance(broken, sqlite3.ProgrammingError) or broken.sqlite_errorcode == sqlite3.SQLITE_BUSY:
                    # The index was closed, or another process of this data directory is slow; the file is not broken.
                    raise ArchiveUnavailable(f"the index of the archive cannot be used: {broken}") from broken
                _log.warning("the index of the archive is broken and will be rebuilt", why=str(broken))
            try:
                self._begin_anew()
                with self._database:
                    return work(self._database)
            except (sqlite3.Error, OSError) as failure:
                raise ArchiveUnavailable(f"the index of the archive cannot be made: {failure}") from failure

    def _open(self) -> sqlite3.Connection:
        database = self._connect()
        try:
            _prepare(database)
            (found,) = database.execute("PRAGMA user_version").fetchone()
            if found == FORMAT:
                database.executescript(_ORDERS)
                return database
        except sqlite3.DatabaseError:
            pass
        database.close()
        return self._make()

    def _connect(self) -> sqlite3.Connection:
        # SQLite creates its other files with the mode of this file.
        self._path.touch(0o600)
        self._path.chmod(0o600)
        return sqlite3.connect(self._path, check_same_thread=False)

    def _begin_anew(self) -> None:
        self.is_complete = False
        self._database.close()
        self._database = self._make()

    def _make(self) -> sqlite3.Connection:
        for file in self._files():
            file.unlink(missing_ok=True)
        database = self._connect()
        _prepare(database)
        database.executescript(_SCHEMA + _ORDERS)
        return database

    def _files(self) -> Iterator[Path]:
        for suffix in ("", "-wal", "-shm"):
            yield self._path.with_name(self._path.name + suffix)


def _prepare(database: sqlite3.Connection) -> None:
    database.execute("PRAGMA journal_mode = WAL")
    # Rows that a crash loses are made again.
    database.execute("PRAGMA synchronous = NORMAL")
    # Overwrites deleted rows with zeros, so that an erased name cannot be recovered from the file.
    database.execute("PRAGMA secure_delete = ON")


def _forget(database: sqlite3.Connection, match_id: str) -> None:
    for table in ("matches", "seats"):
        database.execute(f"DELETE FROM {table} WHERE match_id = ?", (match_id,))  # noqa: S608 - constant names
