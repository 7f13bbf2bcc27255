"""Offers of a rematch in the SDK: the other player receives them, accepts or declines."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path
from threading import Thread

import pytest

from rollbook.v1.feed_pb2 import MatchFrame
from rollbook.v1.match_pb2 import MATCH_STATE_GETTING_READY, MATCH_STATE_OPEN
from rollbook_clients.sdk import Match, Offer, Table, sync
from tests.clients.sdk.tables import PATIENCE_SECONDS, service, tables

ACCEPTED, DECLINED = MatchFrame.Rematch.ANSWER_ACCEPTED, MatchFrame.Rematch.ANSWER_DECLINED


async def finished(one: Table, other: Table, *, is_private: bool) -> tuple[Match, Match]:
    """A match of two with a result, as both have it."""
    match = await one.open("cant_stop", seats=2, is_private=is_private)
    its = other.match(match.id, match.invitation_code)
    for each in (match, its):
        await each.join()
    await asyncio.gather(match.ready(), its.ready())
    await its.resign()
    return match, its


@pytest.mark.parametrize("is_private", [False, True])
def test_a_player_is_offered_the_rematch_and_accepts_or_declines(tmp_path: Path, is_private: bool) -> None:
    """The player who opened the rematch receives the answer; after a refusal the next rematch is another match."""

    async def scenario(address: str) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS), tables(address, "Carla", "Greta") as (carla, greta):
            of_carla, of_greta = await finished(carla, greta, is_private=is_private)

            async def decline() -> None:
                async with aclosing(of_greta.rematches()) as found:
                    async for offer in found:
                        if offer.asks_you:
                            await offer.decline()
                            return

            declining = asyncio.create_task(decline())
            rematch = await of_carla.rematch()
            await rematch.join()
            async with aclosing(of_carla.rematches()) as found:
                async for offer in found:
                    if offer.answers == (ACCEPTED, DECLINED):
                        break
            assert offer.match.id == rematch.id
            await declining
            assert rematch.id == (await (await of_greta.rematch()).state()).summary.match_id
            async with aclosing(of_greta.rematches()) as found:
                again = await (await anext(found)).accept("Greta")
                assert again.id == (await (await anext(found)).accept()).id
            assert MATCH_STATE_GETTING_READY == (await again.state()).summary.state

    with service(tmp_path) as served:
        asyncio.run(scenario(served.address))


def test_a_private_rematch_comes_to_the_lobby_of_the_player_whom_it_asks(tmp_path: Path) -> None:
    """It asks until the player has declined, and is then no longer in the list."""

    async def scenario(address: str) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS), tables(address, "Carla", "Greta") as (carla, greta):
            of_carla, _ = await finished(carla, greta, is_private=True)
            async with aclosing(greta.lobby(mine=True)) as lobbies, aclosing(carla.lobby()) as public:
                assert () == (await anext(lobbies)).matches == (await anext(public)).matches
                rematch = await of_carla.rematch()
                assert [(rematch.id, True)] == [
                    (match.match_id, match.asks_you) for match in (await anext(lobbies)).matches
                ]
                found = greta.match(rematch.id)
                await Offer(found, (), 1, 0, MATCH_STATE_OPEN, greta.caller).decline()
                assert () == (await anext(lobbies)).matches
                await found.join()
                assert [(rematch.id, False)] == [
                    (match.match_id, match.asks_you) for match in (await anext(lobbies)).matches
                ]

    with service(tmp_path) as served:
        asyncio.run(scenario(served.address))


def test_offers_come_without_async_as_well(tmp_path: Path) -> None:
    """And the generator ends by itself after its time."""
    with service(tmp_path) as served, sync.connect(served.address) as carla, sync.connect(served.address) as greta:
        match = carla.open("cant_stop", 2)
        its = greta.match(match.id)
        match.join()
        its.join()
        for each in (match, its):
            each.ready()
        its.resign()
        assert [] == list(its.rematches(1))
        asking = Thread(target=lambda: match.rematch().join())
        asking.start()
        for offer in its.rematches():
            if ACCEPTED in offer.answers:
                break
        asking.join()
        assert offer.asks_you
        assert MATCH_STATE_GETTING_READY == offer.accept().state().summary.state
