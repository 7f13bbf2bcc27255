"""The opener of a match plays in company: bots of the house, friends, a rematch, and a second device."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import aclosing, suppress
from itertools import chain
from pathlib import Path

import psutil
import pytest

from rollbook.v1.events_pb2 import Event as EventMessage
from rollbook_clients.sdk import (
    Events,
    LimitReached,
    Match,
    MovedOn,
    NotAllowed,
    NotNow,
    Refused,
    Table,
    connect,
    sync,
)
from tests.clients.sdk.tables import PATIENCE_SECONDS, QUICK, tables
from tests.server.serving import Service, started


def serving(data: Path, **more: str) -> list[str]:
    """The command line that starts a service."""
    flags = {"--data": str(data), "--listen": "127.0.0.1:0", "--durability": "relaxed", **more}
    return [sys.executable, "-m", "rollbook", "serve", *chain.from_iterable(flags.items())]


async def play(match: Match, bots: set[int]) -> None:
    """Make the first legal choice until all these bots have chosen as well, then resign."""
    chosen: set[int] = set()
    async with aclosing(match.watch()) as frames:
        async for frame in frames:
            if isinstance(frame, Events):
                chosen |= {event.message.seat for event in frame.events if _is_chosen(event.message)}
                if bots <= chosen:
                    break
                if frame.legal:
                    with suppress(MovedOn):
                        await match.choose(next(iter(frame.legal)), at=frame.position)
    await match.resign()


def _is_chosen(event: EventMessage) -> bool:
    return event.HasField("chosen") and not event.chosen.by_caretaker


def houses(service: Service) -> list[psutil.Process]:
    """The processes of a service's house bots."""
    children = psutil.Process(service.process.pid).children(recursive=True)
    return [child for child in children if child.cmdline()[-1:] == ["house"]]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_bots_of_the_house_play_where_they_are_asked_to(tmp_path: Path, workers: str) -> None:
    """Every worker adds bots; one process for all bots starts with the first one."""

    async def scenario(service: Service) -> None:
        assert [] == houses(service)
        async with asyncio.timeout(PATIENCE_SECONDS), tables(service.address, "Anna") as (anna,):
            match = await anna.open("raffzahn", seats=3, is_private=True)
            assert 0 == (await match.join()).number
            assert [1, 2] == [(await match.add_bot(strategy)).number for strategy in ("random", "heuristic")]
            await match.ready()
            await play(match, {1, 2})
            summary = (await match.state()).summary
            assert summary.seats[0].forfeited
            assert ["Anna", "Uno", "Duo"] == [seat.name for seat in summary.seats]
            assert all(seat.brings_entropy for seat in summary.seats)
            assert 1 == len(houses(service))

    with started(serving(tmp_path / "data", **{"--workers": workers})) as service:
        asyncio.run(scenario(service))


def test_bots_play_on_when_their_process_or_the_service_was_killed(tmp_path: Path) -> None:
    """The store keeps the seats of the bots, and their entropy follows from the service key."""

    async def seated(service: Service) -> str:
        async with asyncio.timeout(PATIENCE_SECONDS), tables(service.address, "Anna") as (anna,):
            match = await anna.open("cant_stop", seats=4)
            await match.join(seat=3)
            await match.add_bot("random")
            await match.add_bot("random")
            await match.leave()
            return match.id

    async def joined(service: Service, match_id: str) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS), tables(service.address, "Ben", "Carla") as people:
            matches = [person.match(match_id) for person in people]
            for match in matches:
                await match.join()
            for match in matches:
                await match.ready()
            (house,) = houses(service)
            house.kill()
            await asyncio.gather(*(play(match, {0, 1}) for match in matches))

    with started(serving(tmp_path / "data")) as service:
        match_id = asyncio.run(seated(service))
        service.process.kill()
        service.process.wait()
    with started(serving(tmp_path / "data")) as service:
        asyncio.run(joined(service, match_id))


def test_without_house_seats_there_are_no_bots(tmp_path: Path) -> None:
    """With `house_seats` 0 the service refuses AddBot, and the refusal suggests what to do instead."""

    async def scenario(service: Service) -> None:
        async with tables(service.address, "Anna") as (anna,):
            match = await anna.open("cant_stop")
            with pytest.raises(NotNow, match="rollbook bot") as refused:
                await match.add_bot()
            assert "NO_HOUSE" == refused.value.reason

    env = os.environ | {"ROLLBOOK_LIMITS_HOUSE_SEATS": "0"}
    with started(serving(tmp_path / "data"), env=env) as service:
        asyncio.run(scenario(service))


def test_friends_meet_in_a_rematch(tmp_path: Path) -> None:
    """The second player who asks for a rematch gets the match of the first, as the same object."""

    async def scenario(service: Service) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS), tables(service.address, "Anna", "Ben", "Eve") as (anna, ben, eve):
            match = await anna.open("cant_stop", is_private=True)
            sides = [match, ben.match(match.id, match.invitation_code)]
            for side in sides:
                await side.join()
            await asyncio.gather(*(side.ready() for side in sides))
            with pytest.raises(NotNow):
                await match.rematch()
            await sides[1].resign()
            first, second = await asyncio.gather(*(side.rematch() for side in sides))
            assert first.id == second.id != match.id
            assert first is anna.match(first.id)
            with pytest.raises(Refused):
                await eve.match(match.id).rematch()
            assert {0, 1} == {(await side.join()).number for side in (first, second)}

    with started(serving(tmp_path / "data")) as service:
        asyncio.run(scenario(service))


def test_a_guest_has_a_second_device(tmp_path: Path) -> None:
    """A code signs in the second device once; both devices can play the seats that are ready."""

    async def scenario(service: Service) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS), tables(service.address, "Anna") as (anna,):
            match = await anna.open("cant_stop")
            await match.join()
            await match.add_bot("random")
            await match.ready()
            code = await anna.device_code()
            async with connect(service.address, code=code, keep=tmp_path / "guests", patience=QUICK) as device:
                assert "Anna" == device.name
                await play(device.match(match.id), {1})
            with pytest.raises(NotAllowed) as refused:
                await Table.__aenter__(connect(service.address, code=code, patience=QUICK))
            assert "DEVICE_CODE_WRONG" == refused.value.reason
            async with connect(service.address, keep=tmp_path / "guests", patience=QUICK) as device:
                assert 0 == (await device.match(match.id).state()).perspective.seat

    with started(serving(tmp_path / "data")) as service:
        asyncio.run(scenario(service))


def test_without_async_there_is_the_same_company(tmp_path: Path) -> None:
    """The synchronous API offers the same: a freed seat is free, and limits apply."""
    env = os.environ | {"ROLLBOOK_LIMITS_HOUSE_SEATS": "1"}
    with started(serving(tmp_path / "data"), env=env) as service, sync.connect(service.address) as table:
        match = table.open("cant_stop", seats=3)
        match.join()
        assert 1 == match.add_bot("random", seat=1).number
        with pytest.raises(LimitReached):
            match.add_bot("random")
        assert "seat_left" == match.free_seat(1).events[0].kind
        assert 9 + 1 + 52 == len(table.device_code())
        assert tmp_path / f"{match.id}.rollbook" == match.export(tmp_path)
        assert tmp_path / "mine" == match.export(tmp_path / "mine")
