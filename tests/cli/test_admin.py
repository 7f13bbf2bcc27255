"""`rollbook admin` against a running service: two processes over one store, called as an operator calls them."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from typing import Any

from rollbook.server.configuration.limit_table import LIMITS
from rollbook.storage.redis.keys import lobby_key, partition_of, stream_key
from rollbook.v1 import admin_pb2, match_pb2
from rollbook.v1.admin_pb2_grpc import AdminServiceStub
from rollbook.v1.games_pb2 import Options
from rollbook.v1.raffzahn_pb2 import RaffzahnOptions
from tests.cli.operated import Site, by, opened, run
from tests.server.rpc.talking import refusal
from tests.server.serving import READY_SECONDS
from tests.server.strangers import Line


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
