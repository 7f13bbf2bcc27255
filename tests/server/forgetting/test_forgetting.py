"""How one process forgets a name: nothing that it read before is kept or written afterwards."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from rollbook.server.forgetting.erasure import Selection
from rollbook.server.lobby.archive_index import ArchiveIndex
from rollbook.server.lobby.listed_match import ListedMatch
from rollbook.server.lobby.name_guard import NameUses
from rollbook.storage.archive.port import ArchiveUnavailable
from rollbook.storage.port import Appended, LobbyEntry
from rollbook.v1.match_pb2 import MatchSummary
from tests.server.lobby.archives import Keeper, run

GONE = "Xanthippe-7f3 of Athens"


def erase(keeper: Keeper, match_id: str) -> None:
    """Erase the names of a match in the store's lobby, as another process does."""
    lobby = keeper.log.store._lobby
    listed = ListedMatch.read(lobby[match_id])
    for seat in listed.summary.seats:
        seat.name = ""
    lobby[match_id] = listed.write()


@pytest.mark.asyncio
async def test_forgetting_waits_for_those_who_began_before_and_for_nobody_else() -> None:
    """Later users read the current names; several processes may forget at once."""
    uses = NameUses()
    await uses.begin_anew()
    with uses.use():
        first = asyncio.create_task(uses.begin_anew())
        await asyncio.sleep(0)
        with uses.use():
            second = asyncio.create_task(uses.begin_anew())
            await asyncio.sleep(0)
            assert [False, False] == [first.done(), second.done()]
        later = uses.use()
        later.__enter__()
        await asyncio.sleep(0)
        assert not first.done()
    async with asyncio.timeout(10):
        await asyncio.gather(first, second)
    later.__exit__(None, None, None)


def test_a_name_that_the_store_has_no_more_is_not_written_back(tmp_path: Path) -> None:
    """Neither an event appended from memory nor the file of the match brings the name back."""

    async def scenario(keeper: Keeper) -> None:
        match_id, people = await keeper.started()
        names = [seat.name for seat in (await people[0].look(match_id)).summary.seats]
        assert ["P0", "P1"] == names
        erase(keeper, match_id)
        await keeper.service.lobby.forget()
        assert ["", ""] == [seat.name for seat in (await people[0].look(match_id)).summary.seats]
        await people[0].call("Resign", match_id=match_id)
        listed = ListedMatch.read(keeper.log.store._lobby[match_id])
        assert ["", ""] == [seat.name for seat in listed.summary.seats]

    run(scenario, tmp_path)


def test_forgetting_waits_for_an_append_that_still_carries_names(tmp_path: Path) -> None:
    """Until the append has succeeded or failed, the lobby may still change."""

    async def scenario(keeper: Keeper) -> None:
        match_id, people = await keeper.started()
        store, lobby = keeper.log.store, keeper.service.lobby
        reached, go_on = asyncio.Event(), asyncio.Event()
        append = store.append

        async def slowly(*words: object, lobby: LobbyEntry | None = None, **terms: object) -> Appended:
            if lobby is not None:
                reached.set()
                await go_on.wait()
            appended: Appended = await append(*words, lobby=lobby, **terms)
            return appended

        store.append = slowly
        resigning = asyncio.create_task(people[0].call("Resign", match_id=match_id))
        await reached.wait()
        erase(keeper, match_id)
        forgetting = asyncio.create_task(lobby.forget())
        await people[1].look(match_id)
        assert not forgetting.done()
        go_on.set()
        await asyncio.gather(resigning, forgetting)
        # A later erasure finds the name that the append wrote.
        assert "P0" == ListedMatch.read(store._lobby[match_id]).summary.seats[0].name

    run(scenario, tmp_path)


def test_the_archivist_takes_no_names_along_that_were_forgotten_on_its_way(tmp_path: Path) -> None:
    """The archivist archives one match after the other, and reads the lobby again before the second."""

    async def scenario(keeper: Keeper) -> None:
        await keeper.archivist.settle()
        matches = [(await keeper.over())[0] for _ in range(2)]
        forgetting: list[asyncio.Task[None]] = []

        def step(name: str) -> None:
            if name == "verified" and not forgetting:
                for match_id in matches:
                    erase(keeper, match_id)
                forgetting.append(asyncio.create_task(keeper.service.lobby.forget()))

        archivist = keeper.service.archivist(
            keeper.log, keeper.finished, str(tmp_path / "archive"), after_seconds=0, step=step
        )
        await archivist.settle()
        await archivist.look()
        await asyncio.gather(*forgetting)
        await archivist.look()
        told = {match_id: await keeper.finished.find(match_id) for match_id in matches}
        assert all(told.values())
        named = [match_id for match_id, found in told.items() if found and found.summary.seats[0].name]
        assert 1 == len(named)

    run(scenario, tmp_path)


def test_no_byte_of_the_index_has_a_name_that_its_file_has_no_more(tmp_path: Path) -> None:
    """Neither the database nor its journal has it.

    While another connection reads, scrubbing raises ArchiveUnavailable.
    """
    path = tmp_path / "index.sqlite"
    index = ArchiveIndex(path)
    for number in range(200):
        summary = MatchSummary(match_id=f"match-{number}", game="cant_stop", opened_ms=number)
        summary.seats.add(taken=True, name=GONE if number % 3 else "Theodora")
        index.put(ListedMatch(summary, b"", (b"p" * 16,)), "1")
    for number in range(200):
        summary = MatchSummary(match_id=f"match-{number}", game="cant_stop", opened_ms=number)
        summary.seats.add(taken=True, name="" if number % 3 else "Theodora")
        index.put(ListedMatch(summary, b"", (b"p" * 16,)), "2")
    reader = sqlite3.connect(path)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM matches").fetchone()
    with pytest.raises(ArchiveUnavailable):
        index.scrub()
    reader.close()
    index.scrub()
    data = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert (True, False) == (b"Theodora" in data, GONE.encode() in data)
    index.close()


def test_without_its_archive_a_process_does_not_say_that_it_has_forgotten(tmp_path: Path) -> None:
    """The process's index may have names that it cannot compare with the files of the archive."""

    async def scenario(keeper: Keeper) -> None:
        with pytest.raises(ArchiveUnavailable):
            await keeper.finished.forget()

    run(scenario, tmp_path)


def test_a_selection_takes_names_and_not_seats_without_one() -> None:
    """A match selects all its named seats, a name only exact matches, a reference every seat of that player."""
    names, players = ["Anna", "", "anna"], [b"1", b"2", b"3"]
    assert {0, 2} == Selection(frozenset({"m"})).seats("m", names, players)
    assert set() == Selection(frozenset({"m"})).seats("other", names, players)
    assert {2} == Selection(frozenset(), "anna").seats("m", names, players)
    assert {0} == Selection(frozenset(), None, lambda _match: b"1").seats("m", names, players)
    assert set() == Selection(frozenset(), None, lambda _match: b"2").seats("m", names, players)


def test_a_name_is_erased_where_a_table_has_numbered_it() -> None:
    """Without the number all of that name are meant, with it exactly one."""
    names, players = ["Tom", "Tom (2)", "Anna", "Tomas"], [b"1", b"2", b"3", b"4"]
    assert {0, 1} == Selection(frozenset(), "Tom").seats("m", names, players)
    assert {1} == Selection(frozenset(), "Tom (2)").seats("m", names, players)
