"""A world that archives finished matches: a theatre with replays and an archive in a folder."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc

from rollbook.server.app import Parts
from rollbook.server.given import Given
from rollbook.server.lobby.archive_index import ArchiveIndex
from rollbook.server.lobby.archivist import Archivist
from rollbook.server.lobby.finished_matches import Finished
from rollbook.storage.archive.log import ArchivedLog
from rollbook.v1 import replay_pb2, replay_pb2_grpc
from tests.server.feeds.watching import Theatre
from tests.server.rpc.talking import PATIENCE_SECONDS, Person


class Keeper(Theatre):
    """A world with an archive; nothing is archived before the test calls the archivist."""

    def __init__(self, folder: Path, **how: Any) -> None:
        """Keep archive and index in this folder."""
        self.folder = folder
        super().__init__(**how)

    def process(self, keys: dict[str, Any] | None = None) -> Parts:
        """A process of the service over the same store and archive, with a new index."""
        self.index_path = Path(tempfile.mkdtemp(dir=self.folder)) / "index.sqlite"
        self.log = ArchivedLog(self.store, None)
        return self.reopened(keys)

    def reopened(self, keys: dict[str, Any] | None = None) -> Parts:
        """A process with the existing index."""
        self.log.index = ArchiveIndex(self.index_path)
        self.finished = Finished(self.log, self.log.index)
        service = super().process(keys)
        self.archivist = self.keeping(service)
        return service

    def given(self, keys: dict[str, Any] | None = None) -> Given:
        """Add the archive."""
        return replace(super().given(keys), finished=self.finished)

    def keeping(self, service: Parts, where: Path | str | None = None) -> Archivist:
        """An archivist that archives this process's matches as soon as they are over."""
        place = str(where or self.folder / "archive")
        return service.archivist(self.log, self.finished, place, after_seconds=0)

    def serve(self, service: Parts, server: grpc.aio.Server) -> None:
        """Serve replays as well."""
        super().serve(service, server)
        self.replays = service.replay_servicer(self.log)
        replay_pb2_grpc.add_ReplayServiceServicer_to_server(self.replays, server)

    async def close(self) -> None:
        """Stop auditing and archiving."""
        await super().close()
        await self.replays.close()
        await self.archivist.close()

    async def over(self, game: str = "cant_stop", **fields: Any) -> tuple[str, list[Person]]:
        """A started match that ended when the first of two players resigned."""
        match_id, people = await self.started(game, **fields)
        await people[0].call("Resign", match_id=match_id)
        return match_id, people

    async def replay(self, person: Person, match_id: str, **fields: Any) -> bytes:
        """The file of a match as this person gets it."""
        stub: Any = replay_pb2_grpc.ReplayServiceStub(self.channel)
        request = replay_pb2.GetReplayRequest(match_id=match_id, **fields)
        parts = [answer.part async for answer in stub.GetReplay(request, metadata=person.metadata)]
        assert all(0 < len(part) <= 65_536 for part in parts)
        return b"".join(parts)

    async def audit(self, person: Person, data: bytes) -> replay_pb2.AuditReplayResponse:
        """The service's audit of a file."""
        stub: Any = replay_pb2_grpc.ReplayServiceStub(self.channel)
        parts = [replay_pb2.AuditReplayRequest(part=data[at : at + 60_000]) for at in range(0, len(data), 60_000)]
        answer: replay_pb2.AuditReplayResponse = await stub.AuditReplay(iter(parts), metadata=person.metadata)
        return answer


def run(scenario: Callable[[Keeper], Awaitable[None]], folder: Path, **how: Any) -> None:
    """Run the scenario in a served world with an archive in this folder."""

    async def main() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS), Keeper(folder, **how).serving() as keeper:
            await scenario(keeper)

    asyncio.run(main())
