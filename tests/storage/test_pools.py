"""The pools of PlayNow in a store: callers are seated together, exactly, however many come at once."""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from rollbook.storage.pools import MOST_TABLES, Holder, Pool
from rollbook.storage.redis.log import RedisLog
from rollbook.storage.redis.now import RedisPools
from tests.storage.servers import Server

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture(params=["valkey", "cluster", "oldest_redis"])
async def pools(request: pytest.FixtureRequest) -> AsyncIterator[tuple[RedisPools, RedisPools]]:
    """The pools of one store over two connections."""
    server: Server = request.getfixturevalue(request.param)
    logs = [await RedisLog.connect(server.url) for _ in range(2)]
    yield RedisPools(logs[0]), RedisPools(logs[1])
    for log in logs:
        await log.close()


def pool(seats: int = 2, claim_ms: int = 10_000, seen_ms: int = 30_000) -> Pool:
    """A pool that no other test uses."""
    return Pool(uuid.uuid4().hex, seats, claim_ms, seen_ms, 60_000)


@pytest.mark.parametrize("seats", [2, 3])
async def test_of_callers_at_once_at_most_one_table_has_a_free_seat(
    pools: tuple[RedisPools, RedisPools], seats: int
) -> None:
    """Over two connections, each with a table of its own that it could open."""
    one = pool(seats)
    claims = await asyncio.gather(*[pools[n % 2].claim(one, Holder(f"h{n}"), f"m{n}") for n in range(100)])
    tables = Counter(claim.match_id for claim in claims)
    assert sorted(tables.values()) == [100 % seats] * bool(100 % seats) + [seats] * (100 // seats)
    again = await pools[0].claim(one, Holder("h7"), "another")
    assert claims[7].match_id == again.match_id


async def test_lapsed_claims_and_left_seats_are_free(pools: tuple[RedisPools, RedisPools]) -> None:
    """A holder who sat down keeps the seat; one who leaves does not."""
    one, (here, there) = pool(claim_ms=300), pools
    await here.claim(one, Holder("anna"), "m")
    await here.sit(one, [Holder("anna")], "m")
    assert "m" == (await there.claim(one, Holder("ben"), "n")).match_id
    until_ms = (await there.claim(one, Holder("ben"), "o")).until_ms
    assert until_ms == (await here.claim(one, Holder("ben"), "p")).until_ms
    kept = await there.hold(one, Holder("carla"), "m")
    assert 0 < kept.wait_ms <= 300
    await asyncio.sleep(kept.wait_ms / 1_000 + 0.01)
    assert 0 == (await there.hold(one, Holder("carla", people_only=True), "m")).wait_ms
    assert (1, True) == await here.leave(one, "anna", "m")
    assert (0, False) == await here.leave(one, "carla", "m")
    assert [] == await here.places(one, "m")


async def test_tables_whose_people_were_not_seen_are_never_joined(pools: tuple[RedisPools, RedisPools]) -> None:
    """60 dead tables with a free seat, and one of which the process has seen the player again."""
    one, (here, _) = pool(seen_ms=200), pools
    for number in range(60):
        await here.sit(one, [Holder(f"dead{number}")], f"dead-{number}")
    await asyncio.sleep(0.25)
    assert "mine" == (await here.claim(one, Holder("anna"), "mine")).match_id
    await here.sit(one, [Holder("dead30")], "dead-30")
    assert {"mine", "dead-30"} >= {(await here.claim(one, Holder(name), name)).match_id for name in ("ben", "carla")}
    slow = one._replace(seen_ms=0)
    assert (await here.claim(slow, Holder("dora"), "new")).match_id.startswith("dead-")


async def test_people_only_never_meet_bots(pools: tuple[RedisPools, RedisPools]) -> None:
    """A table with a bot is for those who do not mind."""
    one, (here, _) = pool(seats=3), pools
    await here.sit(one, [Holder("anna"), Holder("bot", is_house=True)], "m")
    assert "own" == (await here.claim(one, Holder("ben", people_only=True), "own")).match_id
    assert "m" == (await here.claim(one, Holder("carla"), "other")).match_id


async def test_a_pool_is_short(pools: tuple[RedisPools, RedisPools]) -> None:
    """Of too many tables the one whose people were seen longest ago leaves."""
    one, (here, _) = pool(seats=1), pools
    for number in range(MOST_TABLES):
        await here.sit(one, [Holder(f"h{number}")], f"m{number}")
    await here.sit(one, [Holder("h0")], "m0")
    await here.claim(one, Holder("anna"), "new")
    left = [number for number in range(MOST_TABLES) if not await here.places(one, f"m{number}")]
    assert 1 == len(left)
    assert [] != await here.places(one, "m0")
    assert [] != await here.places(one, "new")


async def test_pauses_double_up_to_a_limit_and_are_forgiven(pools: tuple[RedisPools, RedisPools]) -> None:
    """The count of pauses lapses after a time without one."""
    here, there = pools
    who, found = uuid.uuid4().hex, []
    for _ in range(4):
        await here.pause(who, 10_000, 35_000, 60_000)
        found.append(await there.paused_ms(who))
    assert [10, 20, 35, 35] == [round(ms / 1_000) for ms in found]
    other = uuid.uuid4().hex
    await here.pause(other, 50, 50, 100)
    await asyncio.sleep(0.15)
    assert 0 == await here.paused_ms(other)
    await here.pause(other, 10_000, 35_000, 60_000)
    assert 10_000 == round(await here.paused_ms(other), -4)
