"""`rollbook admin` against a running service: two processes over one store, called as an operator calls them."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import grpc
import pytest

from rollbook.identity.keys import load
from rollbook.identity.tokens import Issuer, Role
from rollbook.server.access.bans import LOOK_SECONDS, MOST_BANS
from rollbook.server.configuration.limit_table import LIMITS
from rollbook.server.rpc.admin import LONGEST_PAGE, PAGE
from rollbook.storage.embedded.server import find_server
from rollbook.storage.redis.keys import BANS_KEY, lobby_key, partition_of, stream_key
from rollbook.v1 import admin_pb2, feed_pb2, identity_pb2, match_pb2
from rollbook.v1.admin_pb2_grpc import AdminServiceStub
from rollbook.v1.cant_stop_pb2 import CantStopOptions
from rollbook.v1.games_pb2 import Options
from rollbook.v1.raffzahn_pb2 import RaffzahnOptions
from tests.server.rpc.talking import Refused, refusal, refused
from tests.server.serving import READY_SECONDS, Service, another, started
from tests.server.strangers import Line
from tests.storage.servers import Server, running

SERVE = [sys.executable, "-m", "rollbook", "serve", "--listen", "127.0.0.1:0", "--log-level", "error"]
IN_FORCE_SECONDS = 2.0
PATIENCE_SECONDS = 100
"""Each command is a separate process, which can take seconds to start on a busy machine."""


@dataclass
class Site:
    """Two replicas over one store, and the token of their operator."""

    store: Server
    services: tuple[Service, Service]
    token: str
    issuer: Issuer

    def admin(self, *words: str, code: int = 0, at: int = 0, token: str | None = None) -> str:
        """Run `rollbook admin` and return its output; fail unless the exit code is `code`."""
        command = [sys.executable, "-m", "rollbook", "admin", *words, "--service", self.services[at].address]
        done = subprocess.run(
            [*command, "--token", self.token if token is None else token],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert code == done.returncode, done.stderr
        return done.stdout if code == 0 else done.stdout + done.stderr

    def token_of(self, sub: str, role: Role = Role.PLAYER) -> str:
        """A valid token."""
        return self.issuer.mint(sub, role, name=sub, issued_at=int(time.time()), lifetime_seconds=3_600)

    def acts(self, what: str) -> list[dict[str, Any]]:
        """The log lines of operator acts of this kind."""
        lines = [line for each in self.services for line in each.lines]
        return [line for line in lines if line["event"] == "an operator has acted" and line["what"] == what]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One site for all tests of this module; each test uses its own subjects and matches."""
    folder = tmp_path_factory.mktemp("site")
    with ExitStack() as stack:
        store = stack.enter_context(running(find_server(), folder / "valkey"))
        words = [*SERVE, "--redis", store.url, "--archive", str(folder / "archive"), "--data"]
        one = stack.enter_context(started([*words, str(folder / "one")]))
        other = stack.enter_context(started([*words, str(another(folder / "one", one))]))
        issuer = Issuer(load(folder / "one" / "token.key"))
        site = Site(store, (one, other), "", issuer)
        site.token = site.token_of("olga", Role.OPERATOR)
        yield site


def by(token: str) -> list[tuple[str, str]]:
    """Call metadata with this token."""
    return [("authorization", f"Bearer {token}")]


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    """Run the scenario; fail after `PATIENCE_SECONDS`."""

    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await scenario()

    asyncio.run(bounded())


async def opened(line: Line, token: str, request_id: str = "a-request") -> str:
    """Open a match with this token and return its id."""
    request = match_pb2.OpenMatchRequest(request_id=request_id, seats=2, options=Options(cant_stop=CantStopOptions()))
    return str((await line.matches.OpenMatch(request, metadata=by(token))).match_id)


async def is_refused(call: Callable[[], Awaitable[Any]], reason: str) -> Refused:
    """Retry the call until it is refused with this reason; fail after the time that a ban may take to apply."""
    deadline = time.monotonic() + IN_FORCE_SECONDS + READY_SECONDS / 2
    while True:
        try:
            await call()
        except grpc.aio.AioRpcError as error:
            assert reason == refused(error).reason
            return refused(error)
        assert time.monotonic() < deadline, "nothing is refused"
        await asyncio.sleep(0.05)


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


def test_only_operators_may_do_any_of_it(site: Site) -> None:
    """Players are refused with the role that the call needs; a call without a token is refused as such."""

    async def scenario() -> None:
        line = Line(site.services[0].address)
        channel: Any = line.channel
        stub: Any = AdminServiceStub(channel)
        calls = {
            "Ban": admin_pb2.BanRequest(target=admin_pb2.BanTarget(address="192.0.2.9"), seconds=60),
            "LiftBan": admin_pb2.LiftBanRequest(ban_id="x"),
            "ListBans": admin_pb2.ListBansRequest(),
            "ListOpened": admin_pb2.ListOpenedRequest(target=admin_pb2.BanTarget(address="192.0.2.9")),
            "RevokeToken": admin_pb2.RevokeTokenRequest(jti="x"),
            "AcceptLoss": admin_pb2.AcceptLossRequest(),
            "GetState": admin_pb2.GetStateRequest(),
        }
        service = admin_pb2.DESCRIPTOR.services_by_name["AdminService"]
        assert calls.keys() == {method.name for method in service.methods}
        for name, request in calls.items():
            told = await refusal(getattr(stub, name)(request, metadata=by(site.token_of("frida"))))
            assert ("ROLE_MISSING", "operator") == (told.reason, told.facts["role"])
            assert "TOKEN_MISSING" == (await refusal(getattr(stub, name)(request))).reason
        await line.channel.close()

    run(scenario)


def test_matches_are_listed_shown_and_aborted_and_the_log_says_by_whom(site: Site) -> None:
    """The lists include private matches; a match with a complete log cannot be dropped."""

    async def scenario() -> None:
        line = Line(site.services[0].address)
        request = match_pb2.OpenMatchRequest(
            request_id="a-private-one", seats=3, options=Options(raffzahn=RaffzahnOptions()), is_private=True
        )
        gina = site.token_of("gina")
        match_id = (await line.matches.OpenMatch(request, metadata=by(gina))).match_id
        await opened(line, gina, "a-second-one")

        async def admin(*words: str, code: int = 0) -> str:
            return await asyncio.to_thread(site.admin, *words, code=code)

        listed = await admin("matches", "--state", "open", "--game", "raffzahn")
        assert f"private  {match_id}" in listed
        first = (await admin("matches", "--limit", "1", "--json")).splitlines()
        assert 2 == len(first)
        behind = await admin("matches", "--limit", "1", "--json", "--page", json.loads(first[1])["next_page"])
        assert json.loads(first[0])["match_id"] != json.loads(behind.splitlines()[0])["match_id"]
        assert "seat 0: (free)" in await admin("show", match_id)
        assert match_id == json.loads(await admin("show", match_id, "--json"))["summary"]["match_id"]
        assert "is whole" in await admin("drop", match_id, code=1)
        assert f"match {match_id}" in await admin("abort", match_id)
        get = match_pb2.GetMatchRequest(match_id=match_id)
        look = await line.matches.GetMatch(get, metadata=by(gina))
        assert match_pb2.MATCH_STATE_ABORTED == look.summary.state
        await admin("show", "a" * 24, code=3)
        await line.channel.close()
        (act,) = [line for line in site.acts("aborted a match") if line["match"] == match_id]
        assert "rollbook:olga" == act["by"]

    run(scenario)


def test_lost_matches_are_listed_and_dropped(site: Site) -> None:
    """A lost match without a log leaves the lobby. One whose first events remain is sealed and stays listed as lost."""

    async def scenario() -> None:
        line = Line(site.services[0].address)
        hans = site.token_of("hans")
        gone, cut = await opened(line, hans, "will-be-gone"), await opened(line, hans, "will-be-cut")
        take = match_pb2.TakeSeatRequest(request_id="take-a-seat", match_id=cut)
        await line.matches.TakeSeat(take, metadata=by(hans))
        with site.store.client() as client:
            assert client.hexists(lobby_key(partition_of(gone)), gone)
            client.delete(stream_key(gone))
            client.xdel(stream_key(cut), "2-0")

        async def admin(*words: str, code: int = 0) -> str:
            return await asyncio.to_thread(site.admin, *words, code=code)

        found = await admin("lost")
        assert [f"LOST  {cut}", f"LOST  {gone}"] == sorted(
            (entry[:30] for entry in found.splitlines()), key=lambda entry: entry.endswith(gone)
        )
        assert json.loads(await admin("drop", gone, "--json"))["is_gone"]
        assert 2 == json.loads(await admin("drop", cut, "--json"))["sealed_by_event"]
        remaining = await admin("lost")
        assert (False, True) == (gone in remaining, cut in remaining)
        assert "LOST" not in remaining
        assert {"rollbook:olga"} == {act["by"] for act in site.acts("dropped a match of which nothing is stored")}
        await line.channel.close()

    run(scenario)


def test_the_state_tells_of_process_store_archive_and_limits(site: Site) -> None:
    """The state is that of the process that answers; exactly one of two replicas sweeps."""
    states = [json.loads(site.admin("state", "--json", at=number)) for number in (0, 1)]
    for state, service in zip(states, site.services, strict=True):
        assert str(service.process.pid) == state["process"]
        assert (True, True, "fsync") == (state["store_is_up"], state["archive_is_up"], state["durability"])
        (master,) = state["masters"]
        assert (site.store.port, True, True) == (master["port"], master["answers"], master["file_is_well"])
        assert [limit.key for limit in LIMITS] == [limit["key"] for limit in state["limits"]]
    assert 1 == sum(state.get("sweeps", False) for state in states)
    assert f"port {site.store.port}" in site.admin("state")
    listed = site.admin("limits")
    assert len(LIMITS) == len(listed.splitlines())
    assert "all together" in listed


def test_every_process_states_the_matches_of_the_store_and_its_last_beat(site: Site) -> None:
    """The process that does not sweep answers as well: operators cannot choose which process replies."""

    async def open_two() -> None:
        line = Line(site.services[0].address)
        for number in range(2):
            await opened(line, site.token_of("jana"), f"of-jana-{number}")
        await line.channel.close()

    run(open_two)
    listed = {
        state: len(site.admin("matches", "--state", state, "--limit", "200").splitlines())
        for state in ("open", "getting_ready", "running")
    }
    assert listed["open"] >= 2
    with site.store.client() as client:

        def now_ms() -> int:
            seconds, microseconds = client.time()
            return int(seconds) * 1_000 + int(microseconds) // 1_000

        for number in (0, 1):
            before_ms = now_ms()
            deadline = time.monotonic() + READY_SECONDS
            while True:
                state = json.loads(site.admin("state", "--json", at=number))
                assert listed == {name: int(count) for name, count in state["matches"].items()}
                if before_ms <= int(state.get("swept_ms", 0)) <= now_ms():
                    break
                assert time.monotonic() < deadline, "the beat is old"
            shown = site.admin("state", at=number)
            assert f"{listed['open']} open" in shown
            assert "sweeps, last at" in shown


def test_the_state_is_told_although_the_store_does_not_answer(site: Site) -> None:
    """Operators need the state most when the store does not answer."""
    site.store.process.send_signal(signal.SIGSTOP)
    try:
        state = json.loads(site.admin("state", "--json"))
    finally:
        site.store.process.send_signal(signal.SIGCONT)
    assert not state["masters"][0].get("answers", False)
    assert not state.keys() & {"matches", "swept_ms"}


def test_without_an_operators_token_the_command_says_where_one_comes_from(site: Site) -> None:
    """The message names `rollbook admin --help`; a player's token is refused."""
    assert "rollbook admin --help" in site.admin("state", code=64, token="")
    assert "the service refuses" in site.admin("state", code=1, token=site.token_of("ida"))


def test_every_command_has_a_help_with_an_example() -> None:
    """An operator woken at night reads only this help."""
    from rollbook_clients.commands.admin import admin  # noqa: PLC0415 - only here

    names = [name for name in admin if not name.startswith("-")]
    assert {
        "matches",
        "lost",
        "show",
        "abort",
        "drop",
        "bans",
        "ban",
        "lift",
        "state",
        "limits",
        "accept-loss",
        "revoke-token",
    } == set(names)
    for name in names:
        assert f"Example: `rollbook admin {name}" in (admin[name].help or "")
        assert f"rollbook admin {name}" in (admin.help or "") or name in {"show", "drop", "limits"}
