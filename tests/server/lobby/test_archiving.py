"""Finished matches move to the archive, and readers do not notice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.identity.tokens import Role
from rollbook.match.chain import Entry, link
from rollbook.replay_file.container import read, write
from rollbook.storage.archive.log import whole
from rollbook.storage.archive.port import ArchiveUnavailable
from rollbook.storage.port import Conflict
from rollbook.v1 import match_pb2
from rollbook.v1.events_pb2 import ABORT_REASON_LOG_LOST, Event
from rollbook.v1.table_pb2 import Position
from tests.server.lobby.archives import Keeper, run
from tests.server.rpc.talking import Person, refusal, some_choice


async def everything(keeper: Keeper, match_id: str, asking: Person, made: dict[str, Any]) -> dict[str, Any]:
    """All that can be read of a finished match: state, feeds from every position, lists, replay, a retry."""
    stored = await keeper.stored(match_id)
    feeds = []
    for sequence in range(len(stored) + 1):
        watch = keeper.watch(asking, match_id, position=await keeper.position(match_id, sequence))
        await watch.rest()
        feeds.append([frame.SerializeToString(deterministic=True) for frame in watch.frames])
    return {
        "events": stored,
        "state": await asking.look(match_id),
        "feeds": feeds,
        "list": list((await asking.call("ListMatches")).matches),
        "replay": await keeper.replay(asking, match_id),
        "retry": await asking.call("Resign", match_id=match_id, **made),
    }


@pytest.mark.parametrize("game", ["cant_stop", "allie_gator"])
def test_every_read_is_the_same_live_caught_up_and_archived(game: str, tmp_path: Path) -> None:
    """All bytes are equal: from the log, from the file after trimming, from the file alone, after a restart."""

    async def scenario(keeper: Keeper) -> None:
        match_id, people = await keeper.started(game)
        one = people[0]
        live = keeper.watch(one, match_id)
        for _ in range(3):
            person, look = await keeper.awaited(match_id, people)
            await person.choose(match_id, some_choice(look.legal), keeper.check_head(look.head))
        made = {"request_id": "give-up-1"}
        await one.call("Resign", match_id=match_id, **made)
        await live.rest()
        before = await everything(keeper, match_id, one, made)
        assert before["events"] == live.told
        await keeper.archivist.settle()
        await keeper.archivist.look()
        assert [] == await keeper.log.store.read(match_id)
        assert match_id not in await keeper.store.lobby()
        assert before == await everything(keeper, match_id, one, made)
        keeper.clock.ms += 8 * 24 * 3_600_000
        assert 0 == await keeper.log.store.head(match_id)
        service = keeper.process()
        async with keeper.serving(service):
            await keeper.archivist.settle()
            again = Person(keeper, keeper.channel, one.sub, keeper.token(one.sub))
            assert before == await everything(keeper, match_id, again, made)

    run(scenario, tmp_path)


def test_the_file_has_everything_that_the_log_had(tmp_path: Path) -> None:
    """The file has the events, their hidden parts, the secret and the names, signed by the right key."""

    async def scenario(keeper: Keeper) -> None:
        match_id, _ = await keeper.over("allie_gator")
        stored = await keeper.log.read(match_id, 0, 10_000)
        await keeper.archivist.settle()
        await keeper.archivist.look()
        file = read((tmp_path / "archive" / f"{match_id}.rollbook").read_bytes())
        assert [entry.event for entry in stored] == list(file.replay.events)
        hidden = {number: entry.private for number, entry in enumerate(stored[1:], start=2) if entry.private}
        assert hidden
        assert hidden == file.replay.private
        assert ("P0", "P1") == file.replay.names
        assert None is file.replay.perspective
        assert file.file.holds(keeper.replay_key.public_key())
        assert len(stored) == file.replay.heads[-1].sequence
        assert stored == await keeper.log.read(match_id, 0, 10_000)

    run(scenario, tmp_path)


def test_nobody_carries_on_behind_an_archived_match_or_begins_it_again(tmp_path: Path) -> None:
    """Stale appends conflict while the store still remembers the length, and when only the archive does."""

    async def scenario(keeper: Keeper) -> None:
        match_id, people = await keeper.over()
        head = await keeper.log.head(match_id)
        await keeper.archivist.settle()
        await keeper.archivist.look()
        for _ in range(2):
            for expected in (0, head - 1):
                result = await keeper.log.append(match_id, expected, [Entry(b"stale")])
                assert isinstance(result, Conflict)
            assert head == await keeper.log.head(match_id)
            assert "MATCH_SEALED" == (await refusal(people[1].call("Resign", match_id=match_id))).reason
            keeper.clock.ms += 8 * 24 * 3_600_000 // 10
            keeper.log.store._streams.clear()

    run(scenario, tmp_path)


def test_opening_is_retried_for_ever(tmp_path: Path) -> None:
    """A retried OpenMatch finds its match in the archive and opens no second one."""

    async def scenario(keeper: Keeper) -> None:
        one = keeper.person("one")
        opened = await one.open(request_id="open-it-1")
        await keeper.abort(opened.match_id)
        await keeper.archivist.settle()
        await keeper.archivist.look()
        keeper.log.store._streams.clear()
        async with keeper.serving(keeper.process()):
            await keeper.archivist.settle()
            assert opened == await keeper.person("one").open(request_id="open-it-1")
            other = await refusal(keeper.person("one").open("raffzahn", 3, request_id="open-it-1"))
            assert "REQUEST_ID_REUSED" == other.reason

    run(scenario, tmp_path)


def test_a_trimmed_stream_is_no_lost_tail(tmp_path: Path) -> None:
    """Watchers can resume and commands are refused as sealed; a position beyond the end is ahead, not lost."""

    async def scenario(keeper: Keeper) -> None:
        match_id, people = await keeper.over()
        position = await keeper.position(match_id, len(await keeper.stored(match_id)))
        await keeper.archivist.settle()
        await keeper.archivist.look()
        watch = keeper.watch(people[0], match_id, position=position)
        assert ["confirmed", "caught_up", "revealed", "ended"] == await watch.rest()
        ahead = keeper.watch(people[0], match_id, position=Position(sequence=position.sequence + 1, link=bytes(32)))
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await ahead.rest()
        assert grpc.StatusCode.OUT_OF_RANGE == caught.value.code()
        assert 0 == keeper.service.metrics.registry.get_sample_value("rollbook_lost_tails_total")

    run(scenario, tmp_path)


def test_a_match_that_is_not_over_long_enough_stays_where_it_is(tmp_path: Path) -> None:
    """Live watchers are not delayed; aborted matches are archived too, open and running ones never."""

    async def scenario(keeper: Keeper) -> None:
        archivist = keeper.service.archivist(keeper.log, keeper.finished, str(tmp_path / "archive"), after_seconds=60)
        await archivist.settle()
        finished, _ = await keeper.over()
        aborted = (await keeper.person("p0").open()).match_id
        await keeper.abort(aborted)
        running, _ = await keeper.started()
        keeper.clock.ms += 59_999
        await archivist.look()
        assert 3 == len(await keeper.store.lobby())
        keeper.clock.ms += 1
        await archivist.look()
        assert [running] == list(await keeper.store.lobby())
        assert {finished, aborted} == {file.stem for file in (tmp_path / "archive").glob("*.rollbook")}

    run(scenario, tmp_path)


def test_an_archive_that_is_away_refuses_what_lies_in_it_and_nothing_else(tmp_path: Path) -> None:
    """ARCHIVE_UNAVAILABLE invites a retry; matches in the store are still played."""

    async def scenario(keeper: Keeper) -> None:
        match_id, people = await keeper.over()
        await keeper.archivist.settle()
        await keeper.archivist.look()
        running, _ = await keeper.started()
        keeper.log._kept.clear()
        (tmp_path / "archive").rename(tmp_path / "elsewhere")
        person = people[0]
        for call in (
            person.look(match_id),
            person.call("Resign", match_id=match_id),
            keeper.replay(person, match_id),
            keeper.watch(person, match_id).rest(),
        ):
            told = await refusal(call)
            assert (grpc.StatusCode.UNAVAILABLE, "ARCHIVE_UNAVAILABLE") == (told.code, told.reason)
        assert match_pb2.MATCH_STATE_RUNNING == (await person.look(running)).summary.state
        (tmp_path / "elsewhere").rename(tmp_path / "archive")
        assert match_pb2.MATCH_STATE_FINISHED == (await person.look(match_id)).summary.state

    run(scenario, tmp_path)


@pytest.mark.parametrize("restarted", [False, True])
def test_a_match_that_ends_while_the_archive_is_away_is_read_from_the_store(restarted: bool, tmp_path: Path) -> None:
    """All reads work as without an archive, also in a process that starts meanwhile."""

    async def scenario(keeper: Keeper) -> None:
        await keeper.archivist.look()
        folder, away = tmp_path / "archive", tmp_path / "away"
        folder.rename(away)
        folder.write_text("no folder")
        made = {"request_id": "give-up-1"}
        match_id, people = await keeper.started(is_private=True)
        await people[0].call("Resign", match_id=match_id, **made)
        async with keeper.serving(keeper.process() if restarted else keeper.service):
            one = Person(keeper, keeper.channel, people[0].sub, keeper.token(people[0].sub))
            await keeper.archivist.look()
            assert (False,) == (keeper.archivist.works,)
            meanwhile = await everything(keeper, match_id, one, made)
            assert match_pb2.MATCH_STATE_FINISHED == meanwhile["state"].summary.state
            assert all(seat.name for seat in meanwhile["state"].summary.seats)
            folder.unlink()
            away.rename(folder)
            keeper.clock.ms += 31_000
            await keeper.archivist.look()
            assert not await keeper.log.store.read(match_id)
            assert meanwhile == await everything(keeper, match_id, one, made)

    run(scenario, tmp_path)


def test_a_file_that_was_damaged_is_not_told_as_a_match(tmp_path: Path) -> None:
    """A damaged file, or a file of another match under this name, is refused."""

    async def scenario(keeper: Keeper) -> None:
        match_id, people = await keeper.over()
        other, _ = await keeper.over()
        await keeper.archivist.settle()
        await keeper.archivist.look()
        file = tmp_path / "archive" / f"{match_id}.rollbook"
        good = file.read_bytes()
        swapped = (tmp_path / "archive" / f"{other}.rollbook").read_bytes()
        for bad in (good[:-1], good[:40] + bytes([good[40] ^ 1]) + good[41:], swapped, b""):
            file.write_bytes(bad)
            keeper.log._kept.clear()
            told = await refusal(people[0].look(match_id))
            assert "ARCHIVE_UNAVAILABLE" == told.reason

    run(scenario, tmp_path)


def test_a_file_that_cannot_be_read_keeps_no_other_match_out_of_the_archive(tmp_path: Path) -> None:
    """The other match is also listed; but forgetting fails while the unreadable file may hold a name."""

    async def scenario(keeper: Keeper) -> None:
        match_id, people = await keeper.over()
        await keeper.archivist.settle()
        odd = tmp_path / "archive" / f"{'o' * 24}.rollbook"
        odd.mkdir()
        keeper.archivist._leaving.add("o" * 24)
        await keeper.archivist.look()
        assert match_id not in await keeper.store.lobby()
        assert [match_id] == [match.match_id for match in (await people[0].call("ListMatches")).matches]
        with pytest.raises(ArchiveUnavailable, match="o" * 24):
            await keeper.finished.forget()
        odd.rmdir()
        await keeper.finished.forget()

    run(scenario, tmp_path)


def test_what_is_no_match_on_the_agenda_keeps_no_match_out_of_the_archive(tmp_path: Path) -> None:
    """Any client of the store can write the agenda; finished matches are archived all the same, then and later."""

    async def scenario(keeper: Keeper) -> None:
        await keeper.archivist.settle()
        for _ in range(3):
            match_id, _ = await keeper.over()
            agenda = keeper.log.store._index
            agenda["../../no match"] = replace(agenda[match_id])
            await keeper.archivist.look()
            await keeper.archivist.look()
            assert {} == await keeper.store.lobby()

    run(scenario, tmp_path)


@pytest.mark.parametrize("flaw", ["a damaged signature", "a key that nobody knows"])
def test_a_file_that_nobody_vouches_for_does_not_count_as_archived(flaw: str, tmp_path: Path) -> None:
    """No judge would accept the file, so it is rewritten before the log is trimmed."""

    async def scenario(keeper: Keeper) -> None:
        match_id, people = await keeper.over()
        good = await keeper.replay(people[0], match_id)
        stranger = Ed25519PrivateKey.generate()
        bad = good[:-1] + bytes([good[-1] ^ 1]) if flaw == "a damaged signature" else write(read(good).replay, stranger)
        file = tmp_path / "archive" / f"{match_id}.rollbook"
        file.parent.mkdir()
        await keeper.archivist.settle()
        file.write_bytes(bad)
        await keeper.archivist.look()
        key = keeper.given().replay_key
        assert read(file.read_bytes()).file.holds(key.published[key.key_id])
        assert [] == await keeper.log.store.read(match_id)

    run(scenario, tmp_path)


def test_another_match_under_the_same_id_is_never_overwritten(tmp_path: Path) -> None:
    """A restored store may play a match to another end: its log stays, and the failure is counted for operators."""

    async def scenario(keeper: Keeper) -> None:
        match_id, _ = await keeper.over()
        other, _ = await keeper.over()
        await keeper.archivist.settle()
        await keeper.archivist.look()
        files = tmp_path / "archive"
        good = (files / f"{match_id}.rollbook").read_bytes()
        forged = await keeper.log.read(match_id, 0, 1_000)
        store = keeper.log.store
        del store._streams[match_id]
        listed = await keeper.finished.find(match_id)
        assert listed is not None
        assert other != match_id
        sealed = forged[-1].event.replace(b"\x02\x01", b"\x01\x02")
        assert sealed != forged[-1].event
        await store.append(match_id, 0, [*forged[:-1], Entry(sealed)])
        store._lobby[match_id] = listed.write()
        await keeper.service.index.make()
        keeper.log._kept.clear()
        await keeper.archivist.look()
        assert good == (files / f"{match_id}.rollbook").read_bytes()
        assert link(sealed) == link((await store.read(match_id, len(forged) - 1))[0].event)
        assert match_id in await keeper.store.lobby()
        assert 1 == keeper.service.metrics.registry.get_sample_value("rollbook_archive_failures_total")

    run(scenario, tmp_path)


def test_archiving_twice_and_in_two_processes_at_once_is_harmless(tmp_path: Path) -> None:
    """Both archivists accept the other's files, and a broken file is rewritten while the log still has the match."""

    async def scenario(keeper: Keeper) -> None:
        match_id, _ = await keeper.over()
        (listed,) = await keeper.service.lobby.everything()
        await keeper.archivist.settle()
        second = keeper.keeping(keeper.service)
        await second.settle()
        file = tmp_path / "archive" / f"{match_id}.rollbook"
        file.write_bytes(b"what a broken disk left")
        before = await keeper.log.read(match_id, 0, 1_000)
        await keeper.archivist.take(listed)
        await second.take(listed)
        await keeper.archivist.take(listed)
        assert before == await keeper.log.read(match_id, 0, 1_000)
        assert list(whole(file.read_bytes(), match_id).replay.events) == [entry.event for entry in before]

    run(scenario, tmp_path)


def test_without_its_archive_a_service_archives_nothing_and_says_so(tmp_path: Path) -> None:
    """Other services of the store stop archiving as well while one lacks the archive; afterwards all continue."""

    async def scenario(keeper: Keeper) -> None:
        match_id, people = await keeper.over()
        await keeper.archivist.settle()
        lacking = Keeper(tmp_path, log=keeper.log.store)
        lacking.clock.ms = keeper.clock.ms
        stranger = lacking.keeping(lacking.service, tmp_path / "of its own")
        await stranger.settle()
        metrics = lacking.service.metrics.registry
        assert 0 == metrics.get_sample_value("rollbook_archiving")
        for _ in range(2):
            await stranger.look()
            await keeper.archivist.look()
            assert match_id in await keeper.store.lobby()
        assert 0 == keeper.service.metrics.registry.get_sample_value("rollbook_archiving")
        assert [] == list((tmp_path / "of its own").glob("*.rollbook"))
        keeper.clock.ms += 31_000
        await keeper.archivist.look()
        assert 1 == keeper.service.metrics.registry.get_sample_value("rollbook_archiving")
        assert match_id not in await keeper.store.lobby()
        with pytest.raises(ArchiveUnavailable):
            await lacking.log.read(match_id)
        shared = lacking.keeping(lacking.service)
        await shared.settle()
        assert len(await keeper.stored(match_id)) == len(await lacking.log.read(match_id))
        assert people

    run(scenario, tmp_path)


def test_names_and_opener_stay_while_the_match_is_in_the_lobby(tmp_path: Path) -> None:
    """A restart before archiving loses neither; the file then has the names."""

    async def scenario(keeper: Keeper) -> None:
        opener = keeper.person("opener")
        private = await opener.open(is_private=True)
        await keeper.abort(private.match_id)
        match_id, _ = await keeper.over()
        async with keeper.serving(keeper.process()):
            opener = keeper.person("opener")
            assert private.match_id == (await opener.look(private.match_id)).summary.match_id
            names = [seat.name for seat in (await opener.look(match_id)).summary.seats]
            assert ["P0", "P1"] == names
            await keeper.archivist.settle()
            await keeper.archivist.look()
            assert names == [seat.name for seat in (await opener.look(match_id)).summary.seats]
            boss = keeper.person("boss", Role.OPERATOR)
            assert private.match_id == (await boss.look(private.match_id)).summary.match_id

    run(scenario, tmp_path)


def test_whoever_opens_a_match_needs_no_archive(tmp_path: Path) -> None:
    """Opening does not read the archive; its outage is counted and reported, and it is used again after its return."""

    async def scenario(keeper: Keeper) -> None:
        folder, away = tmp_path / "archive", tmp_path / "away"
        await keeper.archivist.look()
        assert (True,) == (keeper.archivist.works,)
        folder.rename(away)
        folder.write_text("no folder")
        opened = await keeper.person("one").open(request_id="open-it-1")
        assert opened == await keeper.person("one").open(request_id="open-it-1")
        for failures in (1, 2):
            await keeper.archivist.look()
            assert (False,) == (keeper.archivist.works,)
            assert failures == keeper.service.metrics.registry.get_sample_value("rollbook_archive_failures_total")
        assert 0 == keeper.service.metrics.registry.get_sample_value("rollbook_archiving")
        folder.unlink()
        away.rename(folder)
        keeper.clock.ms += 31_000
        await keeper.archivist.look()
        assert (True,) == (keeper.archivist.works,)

    run(scenario, tmp_path)


def test_a_match_that_is_over_and_lost_its_end_is_sealed_for_it_although_nobody_returns(tmp_path: Path) -> None:
    """The process has no memory of the end after a restart; the lobby was written with the seal and proves it."""

    async def scenario(keeper: Keeper) -> None:
        match_id, _ = await keeper.over()
        end = await keeper.log.head(match_id)
        del keeper.log.store._streams[match_id].entries[4:]
        service = keeper.process()
        async with keeper.serving(service):
            await keeper.archivist.settle()
            await keeper.archivist.look()
            (lost,) = [Event.FromString(entry.event) for entry in await keeper.log.read(match_id, 4)]
            assert (ABORT_REASON_LOG_LOST, end) == (lost.sealed.aborted.reason, lost.sealed.aborted.lost.sequence)
            assert 1 == service.metrics.registry.get_sample_value("rollbook_lost_tails_total")
            await keeper.archivist.look()
            assert await keeper.store.summary(match_id) is None
            summary = (await keeper.person("p0").look(match_id)).summary
            assert ABORT_REASON_LOG_LOST == summary.aborted.reason

    run(scenario, tmp_path)


def test_a_withdrawal_is_answered_again_from_the_archive(tmp_path: Path) -> None:
    """The archive does not store who opened the match."""

    async def scenario(keeper: Keeper) -> None:
        opener = keeper.person("opener")
        opened = await opener.open(is_private=True)
        withdraw = {"match_id": opened.match_id, "request_id": "withdraw"}
        answer = await opener.call("AbortMatch", **withdraw)
        await keeper.archivist.settle()
        await keeper.archivist.look()
        assert [] == await keeper.log.store.read(opened.match_id)
        assert answer == await opener.call("AbortMatch", **withdraw)

    run(scenario, tmp_path)
