"""`kill -9` at every step of archiving: the match stays whole in at least one place, and the next start finishes."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rollbook.replay_file.container import NotAReplay
from rollbook.storage.archive.log import ArchivedLog, entries_of, whole
from rollbook.storage.archive.marker import open_archive
from rollbook.storage.embedded.server import find_server
from rollbook.storage.redis.log import RedisLog
from tests.server.lobby.archives import Keeper
from tests.storage.servers import running

STEPS = [
    "half written",
    "written",
    "renamed",
    "synced",
    "filed",
    "verified",
    "indexed",
    "trimmed",
    "unlisted",
]
ROOT = Path(__file__).parents[3]


def archivist(url: str, folder: Path, *step: str) -> int:
    """Run the archivist; return its exit code."""
    words = [sys.executable, "-m", "tests.server.process.dying", url, str(folder), *step]
    return subprocess.run(words, cwd=ROOT, timeout=60, check=False).returncode


def in_the_archive(folder: Path, match_id: str) -> bool:
    """Whether the archive has the whole match."""
    try:
        whole((folder / "archive" / f"{match_id}.rollbook").read_bytes(), match_id)
    except (FileNotFoundError, NotAReplay):
        return False
    return True


@pytest.mark.parametrize("step", STEPS)
def test_killed_at_this_step_nothing_is_lost(step: str, tmp_path: Path) -> None:
    """The log has every entry or the archive the whole file; after the next start it is only in the archive."""

    async def killed(url: str) -> None:
        log = await RedisLog.connect(url)
        async with Keeper(tmp_path, log=log).serving() as keeper:
            await keeper.archivist.settle()
            match_id, _ = await keeper.over("allie_gator")
            expected = await log.read(match_id, 0, 10_000)
        assert -signal.SIGKILL == await asyncio.to_thread(archivist, url, tmp_path, step)
        in_the_log = expected == await log.read(match_id, 0, 10_000)
        assert in_the_log or in_the_archive(tmp_path, match_id)
        reading = ArchivedLog(log, open_archive(str(tmp_path / "archive")))
        assert expected == await reading.read(match_id, 0, 10_000)
        assert 0 == await asyncio.to_thread(archivist, url, tmp_path)
        assert [] == await log.read(match_id)
        assert match_id not in await log.lobby()
        data = (tmp_path / "archive" / f"{match_id}.rollbook").read_bytes()
        assert expected == entries_of(whole(data, match_id))
        assert expected == await ArchivedLog(log, reading.archive).read(match_id, 0, 10_000)
        await log.close()

    with running(find_server(), tmp_path / "store") as server:
        asyncio.run(killed(server.url))
