"""The places where a service keeps names, opened for a command that runs beside it or without it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from rollbook.server.lobby.archive_index import INDEX_NAME
from rollbook.storage.archive.marker import S3, OtherArchive, open_archive
from rollbook.storage.archive.port import Archive
from rollbook.storage.embedded.data_directory import DataDirectoryInUse
from rollbook.storage.embedded.server import EmbeddedServer, running_url
from rollbook.storage.redis.log import RedisLog


class NoPlace(Exception):
    """A place does not exist; the sentence names it."""


@dataclass(frozen=True, slots=True)
class Place:
    """The places where a service keeps names; None for those that are not available."""

    log: RedisLog | None = None
    archive: Archive | None = None
    index: Path | None = None
    """The index of a data directory."""
    store: Path | None = None
    """The folder of the service's own store."""


@asynccontextmanager
async def open_places(data: Path | None, redis: str | None, archive: str | None) -> AsyncIterator[Place]:
    """Open all available places; raises NoPlace if one does not exist, and the store's exceptions."""
    where = archive if archive is not None or data is None else str(data / "archive")
    index = None if data is None else data / INDEX_NAME
    if redis is None and data is None:
        yield Place(archive=await _archive(where, None))
        return
    async with store_of(data, redis) as log:
        store = data / "store" if redis is None and data is not None else None
        yield Place(log, await _archive(where, log), index, store)


@asynccontextmanager
async def store_of(data: Path | None, redis: str | None) -> AsyncIterator[RedisLog]:
    """The store at a URL or in a data directory, whether or not its service runs; raises NoPlace if there is none."""
    if redis is not None:
        async with _connect(redis) as log:
            yield log
        return
    if data is None or not (data / "store").is_dir():
        raise NoPlace(f"{data} has no store: name the Redis of its service with --redis")
    async with _serve_store(data) as url, _connect(url) as log:
        yield log


@asynccontextmanager
async def _serve_store(data: Path) -> AsyncIterator[str]:
    """The URL of the store in a data directory: that of the running service, or of a server started here."""
    try:
        server = await EmbeddedServer.start(data)
    except DataDirectoryInUse:
        yield running_url(data)
        return
    try:
        yield server.url
    finally:
        await server.stop()


@asynccontextmanager
async def _connect(url: str) -> AsyncIterator[RedisLog]:
    # Relaxed, because the durability of other processes' writes does not matter here.
    log = await RedisLog.connect(url, "relaxed")
    try:
        yield log
    finally:
        await log.close()


def _archive_at(where: str) -> Archive | None:
    """The archive; None for a folder that does not exist, which is not created."""
    is_there = where.startswith(S3) or Path(where).expanduser().is_dir()
    return open_archive(where) if is_there else None


async def _archive(where: str | None, log: RedisLog | None) -> Archive | None:
    """The archive of the store's matches; None if the store never had one. Raises NoPlace or OtherArchive."""
    known = "" if log is None else await log.archive_mark()
    archive = None if where is None else _archive_at(where)
    if archive is None and (known or log is None):
        raise NoPlace(f"{where or 'the archive'}: there is no such folder; --archive names the place of the archive")
    if known and archive is not None and await archive.mark() != known:
        raise OtherArchive(
            f"{archive.where} is not the archive that the finished matches of this store are in: --archive names it"
        )
    return archive
