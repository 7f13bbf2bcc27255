"""`rollbook backup` and `rollbook restore` as an operator runs them, with a real service before and after."""

from __future__ import annotations

import asyncio
import gzip
import random
import tarfile
from pathlib import Path

import grpc
import pytest

from rollbook.cli.commands.backup import backup
from rollbook.storage.backup import BackupUnreadable, back_up, put_back, verify
from rollbook.storage.packed import CHECKSUMS, packing
from rollbook.v1 import feed_pb2, match_pb2
from rollbook.v1.events_pb2 import ABORT_REASON_LOG_LOST
from rollbook.v1.feed_pb2 import END_REASON_MATCH_OVER
from rollbook.v1.table_pb2 import Position, SignedHead
from tests.cli.json_output import objects
from tests.clients.commands.test_tail import rollbook
from tests.server.strangers import CALL_SECONDS, Line, Stranger
from tests.server.test_whole_service import Serving, run, seated

SEED = 13
POLL_SECONDS = 0.05


class Keeping(Serving):
    """`rollbook serve` that archives a match as soon as it is over."""

    words: tuple[str, ...] = ("--archive-after", "0")


async def told(line: Line, match_id: str) -> Stranger:
    """Sign in a spectator and read the match feed until it has caught up."""
    watcher = Stranger(line, "Watcher", random.Random(SEED))
    await watcher.sign_in()
    position = None
    request = feed_pb2.WatchMatchRequest(match_id=match_id)
    async for frame in line.feeds.WatchMatch(request, metadata=watcher.metadata):
        position = watcher.take(frame, position)
        if frame.WhichOneof("frame") == "caught_up":
            break
    return watcher


async def archived(data: Path, match_id: str) -> None:
    """Wait until the match is in the archive."""
    while not (data / "archive" / f"{match_id}.rollbook").exists():  # noqa: ASYNC110 - another process's work
        await asyncio.sleep(POLL_SECONDS)


async def goes_on(line: Line, match_id: str, people: list[Stranger]) -> SignedHead:
    """Make one more choice and return the signed head that the player received."""
    for person in people:
        request = match_pb2.GetMatchRequest(match_id=match_id)
        look = await line.matches.GetMatch(request, metadata=person.metadata, timeout=CALL_SECONDS)
        if look.HasField("legal"):
            await person.choose(match_id, look.summary.position, look.legal)
    answer = await line.matches.GetMatch(request, metadata=person.metadata, timeout=CALL_SECONDS)
    head: SignedHead = answer.head
    return head


async def assert_refused_as_lost(line: Line, person: Stranger, head: SignedHead) -> None:
    """A client that received this head gets DATA_LOSS when it resumes from it."""
    at = Position(sequence=head.sequence, link=head.link, key_id=head.key_id, signature=head.signature)
    watch = feed_pb2.WatchMatchRequest(match_id=head.match_id, position=at)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        async for _ in line.feeds.WatchMatch(watch, metadata=person.metadata):
            pass
    assert grpc.StatusCode.DATA_LOSS == caught.value.code()


async def assert_lost(line: Line, person: Stranger, head: SignedHead) -> None:
    """The head is refused as lost, and the match is sealed as aborted because its log was lost."""
    await assert_refused_as_lost(line, person, head)
    request = match_pb2.GetMatchRequest(match_id=head.match_id)
    look = await line.matches.GetMatch(request, metadata=person.metadata, timeout=CALL_SECONDS)
    assert ABORT_REASON_LOG_LOST == look.summary.aborted.reason


async def listed(line: Line, person: Stranger, count: int) -> set[str]:
    """All listed matches, once there are `count` of them: the index is rebuilt after the start."""
    while len(there := await listed_now(line, person)) < count:  # noqa: ASYNC110 - of another process
        await asyncio.sleep(0.1)
    return there


async def listed_now(line: Line, person: Stranger) -> set[str]:
    """All listed matches."""
    request = match_pb2.ListMatchesRequest()
    answer = await line.settled(
        lambda: line.matches.ListMatches(request, metadata=person.metadata, timeout=CALL_SECONDS)
    )
    return {summary.match_id for summary in answer.matches}


@pytest.mark.parametrize("running", [True, False])
def test_matches_in_play_and_archived_ones_are_all_there_after_a_restore(  # noqa: PLR0915 - one long story
    running: bool, tmp_path: Path
) -> None:
    """Backups of a running and of a stopped service can be restored; play continues with the same tokens and keys.

    A client that saw more than the backup holds gets DATA_LOSS.
    """

    async def scenario() -> None:
        rng = random.Random(SEED)
        file, data = tmp_path / "backup.tar.gz", tmp_path / "restored" / "data"
        service = Keeping(tmp_path / "data")
        try:
            line = Line(service.address)
            over, people = await seated(line, 2, rng, allie_gator={})
            await asyncio.gather(*[person.watch(over, play=True) for person in people])
            await archived(service.data, over)
            in_play, players = await seated(line, 2, rng, cant_stop={})
            ahead, seers = await seated(line, 2, rng, cant_stop={})
            busy, others = await seated(line, 3, rng, raffzahn={})
            playing = asyncio.gather(*[person.watch(busy, play=True) for person in others]) if running else None
            known = (await told(line, in_play)).told
            if not running:
                assert 0 == service.end()
            backup = ("--data", str(service.data), "--out", str(file))
            assert (0, f"{file}\n") == (await rollbook("backup", *backup))[:2]
            assert 0o600 == file.stat().st_mode & 0o777
            assert 1 == (await rollbook("backup", *backup))[0]
            seen: list[SignedHead] = []
            if playing is not None:
                newer, newcomers = await seated(line, 2, rng, cant_stop={})
                seen = [await goes_on(line, ahead, seers), await goes_on(line, newer, newcomers)]
                await playing
                assert 0 == service.end()
            await line.channel.close()
        finally:
            service.end()
        assert (0, f"{data}\n", "") == await rollbook("restore", str(file), "--data", str(data))
        assert 1 == (await rollbook("restore", str(file), "--data", str(data)))[0]
        again_served = Keeping(data)
        try:
            line = Line(again_served.address)
            for person in (*people, *players):
                person.line = line
            assert {over, in_play, ahead, busy} == await listed(line, players[0], 4)
            if seen:
                await assert_lost(line, seers[0], seen[0])
                await assert_refused_as_lost(line, seers[0], seen[1])
            assert people[0].told == (await told(line, over)).told
            assert known == (await told(line, in_play)).told
            await asyncio.gather(*[person.watch(in_play, play=True) for person in players])
            assert players[0].ended is not None
            assert END_REASON_MATCH_OVER == players[0].ended.reason
            await line.channel.close()
            assert 0 == again_served.end()
        finally:
            again_served.end()

    run(scenario)


def test_half_a_backup_is_not_put_back(tmp_path: Path) -> None:
    """A truncated backup, or a file that is no backup, is refused, and the failed restore leaves no files."""

    async def scenario() -> None:
        data, out = tmp_path / "data", tmp_path / "backup.tar.gz"
        data.mkdir()
        (data / "head.key").write_bytes(random.Random(SEED).randbytes(3_000))
        (data / "service.name").write_text("Köln\n", "utf-8")
        code, said, _ = await rollbook("backup", "--data", str(data), "--out", str(out), "--json")
        (facts,) = objects(backup, said)
        assert (0, str(out), out.stat().st_size) == (code, facts["file"], facts["bytes"])
        assert (False, False, True) == (facts["has_store"], facts["is_verified"], facts["files"] > 0)
        whole = out.read_bytes()
        restored = tmp_path / "restored"
        for length in range(0, len(whole), 97):
            out.write_bytes(whole[:length])
            with pytest.raises(BackupUnreadable):
                verify(out)
            with pytest.raises(BackupUnreadable):
                put_back(out, restored)
        for names in (("../outside", "whole"), ("head.key",)):
            with gzip.open(out, "wb") as packed, tarfile.open(fileobj=packed, mode="w|") as tar:
                for name in names:
                    tar.addfile(tarfile.TarInfo(name))
            code, _, said = await rollbook("restore", str(out), "--data", str(restored))
            assert (3, True) == (code, "is no whole backup" in said)
        assert {"data", "backup.tar.gz"} == {path.name for path in tmp_path.iterdir()}
        assert 3 == (await rollbook("restore", str(tmp_path / "none"), "--data", str(restored)))[0]
        assert 3 == (await rollbook("backup", "--data", str(restored), "--out", str(out), "--force"))[0]
        out.write_bytes(whole)
        assert 0 == (await rollbook("restore", str(out), "--data", str(restored)))[0]
        for name in ("head.key", "service.name"):
            assert (data / name).read_bytes() == (restored / name).read_bytes()

    run(scenario)


def backed_up(tmp_path: Path) -> tuple[Path, bytes]:
    """A backup of a few small files, and its bytes."""
    chance, data, out = random.Random(SEED), tmp_path / "data", tmp_path / "backup.tar.gz"
    archive = data / "archive"
    archive.mkdir(parents=True)
    for path in (data / "head.key", archive / "a.rollbook"):
        path.write_bytes(chance.randbytes(20))
    back_up(data, out)
    return out, out.read_bytes()


def test_every_single_flipped_bit_of_a_backup_is_found(tmp_path: Path) -> None:
    """Verification finds every flipped bit, even one that changes no file, such as a bit of a header's time."""
    out, whole = backed_up(tmp_path)
    assert 2 == verify(out)
    flipped = bytearray(whole)
    named = 0
    for bit in range(8 * len(whole)):
        flipped[bit // 8] ^= 1 << bit % 8
        out.write_bytes(flipped)
        with pytest.raises(BackupUnreadable, match=r"backup\.tar\.gz is no whole backup: ") as caught:
            verify(out)
        named += any(name in str(caught.value) for name in ("head.key", "a.rollbook"))
        flipped[bit // 8] ^= 1 << bit % 8
    assert named > 0


def test_a_length_too_large_to_count_to_is_damage(tmp_path: Path) -> None:
    """A huge length in a header makes the tar reader fail with a different exception."""
    out, _ = backed_up(tmp_path)
    header = tarfile.TarInfo("././@PaxHeader")
    header.type, content = tarfile.XHDTYPE, b"9" * 20 + b" path=head.key\n"
    header.size = len(content)
    out.write_bytes(gzip.compress(header.tobuf() + content.ljust(512, b"\0")).ljust(1_000, b"\0"))
    with pytest.raises(BackupUnreadable, match=r"backup\.tar\.gz is no whole backup: it breaks off at"):
        verify(out)


def test_a_damaged_backup_is_named_and_not_put_back(tmp_path: Path) -> None:
    """Both `backup --verify` and `restore` exit with 3 and name the damaged file; a whole backup verifies with 0."""

    async def scenario() -> None:
        chance = random.Random(SEED)
        out, whole = backed_up(tmp_path)
        restored = tmp_path / "restored"
        code, said, why = await rollbook("backup", "--verify", str(out))
        assert (0, f"{out}\n", True) == (code, said, "2 files, all of them as they were" in why)
        code, said, _ = await rollbook("backup", "--verify", str(out), "--json")
        facts = {"file": str(out), "files": 2, "bytes": len(whole), "has_store": None, "is_verified": True}
        assert (0, [facts]) == (code, objects(backup, said))
        for bit in chance.sample(range(8 * len(whole)), 4):
            flipped = bytearray(whole)
            flipped[bit // 8] ^= 1 << bit % 8
            out.write_bytes(flipped)
            for words in (("backup", "--verify", str(out)), ("restore", str(out), "--data", str(restored))):
                code, said, why = await rollbook(*words)
                assert (3, "", True) == (code, said, f"{out} is no whole backup: " in why)
        assert not restored.exists()
        assert 3 == (await rollbook("backup", "--verify", str(tmp_path / "none")))[0]
        assert 64 == (await rollbook("backup"))[0]

    run(scenario)


def test_what_is_listed_and_not_there_is_no_whole_backup(tmp_path: Path) -> None:
    """A forger can compute checksums, so the list of files must match the files."""
    out, _ = backed_up(tmp_path)
    with gzip.open(out) as packed, tarfile.open(fileobj=packed, mode="r|") as tar:
        tar.extractall(tmp_path / "unpacked", filter="data")
    with out.open("w+b") as file, packing(file) as backup:
        for name in ("head.key", CHECKSUMS):
            with (tmp_path / "unpacked" / name).open("rb") as member:
                backup.add(member, name)
    with pytest.raises(BackupUnreadable, match="does not list the files"):
        verify(out)
