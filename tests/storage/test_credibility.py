"""Answers of a replaced master are never trusted, not even in part, over any connection."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, NoReturn

import pytest
from redis.asyncio import Connection, ConnectionPool

from rollbook.storage.redis import credibility as credibility_module
from rollbook.storage.redis.address import Kind
from rollbook.storage.redis.candidates import Candidates
from rollbook.storage.redis.confirmation import Confirmation
from rollbook.storage.redis.connection import Unanswered, Unsent, Wire
from rollbook.storage.redis.credibility import LATE_SECONDS, REPLACED, UNCONTESTED, Credibility
from rollbook.storage.redis.log import RedisLog
from tests.storage.failovers import until, watched
from tests.storage.servers import Server

pytestmark = pytest.mark.asyncio

PATIENT_SECONDS: Final = 30.0
HURRIED_SECONDS: Final = 8 * LATE_SECONDS
WRITTEN: Final = ("SET", "written", 1)
HELD_BACK: Final = ("BLPOP", "nothing", 0)
"""A command that is never answered, so that a batch is answered in part."""


async def _is_master() -> bool:
    return True


async def _is_replaced() -> bool:
    return False


MASTER: Final = Credibility(_is_master)
OTHER: Final = Credibility(_is_replaced)
"""The credibility of a server that was replaced."""


@asynccontextmanager
async def wire(
    server: Server, credibility: Credibility, seconds: float = PATIENT_SECONDS, confirmation: Confirmation | None = None
) -> AsyncIterator[Wire]:
    """Two connections to a server."""
    pool: Any = ConnectionPool(
        connection_class=Connection, host="127.0.0.1", port=server.port, socket_timeout=seconds, protocol=2
    )
    found = Wire(pool, 1, credibility, confirmation)
    yield found
    await found.close()


@pytest.mark.parametrize(("credibility", "believed"), [(UNCONTESTED, [b"OK"]), (MASTER, [b"OK"]), (OTHER, [])])
async def test_part_of_a_late_batch_counts_only_if_the_server_is_still_the_master(
    valkey: Server, credibility: Credibility, believed: list[bytes]
) -> None:
    """The rest never comes; by then the Sentinels may name another master."""
    async with wire(valkey, credibility, HURRIED_SECONDS) as wired:
        with pytest.raises(Unanswered) as failure:
            await wired.converse([WRITTEN, HELD_BACK])
    assert believed == failure.value.answers


async def test_part_of_a_batch_counts_not_if_the_server_is_abandoned_meanwhile(valkey: Server) -> None:
    """The connection was abandoned because the server had been replaced."""
    async with wire(valkey, MASTER) as wired:
        talking = asyncio.create_task(wired.converse([WRITTEN, HELD_BACK]))
        with valkey.client() as client:
            await asyncio.to_thread(until, lambda: client.info("clients")["blocked_clients"])
        await wired.abandon()
        with pytest.raises(Unanswered) as failure:
            await talking
    assert [] == failure.value.answers


async def test_a_server_may_be_abandoned_in_any_turn_of_the_loop(valkey: Server) -> None:
    """Also when redis-py is about to send: it raises AttributeError, because it has no writer any more."""
    for turns in range(20):
        async with wire(valkey, MASTER) as wired:
            await wired.converse([WRITTEN])
            talking = asyncio.create_task(wired.converse([WRITTEN]))
            for _ in range(turns):
                await asyncio.sleep(0)
            await wired.abandon()
            with suppress(Unsent, Unanswered):
                await talking


async def test_part_of_a_batch_counts_not_if_replicas_were_not_asked(valkey: Server) -> None:
    """The question to replicas follows the last answer, which never comes."""
    confirmation = Confirmation("WAIT", 0, 0.001, Candidates(Kind.SERVER, _never))
    async with wire(valkey, UNCONTESTED, HURRIED_SECONDS, confirmation) as wired:
        with pytest.raises(Unanswered) as failure:
            await wired.converse([WRITTEN, HELD_BACK])
    assert [] == failure.value.answers


@pytest.mark.parametrize("credibility", [MASTER, OTHER])
async def test_nothing_is_sent_behind_a_late_greeting_of_a_master_that_was_replaced(
    valkey: Server, credibility: Credibility
) -> None:
    """A connection opened while the server was stopped gets a late greeting; the next answer would come at once."""
    async with wire(valkey, credibility) as wired:
        valkey.process.send_signal(signal.SIGSTOP)
        try:
            talking = asyncio.create_task(wired.converse([("PING",)]))
            await asyncio.sleep(2 * LATE_SECONDS)
        finally:
            valkey.process.send_signal(signal.SIGCONT)
        if credibility is MASTER:
            assert [b"PONG"] == await talking
        else:
            with pytest.raises(Unsent):
                await talking


async def test_what_is_answered_at_once_counts_not_while_another_question_is_overdue(
    valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A master that continues answers new questions quickly, before the process knows of its replacement."""
    seconds = 0.0
    # With this clock a busy machine causes no delay, and the overdue command is overdue at once.
    monkeypatch.setattr(credibility_module, "time", SimpleNamespace(monotonic=lambda: seconds))
    async with wire(valkey, OTHER) as late, wire(valkey, OTHER) as quick, wire(valkey, MASTER) as trusted:
        assert [b"PONG"] == await quick.converse([("PING",)])
        waiting = asyncio.create_task(late.converse([HELD_BACK]))
        with valkey.client() as client:
            await asyncio.to_thread(until, lambda: client.info("clients")["blocked_clients"])
        seconds += 2 * LATE_SECONDS
        with pytest.raises(Unsent):
            await quick.converse([("PING",)])
        assert [b"PONG"] == await trusted.converse([("PING",)])
        waiting.cancel()
        await asyncio.wait([waiting])
        assert [b"PONG"] == await quick.converse([("PING",)])


async def test_nothing_that_a_replaced_master_says_counts_over_any_connection(tmp_path: Path) -> None:
    """The process ignores replies over old and new connections, even if it missed the switch."""
    with watched(tmp_path) as store:
        log = await RedisLog.connect(store.url)
        named: Any = log.dispatch.servers
        server = await named.of(b"")
        for task in named._sentinels._tasks:
            task.cancel()
        # A question to it would close all connections.
        del named._servers[next(iter(named._servers))]
        wires = server.appends.wire, server.reads, server.news
        old = store.stall()
        idle = [asyncio.create_task(wire.converse([("PING",)])) for wire in wires]
        listening = asyncio.create_task(server.news.subscribe(b"channel", _never, _never))
        await asyncio.to_thread(store.until_replaced, old)
        store.go_on(old)
        for outcome in await asyncio.gather(*idle, listening, return_exceptions=True):
            assert isinstance(outcome, Unsent | Unanswered)
            assert REPLACED in str(outcome)
        for one in (log, server):
            await one.close()


def _never(_message: Any = b"") -> NoReturn:
    raise AssertionError("a master that was replaced is listened to")
