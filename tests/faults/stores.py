"""Faults of stores and their files, observed only through logs."""

from __future__ import annotations

import asyncio
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Final

from redis.crc import key_slot

from rollbook.match.chain import Entry
from rollbook.storage.append_only import extended_file
from rollbook.storage.embedded.server import find_server
from rollbook.storage.port import Appended, AppendUnconfirmed, Hole, LobbyEntry, StoreUnavailable
from rollbook.storage.redis.keys import stream_key
from rollbook.storage.redis.log import RedisLog
from tests.faults.outcome import Outcome, Run
from tests.storage.failovers import until
from tests.storage.servers import running
from tests.storage.test_topologies import Pair, complete
from tests.storage.writers import Crowd

WRITERS: Final = 64
LOGS: Final = 4
COMMANDS: Final = 3
"""The number of last appends whose bytes are cut and flipped."""

SAMPLED: Final = 16
"""The number of random positions when time is short."""

ALL_SECONDS: Final = 60.0
"""Runs of at least this many seconds try all positions."""


async def writers(asked: Run) -> Outcome:
    """64 writers append to one match at once: every position of its log is won by one of them and keeps its entry."""
    with running(find_server(), asked.directory) as store:
        logs = [await RedisLog.connect(store.url) for _ in range(LOGS)]
        won: dict[int, list[bytes]] = {}
        end = asyncio.get_running_loop().time() + asked.seconds

        async def write(number: int) -> None:
            log, count = logs[number % LOGS], 0
            while asyncio.get_running_loop().time() < end:
                count += 1
                event = f"{number} {count}".encode()
                result = await log.append("match", await log.head("match"), [Entry(event)])
                if isinstance(result, Appended):
                    won.setdefault(result.head, []).append(event)

        await asyncio.gather(*(write(number) for number in range(WRITERS)))
        kept = [entry.event for entry in await logs[0].read("match", 0, 10**6)]
        for log in logs:
            await log.close()
    broken = [f"place {head} was won by {len(events)}" for head, events in won.items() if len(events) > 1]
    broken += [f"place {head} lost what was won" for head, (event, *_) in won.items() if kept[head - 1] != event]
    if len(won) != len(kept):
        broken.append(f"{len(kept)} entries are there, and {len(won)} were acknowledged")
    return Outcome({"writers": WRITERS, "entries": len(kept)}, broken)


async def slots(asked: Run) -> Outcome:
    """Slots of a cluster move back and forth while clients write and read."""
    chance = random.Random(asked.seed)
    loop = asyncio.get_running_loop()
    with ExitStack() as stack:
        halves = (range(8_192), range(8_192, 16_384))
        servers = [
            stack.enter_context(running(find_server(), asked.directory / f"server-{number}", slots=slots))
            for number, slots in enumerate(halves)
        ]
        clients: list[Any] = [stack.enter_context(server.client()) for server in servers]
        clients[0].execute_command("CLUSTER", "MEET", "127.0.0.1", servers[1].port)
        for client in clients:
            until(partial(complete, client))
        pair = Pair(servers, clients)
        logs = [await RedisLog.connect(pair.url) for _ in range(3)]
        crowd = Crowd(logs[0], logs[1], 16)
        crowd.start()
        end, moved = loop.time() + asked.seconds, 0
        while loop.time() < end:
            await crowd.until_all_wrote()
            slot = key_slot(stream_key(chance.choice(crowd.writers).name, logs[0].parts))
            new = await asyncio.to_thread(pair.begin_to_move, slot)
            await asyncio.sleep(chance.uniform(0, 0.2))
            await asyncio.to_thread(pair.finish_move, slot, new)
            moved += 1
        await crowd.stop()
        lost = await crowd.lost(logs[2])
        for log in logs:
            await log.close()
    broken = [f"event {number} of {name} was acknowledged or told, and is lost" for name, number in lost]
    return Outcome({"slots moved": moved, "acknowledged or told": len(crowd.told())}, broken)


async def append_only(asked: Run) -> Outcome:
    """Cut and flip the append-only file at every byte of the last commands, or at a random sample of them."""
    chance = random.Random(asked.seed)
    original = asked.directory / "original"
    with running(find_server(), original) as store:
        log = await RedisLog.connect(store.url)
        path = extended_file(original)
        assert path is not None
        begins, entries = [], [Entry(b"event %d" % number) for number in range(6)]
        for number, entry in enumerate(entries):
            begins.append(path.stat().st_size)
            await log.append("match", number, [entry], lobby=LobbyEntry(b"summary %d" % number))
        await log.close()
    size = path.stat().st_size
    places = [(kind, at) for kind in ("cut", "flip") for at in range(begins[-COMMANDS], size)]
    if asked.seconds < ALL_SECONDS:
        places = chance.sample(places, SAMPLED)
    found, broken = Counter[str](), list[str]()
    for number, (kind, at) in enumerate(places):
        bit = 1 << chance.randrange(8)
        came = await _spoiled(original, path.relative_to(original), kind, at, bit)
        found[f"{kind}: {_judged(came, entries)}"] += 1
        whole = sum(begin <= at for begin in begins) - 1
        if kind == "cut" and came not in (entries[:whole], entries[: whole + 1] if at == size else None):
            broken.append(f"cut at {at}: {came} is left, and {whole} commands were whole")
        if kind == "flip" and came is not None and came[: whole - 1] != entries[: whole - 1][: len(came)]:
            broken.append(f"flipped at {at} by {bit}: {came} is left, which changes what stands before")
        if number % 200 == 0:
            asked.say(f"{number} of {len(places)}")
    return Outcome({"places": len(places), **dict(sorted(found.items()))}, broken)


def _judged(came: Sequence[Entry] | None, entries: Sequence[Entry]) -> str:
    if came is None:
        return "refused"
    if list(came) == list(entries):
        return "nothing lost"
    if list(came) == list(entries[: len(came)]):
        return "whole commands lost"
    return "another event, which the next one's link or a kept head disproves"


async def _spoiled(original: Path, file: Path, kind: str, at: int, bit: int) -> list[Entry] | None:
    """Damage a copy of the store; return what it still has, or None if it does not start or cannot be read."""
    copy = Path(tempfile.mkdtemp(dir=original.parent))
    shutil.copytree(original, copy, dirs_exist_ok=True)
    data = bytearray((copy / file).read_bytes())
    if kind == "cut":
        del data[at:]
    else:
        data[at] ^= bit
    (copy / file).write_bytes(data)
    try:
        with running(find_server(), copy) as store:
            log = await RedisLog.connect(store.url)
            try:
                return await log.read("match")
            finally:
                await log.close()
    except (AssertionError, AppendUnconfirmed, Hole, StoreUnavailable):
        return None
    finally:
        shutil.rmtree(copy)
