"""Lists of finished matches: lobby and archive form one list, even without the index of the archive."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from rollbook.server.lobby import match_listing
from rollbook.storage.archive.port import ArchiveUnavailable
from rollbook.v1 import match_pb2
from tests.server.lobby.archives import Keeper, run
from tests.server.rpc.talking import Person


async def listed(person: Person, **filters: Any) -> list[str]:
    """The ids of all pages of a list."""
    found: list[str] = []
    token = ""
    while True:
        page = await person.call("ListMatches", page_token=token, **filters)
        found += [match.match_id for match in page.matches]
        token = page.next_page_token
        if not token:
            return found


async def archived(keeper: Keeper) -> None:
    """Archive everything that is over."""
    await keeper.archivist.settle()
    await keeper.archivist.look()


def test_open_running_finished_and_archived_matches_are_one_list(tmp_path: Path) -> None:
    """The list is in the order of opening, page by page, while matches move to the archive.

    A match that is in lobby and archive at the same time comes once.
    """

    async def scenario(keeper: Keeper) -> None:
        one = keeper.person("p0")
        opened: list[str] = []
        for number in range(12):
            keeper.clock.ms += number % 2
            match_id, _ = await (keeper.over() if number % 3 else keeper.started())
            opened.append(match_id)
            if number == 6:
                await archived(keeper)
        first = await one.call("ListMatches", page_size=5)
        await keeper.archivist.look()
        second = await one.call("ListMatches", page_size=5, page_token=first.next_page_token)
        third = await one.call("ListMatches", page_size=5, page_token=second.next_page_token)
        seen = [match.match_id for page in (first, second, third) for match in page.matches]
        assert sorted(opened) == sorted(seen)
        assert "" == third.next_page_token
        twice = await keeper.finished.find(opened[1])
        assert twice is not None
        keeper.log.store._lobby[opened[1]] = twice.write()
        assert seen == await listed(one)

    run(scenario, tmp_path)


def test_lists_of_what_is_over_are_filtered_like_all_others(tmp_path: Path) -> None:
    """The filters are game, state, seat and name, before and after archiving; each summary equals that of GetMatch."""

    async def scenario(keeper: Keeper) -> None:
        finished, people = await keeper.over()
        other = keeper.person("other")
        aborted = (await other.open("raffzahn", 3)).match_id
        await other.call("TakeSeat", match_id=aborted, name="Zoë")
        await keeper.abort(aborted)
        for _ in range(2):
            assert [finished] == await listed(people[0], mine=True)
            assert [aborted] == await listed(other, mine=True)
            assert [finished] == await listed(other, state=match_pb2.MATCH_STATE_FINISHED)
            assert [aborted] == await listed(other, state=match_pb2.MATCH_STATE_ABORTED)
            assert [] == await listed(other, state=match_pb2.MATCH_STATE_RUNNING)
            assert [aborted] == await listed(other, game="raffzahn")
            assert [aborted] == await listed(people[0], player="Zoe\u0308")
            for summary in (await other.call("ListMatches")).matches:
                assert summary == (await other.look(summary.match_id)).summary
            await archived(keeper)

    run(scenario, tmp_path)


def test_private_matches_that_are_over_are_listed_for_those_who_played(tmp_path: Path) -> None:
    """Strangers do not learn of private matches, not even from an empty page with a token for more."""

    async def scenario(keeper: Keeper) -> None:
        public, _ = await keeper.over()
        for _ in range(3):
            private, people = await keeper.over(is_private=True)
        stranger = keeper.person("stranger")
        for _ in range(2):
            assert private in await listed(people[0])
            page = await stranger.call("ListMatches", page_size=1)
            assert ([public], "") == ([match.match_id for match in page.matches], page.next_page_token)
            await archived(keeper)

    run(scenario, tmp_path)


def test_a_page_that_would_take_too_long_ends_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page has a token for more, so that no single call makes the service read the whole archive."""
    monkeypatch.setattr(match_listing, "LOOKED_AT_LEAST", 3)
    monkeypatch.setattr(match_listing, "LOOKED_A_MATCH", 0)
    monkeypatch.setattr(match_listing, "CHUNK", 2)

    async def scenario(keeper: Keeper) -> None:
        mine = (await keeper.person("other").open()).match_id
        await keeper.person("other").call("TakeSeat", match_id=mine)
        await keeper.abort(mine)
        for _ in range(8):
            keeper.clock.ms += 1
            await keeper.over()
        await archived(keeper)
        page = await keeper.person("other").call("ListMatches", mine=True)
        assert [] == list(page.matches)
        assert page.next_page_token
        assert [mine] == await listed(keeper.person("other"), mine=True)

    run(scenario, tmp_path)


@pytest.mark.parametrize("damage", ["missing", "broken", "empty", "a row too much", "a row changed"])
def test_the_index_is_made_anew_from_the_files(damage: str, tmp_path: Path) -> None:
    """The index has only data of the archive, so the lists are the same after a rebuild."""

    async def scenario(keeper: Keeper) -> None:
        for _ in range(3):
            keeper.clock.ms += 1
            _, people = await keeper.over()
        await archived(keeper)
        await keeper.finished.compare()
        before = (await people[0].call("ListMatches")).matches
        keeper.finished.close()
        path = keeper.index_path
        if damage == "missing":
            path.unlink()
        elif damage == "broken":
            path.write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 64)
        else:
            with sqlite3.connect(path) as database:
                if damage == "empty":
                    database.execute("DELETE FROM matches")
                elif damage == "a row too much":
                    database.execute(
                        "INSERT INTO matches SELECT 'gone', 'v', 1, game, state, listed FROM matches LIMIT 1"
                    )
                else:
                    database.execute("UPDATE matches SET version = 'old', listed = x'00000000'")
            database.close()
        again = keeper.reopened()
        async with keeper.serving(again):
            await keeper.archivist.settle()
            await keeper.archivist.look()
            assert before == (await keeper.person("p0").call("ListMatches")).matches

    run(scenario, tmp_path)


def test_nobody_but_its_owner_reads_the_index(tmp_path: Path) -> None:
    """The index and the database's other files hold the names of all players."""

    async def scenario(keeper: Keeper) -> None:
        await keeper.over()
        await archived(keeper)
        files = list(keeper.index_path.parent.glob(f"{keeper.index_path.name}*"))
        assert keeper.index_path in files
        assert {0o600} == {file.stat().st_mode & 0o777 for file in files}

    run(scenario, tmp_path)


def test_an_index_that_breaks_under_way_mends_itself(tmp_path: Path) -> None:
    """Lists are short for a moment, but never an error."""

    async def scenario(keeper: Keeper) -> None:
        match_id, people = await keeper.over()
        await archived(keeper)
        with sqlite3.connect(keeper.index_path) as database:
            database.execute("DROP TABLE matches")
        database.close()
        assert [] == await listed(people[0])
        await keeper.finished.compare()
        assert [match_id] == await listed(people[0])

    run(scenario, tmp_path)


def test_an_index_that_is_held_by_another_is_not_thrown_away(tmp_path: Path) -> None:
    """Two services may share a data directory; a process that waits too long for the lock tries again later."""

    async def scenario(keeper: Keeper) -> None:
        match_id, people = await keeper.over()
        await archived(keeper)
        keeper.finished._index._database.execute("PRAGMA busy_timeout = 10")
        other = sqlite3.connect(keeper.index_path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(ArchiveUnavailable, match="locked"):
            await keeper.finished.take(match_id, "other")
        other.execute("ROLLBACK")
        other.close()
        assert [match_id] == await listed(people[0])
        keeper.finished.close()
        with pytest.raises(ArchiveUnavailable, match="closed"):
            await keeper.finished.find(match_id)

    run(scenario, tmp_path)


def test_a_file_in_the_archive_that_cannot_be_read_stops_nothing(tmp_path: Path) -> None:
    """The other matches are listed; the unreadable file is read again when it has changed."""

    async def scenario(keeper: Keeper) -> None:
        match_id, people = await keeper.over()
        await archived(keeper)
        good = (tmp_path / "archive" / f"{match_id}.rollbook").read_bytes()
        broken = tmp_path / "archive" / f"{'a' * 24}.rollbook"
        broken.write_bytes(good)
        await keeper.finished.compare()
        assert 0 == await keeper.finished.compare()
        assert [match_id] == await listed(people[0])
        (tmp_path / "archive" / f"{match_id}.rollbook").unlink()
        assert 1 == await keeper.finished.compare()
        assert [] == await listed(people[0])

    run(scenario, tmp_path)


def test_what_another_service_archived_is_listed_here_too(tmp_path: Path) -> None:
    """It is listed as soon as it has left the shared lobby."""

    async def scenario(keeper: Keeper) -> None:
        match_id, people = await keeper.over()
        await archived(keeper)
        other = Keeper(tmp_path, log=keeper.log.store)
        other.clock.ms = keeper.clock.ms
        await other.archivist.settle()
        second, _ = await keeper.over()
        await other.service.lobby.everything()
        other.archivist._after_ms = 3_600_000
        await other.archivist.look()
        await keeper.archivist.look()
        await other.archivist.look()
        async with other.serving():
            assert {match_id, second} == set(await listed(other.person("p0")))
        assert people

    run(scenario, tmp_path)
