"""The contract of all archives, for a folder and a bucket."""

from __future__ import annotations

import asyncio

import pytest

from rollbook.replay_file.container import LARGEST_FILE
from rollbook.storage.archive.marker import OtherArchive, open_archive, settle
from rollbook.storage.archive.port import Archive, ArchiveUnavailable
from tests.storage.memory import MemoryLog

pytestmark = pytest.mark.asyncio

MATCH = "aaaabbbbccccddddeeeeffff"


async def test_a_file_is_given_back_as_it_was_put(archive: Archive, place: str) -> None:
    """Byte for byte, also for a service that opens the archive later."""
    assert None is await archive.get(MATCH)
    data = bytes(range(256)) * 100
    await archive.put(MATCH, data)
    assert data == await archive.get(MATCH)
    assert data == await open_archive(place).get(MATCH)
    assert None is await archive.get("b" * 24)


async def test_a_file_can_be_replaced_and_its_version_tells(archive: Archive) -> None:
    """Names are erased by replacing the file; readers see the old or the new file, never a mix."""
    await archive.put(MATCH, b"with names")
    await archive.put("b" * 24, b"another")
    before = await archive.versions()
    await archive.put(MATCH, b"no names")
    after = await archive.versions()
    assert b"no names" == await archive.get(MATCH)
    assert {MATCH, "b" * 24} == before.keys() == after.keys()
    assert before[MATCH] != after[MATCH]
    assert before["b" * 24] == after["b" * 24]


async def test_several_that_put_the_same_file_leave_one(archive: Archive, place: str) -> None:
    """Two services may archive a match at the same time."""
    archives = [open_archive(place) for _ in range(4)]
    await asyncio.gather(*[one.put(MATCH, b"the same") for one in archives])
    assert b"the same" == await archive.get(MATCH)
    assert [MATCH] == list(await archive.versions())


async def test_a_mark_is_claimed_once(archive: Archive, place: str) -> None:
    """All concurrent claims return the same mark, and the mark is not listed as a match."""
    assert "" == await archive.mark()
    marks = await asyncio.gather(*[open_archive(place).mark(f"claim-{number}") for number in range(6)])
    assert {await archive.mark()} == set(marks)
    assert marks[0] == await archive.mark("late")
    assert {} == await archive.versions()


async def test_no_match_id_leads_elsewhere(archive: Archive) -> None:
    """An id from a damaged log must not lead out of the archive."""
    for wrong in ("", "../up", "a/b", ".", "A", "a" * 101, "a\0b", "-a"):
        with pytest.raises(ValueError, match="no match of ours"):
            await archive.put(wrong, b"data")
        with pytest.raises(ValueError, match="no match of ours"):
            await archive.get(wrong)


async def test_a_store_knows_its_archive_again(archive: Archive, place: str) -> None:
    """If store or archive has no mark, it gets the other's; different marks are refused."""
    store = MemoryLog()
    mark = await settle(archive, store)
    assert mark == await settle(open_archive(place), store)
    assert mark == await settle(archive, MemoryLog())
    other = MemoryLog()
    await other.archive_mark("another")
    with pytest.raises(OtherArchive, match="another archive"):
        await settle(archive, other)


async def test_an_empty_place_is_not_taken_for_a_known_archive(archive: Archive) -> None:
    """A missing disk looks like an empty folder and must not be filled."""
    store = MemoryLog()
    await store.archive_mark("known")
    with pytest.raises(OtherArchive, match="no archive"):
        await settle(archive, store)
    assert "" == await archive.mark()


async def test_a_file_that_is_far_too_large_is_not_read_into_memory(archive: Archive) -> None:
    """At most one byte beyond the limit is read into memory, or the archive refuses the file."""
    await archive.put(MATCH, bytes(LARGEST_FILE + 1_000))
    try:
        data = await archive.get(MATCH)
    except ArchiveUnavailable:
        return
    assert data is not None
    assert len(data) <= LARGEST_FILE + 1
