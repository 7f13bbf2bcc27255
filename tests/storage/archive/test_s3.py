"""The archive in a bucket: all matches of a service, and a bucket that is unavailable."""

from __future__ import annotations

from pathlib import Path

import grpc
import pytest

from rollbook.storage.archive.marker import open_archive
from rollbook.storage.archive.port import ArchiveUnavailable
from tests.ports import free_port
from tests.server.lobby.archives import Keeper, run
from tests.server.rpc.talking import refusal
from tests.storage.archive.conftest import s3_environment, s3_running


def test_matches_go_to_a_bucket_and_are_read_from_there(s3_place: str, tmp_path: Path) -> None:
    """State, replay and list work with nothing left in the store."""

    async def scenario(keeper: Keeper) -> None:
        match_id, people = await keeper.over("allie_gator")
        stored = await keeper.log.read(match_id, 0, 1_000)
        look, replay = await people[0].look(match_id), await keeper.replay(people[0], match_id)
        archivist = keeper.keeping(keeper.service, s3_place)
        await archivist.settle()
        await archivist.look()
        keeper.log.store._streams.clear()
        assert stored == await keeper.log.read(match_id, 0, 1_000)
        assert look == await people[0].look(match_id)
        assert replay == await keeper.replay(people[0], match_id)
        assert [look.summary] == list((await people[0].call("ListMatches")).matches)

    run(scenario, tmp_path)


def test_a_bucket_that_is_away_or_not_there_is_unavailable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Meanwhile matches wait in the store, and archived ones are refused for now; afterwards archiving continues."""

    async def scenario(keeper: Keeper) -> None:
        for name, value in s3_environment(f"http://127.0.0.1:{free_port()}").items():
            monkeypatch.setenv(name, value)
        archivist = keeper.keeping(keeper.service, "s3://matches/away")
        first, people = await keeper.over()
        await archivist.settle()
        await archivist.look()
        assert first in await keeper.store.lobby()
        keeper.clock.ms += 60_000
        with s3_running() as address:
            monkeypatch.setenv("AWS_ENDPOINT_URL", address)
            await archivist.look()
            assert first not in await keeper.store.lobby()
            with pytest.raises(ArchiveUnavailable, match="cannot be read"):
                await open_archive("s3://no-such-bucket").versions()
        keeper.log._kept.clear()
        told = await refusal(people[0].look(first))
        assert (grpc.StatusCode.UNAVAILABLE, "ARCHIVE_UNAVAILABLE") == (told.code, told.reason)

    run(scenario, tmp_path)
