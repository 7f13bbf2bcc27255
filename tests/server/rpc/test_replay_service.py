"""Files of matches over a real channel: complete ones, those of one perspective, and audits of uploads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc
import pytest

from rollbook.identity.tokens import Role
from rollbook.match.dice import Dice
from rollbook.replay_file.container import LARGEST_FILE, read, without_names
from rollbook.rules.game import Watcher
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.rpc import replay
from rollbook.server.rpc.auditors import Auditors
from rollbook.v1 import replay_pb2, replay_pb2_grpc
from rollbook.v1.games_pb2 import Choice
from tests.server.lobby.archives import Keeper, run
from tests.server.lobby.test_who_sees_what import names
from tests.server.rpc.talking import refusal, some_choice


def test_a_sealed_match_is_handed_out_whole_and_audits_as_exact(tmp_path: Path) -> None:
    """Any viewer of the match gets it, from log or archive; with all keys of the service the audit is EXACT."""

    async def scenario(keeper: Keeper) -> None:
        match_id, people = await keeper.started("allie_gator")
        for _ in range(4):
            person, look = await keeper.awaited(match_id, people)
            await person.choose(match_id, some_choice(look.legal), keeper.check_head(look.head))
        await people[0].call("Resign", match_id=match_id)
        stranger = keeper.person("stranger")
        for _ in range(2):
            data = await keeper.replay(stranger, match_id)
            assert data == await keeper.replay(people[0], match_id)
            stored = read(data)
            assert (None, ("P0", "P1")) == (stored.replay.perspective, stored.replay.names)
            assert await keeper.stored(match_id) == list(stored.replay.events)
            nameless = await keeper.replay(stranger, match_id, without_names=True)
            assert without_names(data) == nameless
            audited = await keeper.audit(stranger, data)
            assert (replay_pb2.VERDICT_EXACT, match_id, list[str]()) == (
                audited.verdict,
                audited.match_id,
                list(audited.missing),
            )
            await keeper.archivist.settle()
            await keeper.archivist.look()

    run(scenario, tmp_path)


def test_a_running_match_is_handed_out_as_its_caller_sees_it(tmp_path: Path) -> None:
    """The file names the perspective and has the hidden parts visible to it, but never the secret."""

    async def scenario(keeper: Keeper) -> None:
        match_id, people = await keeper.started("allie_gator")
        judge, stranger = keeper.person("judge", Role.JUDGE, (match_id,)), keeper.person("stranger")
        stored = await keeper.log.read(match_id, 0, 1_000)
        hidden = {number: entry.private for number, entry in enumerate(stored[1:], start=2) if entry.private}
        files = [read(await keeper.replay(person, match_id)).replay for person in (*people, judge, stranger)]
        assert [0, 1, Watcher.JUDGE, Watcher.PUBLIC] == [file.perspective for file in files]
        assert [1, 1, 2, 0] == [len(file.private) for file in files]
        assert hidden == {**files[0].private, **files[1].private} == files[2].private
        assert {tuple(entry.event for entry in stored)} == {file.events for file in files}
        secret = stored[0].private[2:]
        assert 32 == len(secret)
        for person in (*people, judge, stranger):
            assert secret not in await keeper.replay(person, match_id)
        asked = await keeper.replay(people[0], match_id, public_only=True)
        assert asked == await keeper.replay(stranger, match_id)
        audited = await keeper.audit(stranger, asked)
        assert replay_pb2.VERDICT_UNVERIFIED == audited.verdict
        assert audited.missing

    run(scenario, tmp_path)


def test_a_delayed_viewer_gets_the_match_as_it_was(tmp_path: Path) -> None:
    """The file is cut where the feed is cut, also with `public_only`; at the end of the match it is complete."""

    async def scenario(keeper: Keeper) -> None:
        match_id, people = await keeper.started(spectator_delay_seconds=60)
        stranger = keeper.person("stranger")
        closed = read(await keeper.replay(stranger, match_id)).replay.events
        assert (await keeper.stored(match_id))[: len(people) + 1] == list(closed)
        keeper.clock.ms += 60_000
        before = await keeper.replay(stranger, match_id)
        person, look = await keeper.awaited(match_id, people)
        await person.choose(match_id, some_choice(look.legal), keeper.check_head(look.head))
        assert before == await keeper.replay(stranger, match_id)
        assert before == await keeper.replay(people[0], match_id, public_only=True)
        assert before != await keeper.replay(people[0], match_id)
        await people[0].call("Resign", match_id=match_id)
        assert await keeper.stored(match_id) == list(read(await keeper.replay(stranger, match_id)).replay.events)

    run(scenario, tmp_path)


def test_a_private_match_has_no_file_for_strangers(tmp_path: Path) -> None:
    """Running, over or archived: strangers get MATCH_NOT_FOUND, invited players get the file."""

    async def scenario(keeper: Keeper) -> None:
        opener, stranger = keeper.person("opener"), keeper.person("stranger")
        opened = await opener.open(is_private=True)
        match_id = opened.match_id
        unknown = await refusal(keeper.replay(stranger, "a" * 24))
        for end in (None, keeper.abort(match_id), keeper.archivist.settle(), keeper.archivist.look()):
            if end is not None:
                await end
            for wrong in ({}, {"invitation_code": "wrong"}, {"public_only": True}):
                told = await refusal(keeper.replay(stranger, match_id, **wrong))
                assert (unknown.code, unknown.detail, unknown.message) == (told.code, told.detail, told.message)
            invited = await keeper.replay(stranger, match_id, invitation_code=opened.invitation_code)
            assert match_id == read(invited).replay.match_id
        boss = keeper.person("boss", Role.OPERATOR)
        assert invited == await keeper.replay(boss, match_id)

    run(scenario, tmp_path)


def test_what_lies_in_hands_changes_no_byte_of_a_strangers_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In two matches the same public events happen, but two cards in the players' hands are exchanged."""
    dealt = Dice.values
    exchanged: dict[Any, Any] = {}
    chosen: list[Choice] = []

    def values(dice: Dice, number: int, awaited: Any) -> Any:
        drawn = dealt(dice, number, awaited)
        return tuple(exchanged.get(value, value) for value in drawn) if awaited.name == "draw" else drawn

    monkeypatch.setattr(Dice, "values", values)
    results: list[tuple[list[bytes], list[bytes]]] = []

    async def scenario(keeper: Keeper) -> None:
        match_id, people = await keeper.started("allie_gator")
        files, hands = [], []
        for number in range(3):
            person, look = await keeper.awaited(match_id, people)
            files.append(await keeper.replay(keeper.person("stranger"), match_id))
            hands.append(await keeper.replay(people[0], match_id))
            if len(chosen) == number:
                legal = [choice for choice in look.legal.allie_gator.choices if not names(choice, *exchanged)]
                chosen.append(Choice(allie_gator=legal[0]))
            await person.choose(match_id, chosen[number], keeper.check_head(look.head))
        results.append((files, hands))

    for exchange in ({51: 51, 65: 65}, {51: 65, 65: 51}):
        exchanged = exchange
        folder = tmp_path / str(len(results))
        folder.mkdir()
        run(scenario, folder)
    (one, hands), (other, other_hands) = results
    assert hands[0] != other_hands[0]
    assert one == other


def test_what_is_no_replay_is_unreadable_and_what_was_changed_has_diverged(tmp_path: Path) -> None:
    """Any upload gets a verdict; its bytes are only parsed in the auditor's process."""

    async def scenario(keeper: Keeper) -> None:
        match_id, people = await keeper.over()
        data = await keeper.replay(people[0], match_id)
        for bad in (b"", b"no replay", data[:-1], data + b"\0", b"\x89ROLL\r\n\x1a" + bytes(100)):
            audited = await keeper.audit(people[0], bad)
            assert replay_pb2.VERDICT_UNREADABLE == audited.verdict
            assert audited.found
        forged = await keeper.audit(people[0], data[:-1] + bytes([data[-1] ^ 1]))
        assert (replay_pb2.VERDICT_DIVERGED, "container") == (forged.verdict, forged.check)
        counted = keeper.service.metrics.registry.get_sample_value("rollbook_audits_total", {"verdict": "diverged"})
        assert 1 == counted

    run(scenario, tmp_path)


def test_a_file_that_no_match_could_be_is_refused_while_it_comes(tmp_path: Path) -> None:
    """The upload ends before it fills the memory, and the refusal has the limit."""

    async def scenario(keeper: Keeper) -> None:
        one = keeper.person("one")
        told = await refusal(keeper.audit(one, bytes(LARGEST_FILE + 1)))
        assert (grpc.StatusCode.RESOURCE_EXHAUSTED, "REPLAY_TOO_LARGE") == (told.code, told.reason)
        assert {"limit": str(LARGEST_FILE)} == told.facts

    run(scenario, tmp_path)


def test_a_service_that_is_installed_without_the_audit_refuses_to_audit(tmp_path: Path) -> None:
    """The refusal names the missing package before the file is read, so the file does not seem damaged."""

    async def scenario(keeper: Keeper) -> None:
        keeper.replays._auditors = Auditors("", "no-such-command")
        told = await refusal(keeper.audit(keeper.person("one"), b"no replay"))
        assert (grpc.StatusCode.UNAVAILABLE, "AUDIT_NOT_INSTALLED") == (told.code, told.reason)

    run(scenario, tmp_path)


def test_so_many_files_are_under_way_for_one_subject(tmp_path: Path) -> None:
    """Other subjects are not affected, and a finished audit makes room."""

    async def scenario(keeper: Keeper) -> None:
        match_id, people = await keeper.over()
        stub: Any = replay_pb2_grpc.ReplayServiceStub(keeper.channel)
        slow = stub.AuditReplay(metadata=people[0].metadata)
        await slow.write(replay_pb2.AuditReplayRequest(part=b"slowly"))
        told = await refusal(keeper.audit(people[0], b"no replay"))
        assert (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_WATCHES") == (told.code, told.reason)
        assert replay_pb2.VERDICT_UNREADABLE == (await keeper.audit(people[1], b"no replay")).verdict
        await slow.done_writing()
        assert replay_pb2.VERDICT_UNREADABLE == (await slow).verdict
        assert replay_pb2.VERDICT_UNREADABLE == (await keeper.audit(people[0], b"no replay")).verdict
        assert await keeper.replay(people[0], match_id)

    run(scenario, tmp_path, limits=Limits(requests_at_once=10**6, audits_per_subject=1))


def test_files_need_a_token(tmp_path: Path) -> None:
    """GetReplay needs a token, like all calls about a match."""

    async def scenario(keeper: Keeper) -> None:
        for call in (keeper.replay(keeper.nobody(), "a" * 24), keeper.audit(keeper.nobody(), b"")):
            assert "TOKEN_MISSING" == (await refusal(call)).reason

    run(scenario, tmp_path)


def test_an_upload_that_stands_still_ends_after_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a few idle uploads would block all audits for a minute."""
    monkeypatch.setattr(replay, "IDLE_SECONDS", 0.05)

    async def scenario(keeper: Keeper) -> None:
        stub: Any = replay_pb2_grpc.ReplayServiceStub(keeper.channel)
        upload = stub.AuditReplay(metadata=keeper.person("one").metadata)
        await upload.write(replay_pb2.AuditReplayRequest(part=b"slowly"))
        told = await refusal(upload)
        assert (grpc.StatusCode.RESOURCE_EXHAUSTED, "REPLAY_TOO_LARGE") == (told.code, told.reason)

    run(scenario, tmp_path)
