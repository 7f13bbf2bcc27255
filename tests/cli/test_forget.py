"""`rollbook forget` as an operator runs it, with real services: afterwards no byte of their files has the name."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import gzip
import json
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rollbook.cli.commands.forget import forget
from rollbook.replay_file.container import read
from rollbook.storage.embedded.server import find_server
from rollbook.v1 import feed_pb2, match_pb2
from tests.cli import forgetful
from tests.cli.json_output import objects
from tests.cli.test_backup import POLL_SECONDS, Keeping, archived
from tests.clients.commands.test_tail import rollbook
from tests.server.strangers import CALL_SECONDS, Line, Stranger
from tests.server.test_whole_service import Serving, run
from tests.storage.servers import running

SEED = 11
NEVER = "a" * 24
TABLES = 12
LONGEST_SECONDS = 8.0
"""Upper bound for the time that the command takes."""

GONE, STAYS = "Xanthippe-7f3 of Athens", "Theodora-9c1"
"""Names long enough for a server to compress them, if compression were on."""


def places(word: str, *folders: Path) -> list[str]:
    """Return the files below these folders that have this word in their bytes, or in their bytes unpacked."""
    found = []
    for path in (path for folder in folders for path in folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        if path.name.endswith(".gz"):
            data = gzip.decompress(data)
        if word.encode() in data:
            found.append(path.name)
    return found


class Table:
    """Players at a service, with helpers to play matches."""

    def __init__(self, line: Line) -> None:
        """Connect the players by this line."""
        self.line = line
        self.rng = random.Random(SEED)
        self.people: list[Stranger] = []

    async def match(self, *names: str, seats: int = 2) -> str:
        """Open a match of Can't Stop with these players; it begins once all seats are taken."""
        self.people = [Stranger(self.line, name, random.Random(self.rng.random())) for name in names]
        for person in self.people:
            await person.sign_in()
        match_id = await self.people[0].open(seats, cant_stop={})
        for person in self.people:
            await person.sit(match_id)
        if len(names) == seats:
            look = await self.look(match_id)
            await asyncio.gather(*[person.ready(match_id, look.summary.position.link) for person in self.people])
        return match_id

    async def look(self, match_id: str) -> match_pb2.GetMatchResponse:
        """The match as the first player sees it."""
        request = match_pb2.GetMatchRequest(match_id=match_id)
        person = self.people[0]
        answer: match_pb2.GetMatchResponse = await self.line.settled(
            lambda: self.line.matches.GetMatch(request, metadata=person.metadata, timeout=CALL_SECONDS)
        )
        return answer

    async def names(self, match_id: str) -> list[str]:
        """The names at the seats, as the service returns them."""
        return [seat.name for seat in (await self.look(match_id)).summary.seats]

    async def listed(self, player: str) -> int:
        """The number of matches that the service lists for a name."""
        request = match_pb2.ListMatchesRequest(player=player)
        person = self.people[0]
        answer = await self.line.settled(
            lambda: self.line.matches.ListMatches(request, metadata=person.metadata, timeout=CALL_SECONDS)
        )
        return len(answer.matches)

    async def resign(self, match_id: str) -> None:
        """The first player resigns, which ends the match."""
        person = self.people[0]
        await person.call("Resign", match_pb2.ResignRequest(request_id=person.request_id(), match_id=match_id))

    async def over(self, *names: str) -> str:
        """Play a match that ends at once."""
        match_id = await self.match(*names)
        await self.resign(match_id)
        return match_id

    async def visitor(self, name: str) -> str:
        """Open a match whose only player leaves the seat again."""
        match_id = await self.match(name, seats=3)
        person = self.people[0]
        request = match_pb2.LeaveSeatRequest(request_id=person.request_id(), match_id=match_id)
        await person.call("LeaveSeat", request)
        return match_id


async def lobby_of(line: Line, person: Stranger) -> str:
    """The first snapshot of the lobby feed as text."""
    told = ""
    async for frame in line.feeds.WatchLobby(feed_pb2.WatchLobbyRequest(), metadata=person.metadata):
        told += str(frame)
        if frame.snapshot.last:
            break
    return told


def subject_of(person: Stranger) -> str:
    """The `sub` of the player's token."""
    payload = person.token.split(".")[1]
    return str(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["sub"])


async def backup_of(data: Path) -> Path:
    """Make a backup and return its folder."""
    folder = data.parent / f"backups-of-{data.name}"
    folder.mkdir(exist_ok=True)
    code, _, said = await rollbook("backup", "--data", str(data), "--out", str(folder / "new.tar.gz"), "--force")
    assert 0 == code, said
    return folder


async def assert_gone(*folders: Path, data: Path) -> None:
    """No byte of the folders or of a new backup has the name; finding the other name proves that the search works."""
    backup = await backup_of(data)
    for folder in (*folders, backup):
        assert [] == places(GONE, folder)
    assert places(STAYS, data)
    assert places(STAYS, backup)


async def assert_exact(data: Path) -> None:
    """The audit of the archive succeeds with the published keys of the service."""
    key = data.parent / "KEY.pub"
    key.write_text((await rollbook("key", str(data), "--published"))[1], "utf-8")
    code, told, said = await rollbook("audit", str(data / "archive"), "--key", str(key))
    assert 0 == code, told + said


@pytest.mark.parametrize("is_running", [True, False], ids=["running", "stopped"])
def test_no_byte_of_a_service_has_a_name_that_was_forgotten(is_running: bool, tmp_path: Path) -> None:
    """The matches are open, running, over and archived, with players who sit or have left.

    The changed archive passes the audit.
    """

    async def scenario() -> None:
        service = Keeping(tmp_path / "data")
        data = service.data
        try:
            table = Table(Line(service.address))
            await table.visitor(GONE)
            filed = await table.over(GONE, STAYS)
            other = await table.over(STAYS, STAYS)
            await archived(data, filed)
            await archived(data, other)
            alone = await table.match(GONE, seats=3)
            playing = await table.match(GONE, STAYS)
            assert [GONE, STAYS] == await table.names(playing)
            assert places(GONE, data)
            if not is_running:
                assert 0 == service.end()
            code, printed, said = await rollbook("forget", "--data", str(data), "--player", GONE)
            assert (0, {filed, alone, playing}) == (code, set(printed.split())), said
            assert "not reached: backups that were made before" in said
            await assert_gone(tmp_path, data=data)
            assert () == read((data / "archive" / f"{filed}.rollbook").read_bytes()).replay.names
            assert (STAYS, f"{STAYS} (2)") == read((data / "archive" / f"{other}.rollbook").read_bytes()).replay.names
            if not is_running:
                service.process = service.start()
            assert ["", STAYS] == await table.names(playing)
            assert ["", ""] == await table.names(filed)
            assert ["", "", ""] == await table.names(alone)
            assert 0 == await table.listed(GONE)
            lobby = await lobby_of(table.line, table.people[0])
            assert (True, False) == (STAYS in lobby, GONE in lobby)
            await table.resign(playing)
            await archived(data, playing)
            assert ("", STAYS) == read((data / "archive" / f"{playing}.rollbook").read_bytes()).replay.names
            await assert_gone(tmp_path, data=data)
            await assert_exact(data)
            await table.line.channel.close()
        finally:
            service.end()

    run(scenario)


class KeepingByTwo(Keeping):
    """A service with two workers, which share the index of the archive."""

    words = (*Keeping.words, "--workers", "2")


@pytest.mark.parametrize("kind", [Keeping, KeepingByTwo])
def test_a_name_does_not_come_back_with_matches_that_end_meanwhile(kind: type[Keeping], tmp_path: Path) -> None:
    """Players resign, and files are written, at random moments of the command.

    No process writes a cached name again.
    """

    async def scenario() -> None:
        rng = random.Random(SEED)
        print(f"seed {SEED}")
        service = kind(tmp_path / "data")
        try:
            tables = [Table(Line(service.address)) for _ in range(TABLES)]
            matches = [await table.match(GONE, STAYS) for table in tables]
            done = asyncio.Event()

            async def end(table: Table, match_id: str, seconds: float) -> None:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await done.wait()
                await table.resign(match_id)

            ending = [
                asyncio.create_task(end(table, match_id, rng.uniform(0, LONGEST_SECONDS)))
                for table, match_id in zip(tables, matches, strict=True)
            ]
            code, _, said = await rollbook("forget", "--data", str(service.data), "--player", GONE)
            assert 0 == code, said
            await assert_gone(tmp_path, data=service.data)
            done.set()
            await asyncio.gather(*ending)
            for match_id in matches:
                await archived(service.data, match_id)
            await assert_gone(tmp_path, data=service.data)
            for table in tables:
                await table.line.channel.close()
        finally:
            service.end()

    run(scenario)


class Sharing(Serving):
    """`rollbook serve` over a store and an archive that other services share."""

    def __init__(self, data: Path, url: str, archive: Path) -> None:
        """Serve with this store and archive."""
        self.words = ("--archive-after", "0", "--redis", url, "--archive", str(archive))
        super().__init__(data)


def test_two_services_over_one_store_forget_together(tmp_path: Path) -> None:
    """When the command ends, neither service, nor its directory, nor the store has the name."""

    async def scenario() -> None:
        archive = tmp_path / "archive"
        redis = tmp_path / "redis"
        with running(find_server(), redis, {"rdbcompression": "no", "save": ""}) as server:
            one = Sharing(tmp_path / "one", server.url, archive)
            other: Sharing | None = None
            try:
                here = Table(Line(one.address))
                filed = await here.over(GONE, STAYS)
                while not (archive / f"{filed}.rollbook").exists():  # noqa: ASYNC110 - another process's work
                    await asyncio.sleep(POLL_SECONDS)
                other_data = tmp_path / "other"
                other_data.mkdir()
                for file in one.data.glob("*.key*"):
                    shutil.copy2(file, other_data)
                other = Sharing(other_data, server.url, archive)
                playing = await here.match(GONE, STAYS)
                there = Table(Line(other.address))
                there.people = here.people
                for table in (here, there):
                    assert [GONE, STAYS] == await table.names(playing)
                    assert [GONE, STAYS] == await table.names(filed)
                where = ("--redis", server.url, "--archive", str(archive), "--data", str(one.data))
                code, printed, said = await rollbook("forget", playing, filed, NEVER, *where)
                assert (0, {filed, playing}) == (code, set(printed.split())), said
                assert f"{NEVER}: there is no such match" in said
                for table in (here, there):
                    assert ["", ""] == await table.names(playing)
                    assert ["", ""] == await table.names(filed)
                await there.resign(playing)
                while not (archive / f"{playing}.rollbook").exists():  # noqa: ASYNC110 - another process's work
                    await asyncio.sleep(POLL_SECONDS)
                assert [] == places(GONE, tmp_path)
                assert [] == places(STAYS, tmp_path)
                await here.line.channel.close()
                await there.line.channel.close()
            finally:
                one.end()
                if other is not None:
                    other.end()

    run(scenario)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Stranger, list[str]]:
    """The data directory of a stopped service, a player who used two names, and three matches.

    The player has no seat in the second match.
    """
    data = tmp_path_factory.mktemp("kept") / "data"
    found: list[tuple[Stranger, list[str]]] = []

    async def scenario() -> None:
        service = Keeping(data)
        try:
            table = Table(Line(service.address))
            filed = await table.over(GONE, STAYS)
            await archived(data, filed)
            somebody = table.people[0]
            playing = await table.match(GONE, STAYS)
            renamed = await table.match(STAYS, seats=3)
            somebody.name = "By another name"
            await somebody.sit(renamed)
            await table.line.channel.close()
            found.append((somebody, [filed, playing, renamed]))
            assert 0 == service.end()
        finally:
            service.end()

    run(scenario)
    ((somebody, matches),) = found
    return data, somebody, matches


@pytest.mark.parametrize("step", ["begun", "round", "erased", "scrubbed", "rewritten"])
def test_what_a_crash_left_is_finished_by_the_same_command(
    step: str, kept: tuple[Path, Stranger, list[str]], tmp_path: Path
) -> None:
    """The second run also removes left-over drafts and an unfinished rewrite of the store."""

    async def scenario() -> None:
        data = tmp_path / "data"
        shutil.copytree(kept[0], data, ignore=shutil.ignore_patterns("*.sock"))
        left = (data / "archive" / ".a-match.rollbook.x.part", data / "store" / "temp-rewriteaof-bg-1.aof")
        orphan = data / "store" / "appendonlydir" / "appendonly.aof.99.base.rdb"
        for file in (*left, orphan):
            file.write_bytes(GONE.encode())
        words = [sys.executable, forgetful.__file__, str(data), GONE, step]
        died = await asyncio.to_thread(lambda: subprocess.run(words, capture_output=True, check=False))
        assert -signal.SIGKILL == died.returncode, died.stderr
        code, _, said = await rollbook("forget", "--data", str(data), "--player", GONE)
        assert 0 == code, said
        await assert_gone(tmp_path, data=data)
        assert not any(file.exists() for file in (*left, orphan))
        code, printed, said = await rollbook("forget", "--data", str(data), "--player", GONE)
        assert (3, "", True) == (code, printed, "no such name was found" in said)

    run(scenario)


def test_a_subject_is_forgotten_by_whatever_name_it_had(kept: tuple[Path, Stranger, list[str]], tmp_path: Path) -> None:
    """The service key identifies the subject's references in the logs; other players with the same name keep it."""

    async def scenario() -> None:
        data = tmp_path / "data"
        shutil.copytree(kept[0], data, ignore=shutil.ignore_patterns("*.sock"))
        where = ("--data", str(data))
        assert 3 == (await rollbook("forget", *where, "--subject", "somebody else"))[0]
        assert 3 == (await rollbook("forget", *where, "--subject", subject_of(kept[1]), "--issuer", "another"))[0]
        code, printed, said = await rollbook("forget", *where, "--subject", subject_of(kept[1]))
        filed, _, renamed = kept[2]
        assert (0, {filed, renamed}) == (code, set(printed.split())), said
        backup = await backup_of(data)
        assert [] == places("By another name", tmp_path)
        assert () == read((data / "archive" / f"{filed}.rollbook").read_bytes()).replay.names
        assert places(GONE, data, backup)
        (data / "service.key").unlink()
        assert 1 == (await rollbook("forget", *where, "--subject", "somebody else"))[0]

    run(scenario)


def test_an_archive_alone_is_changed_and_the_rest_is_named(
    kept: tuple[Path, Stranger, list[str]], tmp_path: Path
) -> None:
    """Without the store, the command lists what it could not reach; an unreadable file does not stop the others."""

    async def scenario() -> None:
        filed = kept[2][0]
        archive = tmp_path / "archive"
        shutil.copytree(kept[0] / "archive", archive)
        code, printed, said = await rollbook("forget", filed, "--archive", str(archive))
        assert (0, f"{filed}\n") == (code, printed)
        assert "not reached: the store and the index of a service" in said
        assert () == read((archive / f"{filed}.rollbook").read_bytes()).replay.names
        assert 3 == (await rollbook("forget", filed, "--archive", str(archive)))[0]
        (archive / f"{NEVER}.rollbook").write_bytes(b"broken")
        words = ("--player", GONE, "--archive", str(archive), "--json")
        code, printed, said = await rollbook("forget", "b" * 24, *words)
        assert (1, True) == (code, f"{NEVER}: its file cannot be read" in said)
        *matches, report = objects(forget, printed)
        assert (len(matches), ["b" * 24]) == (report["matches"], report["unknown"])
        assert {each["match"] for each in matches} <= set(kept[2]) - {filed}
        assert any(NEVER in problem for problem in report["problems"])
        assert all(f"not reached: {sentence}" in said for sentence in report["not_reached"])

    run(scenario)


def test_what_cannot_be_done_is_refused_before_anything_is(
    kept: tuple[Path, Stranger, list[str]], tmp_path: Path
) -> None:
    """No selection, no place to look, a subject without a key, no store, a different archive."""

    async def scenario() -> None:
        data = tmp_path / "data"
        shutil.copytree(kept[0], data, ignore=shutil.ignore_patterns("*.sock"))
        assert 64 == (await rollbook("forget", "--data", str(data)))[0]
        assert 64 == (await rollbook("forget", NEVER))[0]
        assert 64 == (await rollbook("forget", "--subject", "x", "--archive", str(data / "archive")))[0]
        assert 3 == (await rollbook("forget", NEVER, "--data", str(tmp_path)))[0]
        assert 3 == (await rollbook("forget", NEVER, "--archive", str(tmp_path / "none")))[0]
        other = tmp_path / "other"
        other.mkdir()
        code, _, said = await rollbook("forget", NEVER, "--data", str(data), "--archive", str(other))
        assert (1, True) == (code, "is not the archive" in said)
        assert places(GONE, data)

    run(scenario)
