"""A lost tail that another process has sealed and archived, asked of a process that remembers what was lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from rollbook.storage.embedded.server import find_server
from rollbook.storage.redis.keys import lobby_key, partition_of, stream_key
from rollbook.v1.match_pb2 import MATCH_STATE_ABORTED
from rollbook.v1.table_pb2 import Position, SignedHead
from tests.server.lobby.archives import Keeper
from tests.server.pairs import run_pair
from tests.server.replica.spoiling import kept
from tests.server.replica.test_kept_heads import A_CHOICE, DATA_LOSS
from tests.server.rpc.talking import Person, refusal, some_choice
from tests.storage.servers import Server, running

PLAYER, STRANGER = "p0", "stranger"


@pytest.fixture(scope="module")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for all tests of this module."""
    with running(find_server(), tmp_path_factory.mktemp("valkey")) as found:
        yield found


async def lose(store: Server, one: Keeper, other: Keeper, **terms: Any) -> tuple[str, SignedHead]:
    """Play at one process, lose the last events, and have the other process seal and archive the match."""
    match_id, people = await one.started(**terms)
    for _ in range(3):
        person, look = await one.awaited(match_id, people)
        await person.choose(match_id, some_choice(look.legal), one.check_head(look.head))
    head = (await people[0].look(match_id)).head
    with store.client() as client:
        key = stream_key(match_id)
        entries = client.xrange(key, count=head.sequence - 2)
        client.delete(key)
        for identity, fields in entries:
            client.xadd(key, fields, id=identity)
    told = await refusal(resign(other, PLAYER, match_id, kept(head)))
    assert DATA_LOSS == (told.code, told.reason)
    for each in (one, other):
        await each.archivist.settle()
    await other.service.clock.compare()
    await other.archivist.look()
    with store.client() as client:
        assert not client.hexists(lobby_key(partition_of(match_id)), match_id)
        assert 0 == client.xlen(stream_key(match_id))
    return match_id, head


async def resign(world: Keeper, sub: str, match_id: str, position: Position) -> Any:
    """A call that accepts a signed head."""
    return await world.person(sub).call("Resign", match_id=match_id, position=position)


async def choose(world: Keeper, sub: str, match_id: str, position: Position) -> Any:
    """Another one."""
    return await world.person(sub).call("Choose", match_id=match_id, position=position, choice=A_CHOICE)


async def watch(world: Keeper, sub: str, match_id: str, position: Position) -> Any:
    """Another one, which answers with frames."""
    return await world.watch(world.person(sub), match_id, position=position).next()


@pytest.mark.parametrize("ask", [resign, choose, watch])
@pytest.mark.parametrize("is_private", [False, True])
def test_a_kept_head_is_answered_with_data_loss_at_the_first_question(
    valkey: Server, tmp_path: Path, ask: Any, is_private: bool
) -> None:
    """Before, the first answer was NOT_FOUND, which is final for clients."""

    async def scenario(one: Keeper, other: Keeper) -> None:
        match_id, head = await lose(valkey, one, other, is_private=is_private)
        told = await refusal(ask(one, PLAYER, match_id, kept(head)))
        assert DATA_LOSS == (told.code, told.reason)

    run_pair(valkey, scenario, lambda **how: Keeper(tmp_path, **how))


@pytest.mark.parametrize("is_private", [False, True])
def test_a_player_finds_the_sealed_match_at_the_first_question(
    valkey: Server, tmp_path: Path, is_private: bool
) -> None:
    """The answer is that of every later question."""

    async def scenario(one: Keeper, other: Keeper) -> None:
        match_id, _ = await lose(valkey, one, other, is_private=is_private)
        player: Person = one.person(PLAYER)
        first = await player.look(match_id)
        assert MATCH_STATE_ABORTED == first.summary.state
        assert first.summary == (await player.look(match_id)).summary

    run_pair(valkey, scenario, lambda **how: Keeper(tmp_path, **how))


def test_a_stranger_is_told_nothing_of_a_private_match(valkey: Server, tmp_path: Path) -> None:
    """Neither at the first question nor later, and a signature that does not hold changes nothing."""

    async def scenario(one: Keeper, other: Keeper) -> None:
        match_id, head = await lose(valkey, one, other, is_private=True)
        forged = Position(sequence=head.sequence, link=head.link, key_id=head.key_id, signature=bytes(64))
        for _ in range(2):
            for question in (one.person(STRANGER).look(match_id), resign(one, STRANGER, match_id, forged)):
                told = await refusal(question)
                assert (grpc.StatusCode.NOT_FOUND, "MATCH_NOT_FOUND") == (told.code, told.reason)

    run_pair(valkey, scenario, lambda **how: Keeper(tmp_path, **how))
