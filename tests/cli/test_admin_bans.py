"""Bans by `rollbook admin`: of subjects, addresses and seats, in all processes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import pytest

from rollbook.server.access.bans import MOST_BANS
from rollbook.server.access.followed_list import LOOK_SECONDS
from rollbook.server.rpc.admin import LONGEST_PAGE, PAGE
from rollbook.storage.redis.keys import BANS_KEY
from rollbook.v1 import admin_pb2, feed_pb2, identity_pb2, match_pb2
from rollbook.v1.admin_pb2_grpc import AdminServiceStub
from tests.cli.operated import IN_FORCE_SECONDS, Site, by, is_refused, opened, run
from tests.server.rpc.talking import Refused, refusal
from tests.server.serving import READY_SECONDS
from tests.server.strangers import Line


def test_a_ban_is_in_force_in_every_process_and_the_refusal_says_until_when(site: Site) -> None:
    """Both processes apply a ban at their next look at the list (every second), and SignIn refuses as well."""

    async def scenario() -> None:
        lines = [Line(service.address) for service in site.services]
        anna, ben = site.token_of("anna"), site.token_of("ben")

        def look(line: Line, token: str) -> Callable[[], Awaitable[Any]]:
            return lambda: line.matches.ListMatches(match_pb2.ListMatchesRequest(), metadata=by(token))

        for line in lines:
            await look(line, anna)()
        before_ms = time.time_ns() // 1_000_000
        words = ["ban", "--subject", "anna", "--for", "1h", "--why", "insults", "--json"]
        ban = json.loads(await asyncio.to_thread(site.admin, *words))
        first = await refusal(look(lines[0], anna)())
        second = await is_refused(look(lines[1], anna), "BANNED")
        for told in (first, second):
            assert ("BANNED", grpc.StatusCode.PERMISSION_DENIED) == (told.reason, told.code)
            assert {"until": ban["until_ms"], "what": "subject"} == told.facts
        assert 0 <= int(ban["until_ms"]) - 3_600_000 - before_ms < READY_SECONDS * 1_000
        await look(lines[0], ben)()
        assert ("rollbook:olga", "insults") == (ban["by"], ban["why"])
        assert ban["ban_id"] in await asyncio.to_thread(site.admin, "bans", at=1)
        await asyncio.to_thread(site.admin, "lift", ban["ban_id"], at=1)
        await look(lines[1], anna)()
        deadline = time.monotonic() + READY_SECONDS
        while True:
            try:
                await look(lines[0], anna)()
                break
            except grpc.aio.AioRpcError:
                assert time.monotonic() < deadline
                await asyncio.sleep(0.05)
        await asyncio.to_thread(site.admin, "lift", ban["ban_id"], code=3)
        for line in lines:
            await line.channel.close()

    run(scenario)
    assert LOOK_SECONDS <= IN_FORCE_SECONDS / 2
    (act,) = site.acts("banned")
    assert ("rollbook:olga", "rollbook:anna", "insults") == (act["by"], act["target"], act["why"])
    assert {"rollbook:olga"} == {line["by"] for line in site.acts("lifted a ban")}


def test_a_seat_is_kept_out_without_anybody_knowing_whose_it_is(site: Site) -> None:
    """The log does not name the player.

    The service refuses the player of the seat at the next call, also a returning guest.
    """

    async def scenario() -> None:
        line = Line(site.services[0].address)
        guest = await line.identity.SignIn(identity_pb2.SignInRequest(name="Rude"))
        match_id = await opened(line, guest.token)
        take = match_pb2.TakeSeatRequest(request_id="take-a-seat", match_id=match_id, seat=1)
        await line.matches.TakeSeat(take, metadata=by(guest.token))
        await asyncio.to_thread(site.admin, "ban", "--match", match_id, "--seat", "0", "--for", "1h", code=1)
        await asyncio.to_thread(site.admin, "ban", "--match", match_id, "--seat", "1", "--for", "1h")
        get = match_pb2.GetMatchRequest(match_id=match_id)
        told = await refusal(line.matches.GetMatch(get, metadata=by(guest.token)))
        assert ("BANNED", "seat") == (told.reason, told.facts["what"])
        again = identity_pb2.SignInRequest(old_token=guest.token)
        assert "BANNED" == (await refusal(line.identity.SignIn(again))).reason
        assert f"seat 1 of {match_id}" in await asyncio.to_thread(site.admin, "bans")
        await line.channel.close()

    run(scenario)


def test_feeds_under_way_end_and_streams_of_play_end_at_their_next_request(site: Site) -> None:
    """The ban was requested from the other process; a quiet feed ends before its next heartbeat."""

    async def scenario() -> None:
        line = Line(site.services[1].address)
        carl = site.token_of("carl")
        # The match of another player: the ban withdraws those that its subject has opened.
        match_id = await opened(line, site.token_of("host-of-carl"), "for-carl")
        feed = line.feeds.WatchMatch(feed_pb2.WatchMatchRequest(match_id=match_id), metadata=by(carl))
        lobby = line.feeds.WatchLobby(feed_pb2.WatchLobbyRequest(), metadata=by(carl))
        play = line.matches.Play(metadata=by(carl))
        choice = match_pb2.PlayRequest(match_id=match_id, request_id="a-choice")
        await play.write(choice)
        assert (await play.read()).HasField("refused")
        for stream in (feed, lobby):
            await stream.read()
        await asyncio.to_thread(site.admin, "ban", "--subject", "carl", "--for", "1h")

        async def drained(stream: Any) -> Refused:
            async def rest() -> None:
                while await stream.read() is not grpc.aio.EOF:
                    pass

            return await refusal(rest())

        told = await asyncio.gather(drained(feed), drained(lobby))
        assert ["BANNED", "BANNED"] == [each.reason for each in told]
        await play.write(choice)
        assert "BANNED" == (await drained(play)).reason
        await line.channel.close()

    run(scenario)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.0/8", "127.0.0.0/31"])
def test_an_address_is_kept_out_but_for_operators(address: str, site: Site) -> None:
    """Players at the address cannot sign in; an operator at the same address can still lift the ban."""

    async def scenario() -> None:
        line = Line(site.services[0].address)
        guest = await line.identity.SignIn(identity_pb2.SignInRequest(name="Near"))
        found = await asyncio.to_thread(site.admin, "ban", "--address", address, "--for", "10m", "--json")
        assert address == json.loads(found)["target"]["address"]
        try:
            told = await refusal(line.identity.SignIn(identity_pb2.SignInRequest(name="Next")))
            assert ("BANNED", "address") == (told.reason, told.facts["what"])
            look = match_pb2.ListMatchesRequest()
            assert "BANNED" == (await refusal(line.matches.ListMatches(look, metadata=by(guest.token)))).reason
        finally:
            await asyncio.to_thread(site.admin, "lift", json.loads(found)["ban_id"])
        await line.matches.ListMatches(look, metadata=by(guest.token))
        beside = await asyncio.to_thread(site.admin, "ban", "--address", "127.0.0.2/31", "--for", "10m", "--json")
        await line.matches.ListMatches(look, metadata=by(guest.token))
        await asyncio.to_thread(site.admin, "lift", json.loads(beside)["ban_id"])
        await line.channel.close()

    run(scenario)
    household = json.loads(site.admin("ban", "--address", "2001:db8::7", "--for", "10m", "--json"))
    assert "2001:db8::/64" == household["target"]["address"]


def test_a_ban_ends_by_itself(site: Site) -> None:
    """A ban expires by the store's clock, without any action, and then leaves the list."""

    async def scenario() -> None:
        line = Line(site.services[0].address)
        dora = site.token_of("dora")
        ban = json.loads(await asyncio.to_thread(site.admin, "ban", "--subject", "dora", "--for", "2s", "--json"))
        deadline = time.monotonic() + READY_SECONDS
        while True:
            try:
                await line.matches.ListMatches(match_pb2.ListMatchesRequest(), metadata=by(dora))
                break
            except grpc.aio.AioRpcError:
                assert time.monotonic() < deadline
                await asyncio.sleep(0.05)
        assert ban["ban_id"] not in await asyncio.to_thread(site.admin, "bans")
        # Any change to the list removes expired bans.
        other = json.loads(await asyncio.to_thread(site.admin, "ban", "--subject", "emil", "--for", "1h", "--json"))
        with site.store.client() as client:
            ids = {field.decode() for field in client.hkeys(BANS_KEY)}
            assert client.pttl(BANS_KEY) > 3_600_000
        assert (True, False) == (other["ban_id"] in ids, ban["ban_id"] in ids)
        await line.channel.close()

    run(scenario)


def test_bans_come_page_by_page_and_are_bounded(site: Site) -> None:
    """A page has at most `--limit` bans, and the store accepts at most `MOST_BANS`."""
    for number in range(3):
        site.admin("ban", "--subject", f"many-{number}", "--for", f"{number + 2}d")
    found: list[dict[str, Any]] = []
    page: list[str] = []
    while True:
        *lines, last = [json.loads(line) for line in site.admin("bans", "--json", "--limit", "2", *page).splitlines()]
        if "next_page" not in last:
            found += [*lines, last]
            break
        assert 2 == len(lines)
        found += lines
        page = ["--page", last["next_page"]]
    ids = [ban["ban_id"] for ban in found]
    assert len(set(ids)) == len(ids) >= 3
    assert sorted(int(ban["until_ms"]) for ban in found) == [int(ban["until_ms"]) for ban in found]
    site.admin("bans", "--page", "AAAA", code=1)
    site.admin("bans", "--limit", "-1", code=1)
    with site.store.client() as client:
        there = client.hlen(BANS_KEY) - 1
        far = str(2**45)
        client.hset(BANS_KEY, mapping={f"filler-{number}": f"{far} []" for number in range(MOST_BANS - there)})
        try:
            assert "too many are kept out" in site.admin("ban", "--subject", "one-more", "--for", "1h", code=1)
        finally:
            client.hdel(BANS_KEY, *[f"filler-{number}" for number in range(MOST_BANS - there)])
    assert (1_000, 50, 200) == (MOST_BANS, PAGE, LONGEST_PAGE)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "target"),
        ({"target": {"subject": {}}}, "subject"),
        ({"target": {"subject": {"sub": "x" * 201}}}, "subject"),
        ({"target": {"address": "somewhere"}}, "address"),
        ({"target": {"address": "10.0.0.0/7"}}, "address"),
        ({"target": {"address": "10.0.0.1/8"}}, "address"),
        ({"target": {"address": "2001:db8::/31"}}, "address"),
        ({"target": {"address": "2001:db8::/65"}}, "address"),
        ({"target": {"address": "2001:db8::7/128"}}, "address"),
        ({"target": {"address": "192.0.2.7"}, "seconds": 0}, "seconds"),
        ({"target": {"address": "192.0.2.7"}, "seconds": 315_360_001}, "seconds"),
        ({"target": {"address": "192.0.2.7"}, "why": "x" * 201}, "why"),
        ({"target": {"address": "192.0.2.7"}, "why": "a\nb"}, "why"),
    ],
)
def test_a_ban_that_cannot_be_meant_is_refused_by_its_field(site: Site, fields: dict[str, Any], field: str) -> None:
    """A malformed ban is refused by its field, so that the store only holds bans that every process can read."""

    async def scenario() -> None:
        line = Line(site.services[0].address)
        channel: Any = line.channel
        stub: Any = AdminServiceStub(channel)
        request = admin_pb2.BanRequest(**{"seconds": 60, **fields})
        told = await refusal(stub.Ban(request, metadata=by(site.token)))
        assert ("BAN_MALFORMED", field) == (told.reason, told.facts["field"])
        await line.channel.close()

    run(scenario)
