"""Exported matches: saved as files, and audited by their players."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from rollbook.match.chain import sign_head
from rollbook.replay_file.container import read
from rollbook_clients.sdk import Match, NotFound, Unreachable
from rollbook_replays.audit.verdicts import Check, Verdict
from tests.clients.sdk.proxy import Pair, Proxy
from tests.clients.sdk.tables import SEED, impatient, play, running, table, tables
from tests.server.lobby.archives import Keeper, run

Scenario = Callable[[Keeper, Proxy, list[Match]], Awaitable[None]]


def after_a_match(scenario: Scenario, folder: Path, game: str = "allie_gator") -> None:
    """Let two players play a match to its end through a proxy, then run the scenario."""

    async def main(keeper: Keeper) -> None:
        async with (
            Proxy(keeper.port) as proxy,
            tables(keeper, "Anna", "Ben", through=proxy.address) as players,
        ):
            matches = await running(players, game)
            await asyncio.gather(*(play(match, Random(SEED)) for match in matches))
            await scenario(keeper, proxy, matches)

    run(main, folder)


def test_a_player_verifies_the_match_that_was_played(tmp_path: Path) -> None:
    """With the published keys and the kept head the verdict is EXACT and nothing is missing."""

    async def scenario(_keeper: Keeper, _proxy: Proxy, matches: list[Match]) -> None:
        for match in matches:
            audited = await match.verify()
            assert (Verdict.EXACT, match.id) == (audited.verdict, audited.match_id)

    after_a_match(scenario, tmp_path)


def test_a_service_that_rewrote_a_match_is_convicted_by_its_player(tmp_path: Path) -> None:
    """The rewritten log is consistent in itself, but contradicts the head that the player kept."""

    async def scenario(keeper: Keeper, _proxy: Proxy, matches: list[Match]) -> None:
        match = matches[0]
        assert match.head is not None
        sequence = match.head.sequence + 1
        signature = sign_head(keeper.head_key, match.id, sequence, bytes(32))
        match._witness._heads.keep(replace(match.head, sequence=sequence, link=bytes(32), signature=signature))
        audited = await match.verify()
        assert Verdict.DIVERGED == audited.verdict
        assert audited.divergence is not None
        assert Check.HEADS == audited.divergence.check

    after_a_match(scenario, tmp_path)


def test_a_match_is_exported_whole_though_the_connection_is_cut(tmp_path: Path) -> None:
    """The SDK repeats the call until the file is complete, and only then gives it its name."""
    home = tmp_path / "home"
    home.mkdir()

    async def scenario(_keeper: Keeper, proxy: Proxy, matches: list[Match]) -> None:
        whole = (await matches[1].export(tmp_path / "other.rollbook")).read_bytes()
        proxy.is_mute = True
        exporting = asyncio.create_task(matches[0].export(home / "match.rollbook"))
        await asyncio.wait({exporting}, timeout=0.1)
        assert [] == list(home.iterdir())
        proxy.is_mute = False
        proxy.each(Pair.cut)
        path = await exporting
        assert read(whole).replay == read(path.read_bytes()).replay
        assert [path] == list(home.iterdir())
        assert stat.S_IRUSR | stat.S_IWUSR == stat.S_IMODE(path.stat().st_mode)

    after_a_match(scenario, tmp_path)


def test_names_are_left_out_of_a_file_if_asked(tmp_path: Path) -> None:
    """Exported without names, the file does not reveal the players."""

    async def scenario(_keeper: Keeper, _proxy: Proxy, matches: list[Match]) -> None:
        named = await matches[0].export(tmp_path / "named.rollbook")
        nameless = await matches[0].export(tmp_path / "nameless.rollbook", without_names=True)
        assert ("Anna", "Ben") == read(named.read_bytes()).replay.names
        assert () == read(nameless.read_bytes()).replay.names

    after_a_match(scenario, tmp_path, "cant_stop")


def test_a_match_that_cannot_be_had_leaves_no_file(tmp_path: Path) -> None:
    """Neither an unknown match nor one whose service went away leaves a file."""
    home = tmp_path / "home"
    home.mkdir()

    async def scenario(keeper: Keeper, proxy: Proxy, matches: list[Match]) -> None:
        async with table(keeper, "Cora", through=proxy.address, patience=impatient(call=4.0)) as cora:
            with pytest.raises(NotFound):
                await cora.match("a" * 24).export(home / "none.rollbook")
            proxy.upstream = 1
            proxy.each(Pair.cut)
            with pytest.raises(Unreachable):
                await cora.match(matches[0].id).export(home / "gone.rollbook")
        assert [] == list(home.iterdir())

    after_a_match(scenario, tmp_path, "cant_stop")
