"""Operators are accountable: their tokens are short and revocable, bans hold for them, and the log names them."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
from joserfc import jwt
from joserfc.jwk import OKPKey

from rollbook.identity.keys import load
from rollbook.identity.tokens import Issuer, Role
from rollbook.storage.embedded.server import find_server
from rollbook.v1 import feed_pb2, identity_pb2, match_pb2
from tests.cli.operated import IN_FORCE_SECONDS, SERVE, Site, by, opened, run
from tests.server.rpc.talking import refusal, refused
from tests.server.serving import another, started, until
from tests.server.strangers import Line
from tests.storage.servers import running

WORDS = [*SERVE[:-2], "--log-calls", "0"]


@dataclass
class Operated(Site):
    """A site with the data directory of its first service."""

    data: Path


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operated]:
    """Two replicas that log no calls but those of operators; each test has operators of its own."""
    folder = tmp_path_factory.mktemp("site")
    with ExitStack() as stack:
        store = stack.enter_context(running(find_server(), folder / "valkey"))
        words = [*WORDS, "--redis", store.url, "--archive", str(folder / "archive"), "--data"]
        one = stack.enter_context(started([*words, str(folder / "one")]))
        other = stack.enter_context(started([*words, str(another(folder / "one", one))]))
        issuer = Issuer(load(folder / "one" / "token.key"))
        site = Operated(store, (one, other), "", issuer, folder / "one")
        site.token = site.token_of("olga", Role.OPERATOR)
        yield site


def minted(site: Operated, sub: str, role: Role, jti: str, days: float = 1) -> str:
    """A token with this id."""
    seconds = int(days * 86_400)
    return site.issuer.mint(sub, role, name=sub, issued_at=int(time.time()), lifetime_seconds=seconds, jti=jti)


async def soon_refused(line: Line, token: str, reason: str) -> None:
    """Wait until a call with the token is refused for this reason."""
    async with asyncio.timeout(5 * IN_FORCE_SECONDS):
        while True:
            try:
                await line.matches.ListMatches(match_pb2.ListMatchesRequest(), metadata=by(token))
            except grpc.aio.AioRpcError as failure:
                assert reason == refused(failure).reason
                return
            await asyncio.sleep(0.02)


def test_a_revoked_token_is_refused_by_all_processes_and_streams_end(site: Operated) -> None:
    """Another token of the same subject stays valid; a feed that began with the revoked one ends."""

    async def scenario() -> None:
        lines = [Line(service.address) for service in site.services]
        leaked, kept = (minted(site, "paula", Role.PLAYER, jti) for jti in ("leaked", "kept"))
        match_id = await opened(lines[1], kept, "for-the-feed")
        feed = lines[1].feeds.WatchMatch(feed_pb2.WatchMatchRequest(match_id=match_id), metadata=by(leaked))
        await feed.read()
        said = await asyncio.to_thread(site.admin, "revoke-token", "leaked", "--json")
        assert {"jti": "leaked", "revoked": True, "is_new": True} == json.loads(said)
        assert "TOKEN_REVOKED" == (await refusal(opened(lines[0], leaked))).reason
        await soon_refused(lines[1], leaked, "TOKEN_REVOKED")

        async def rest() -> Any:
            last = None
            while (frame := await feed.read()) is not grpc.aio.EOF:
                last = frame
            return last

        async with asyncio.timeout(5 * IN_FORCE_SECONDS):
            assert (await rest()).HasField("ended")
        for line in lines:
            await line.matches.ListMatches(match_pb2.ListMatchesRequest(), metadata=by(kept))
        acts = site.acts("revoked a token")
        assert [("rollbook:olga", "leaked")] == [(act["by"], act["token_id"]) for act in acts]
        for line in lines:
            await line.channel.close()

    run(scenario)


def test_a_revoked_token_of_a_guest_is_not_exchanged(site: Operated) -> None:
    """SignIn with the old token would otherwise give a new one for the same guest."""

    async def scenario() -> None:
        line = Line(site.services[0].address)
        guest = await line.identity.SignIn(identity_pb2.SignInRequest(name="Lena"))
        jti = jti_of(site, guest.token)
        await asyncio.to_thread(site.admin, "revoke-token", jti)
        again = identity_pb2.SignInRequest(old_token=guest.token)
        assert "TOKEN_REVOKED" == (await refusal(line.identity.SignIn(again))).reason
        await line.channel.close()

    run(scenario)


def jti_of(site: Operated, token: str) -> str:
    """The id of a token."""
    key = OKPKey.import_key(load(site.data / "token.key"))
    return str(jwt.decode(token, key, algorithms=["Ed25519"]).claims["jti"])


def test_an_operators_token_lasts_at_most_as_long_as_the_service_allows(site: Operated) -> None:
    """A longer one is refused at verification; a player's token may be longer."""
    long = minted(site, "otto", Role.OPERATOR, "long", days=31)
    assert "2592000 s later than iat" in site.admin("state", token=long, code=1)
    site.admin("state", token=minted(site, "otto", Role.OPERATOR, "short", days=30))

    async def scenario() -> None:
        line = Line(site.services[0].address)
        player = minted(site, "paul", Role.PLAYER, "long-too", days=400)
        await line.matches.ListMatches(match_pb2.ListMatchesRequest(), metadata=by(player))
        await line.channel.close()

    run(scenario)


def test_a_ban_of_an_operator_holds_and_nobody_bans_themselves(site: Operated) -> None:
    """It holds in all processes; before, it was accepted and had no effect."""

    async def scenario() -> None:
        line = Line(site.services[1].address)
        rogue = site.token_of("rob", Role.OPERATOR)
        await line.matches.ListMatches(match_pb2.ListMatchesRequest(), metadata=by(rogue))
        await asyncio.to_thread(site.admin, "ban", "--subject", "rob", "--for", "1h")
        await soon_refused(line, rogue, "BANNED")
        told = await asyncio.to_thread(site.admin, "ban", "--subject", "olga", "--for", "1h", code=1)
        assert "that is you" in told
        await line.channel.close()

    run(scenario)


def test_what_operators_read_is_logged_with_their_name_also_if_calls_are_not(site: Operated) -> None:
    """The line has method, subject and the token's id; a player's call has no line here."""
    token = minted(site, "oskar", Role.OPERATOR, "of-oskar")
    for words in (["state"], ["matches"], ["bans"]):
        site.admin(*words, token=token)

    async def scenario() -> None:
        line = Line(site.services[0].address)
        await line.matches.ListMatches(match_pb2.ListMatchesRequest(), metadata=by(site.token_of("peter")))
        await line.channel.close()

    run(scenario)
    read = {"GetState", "ListMatches", "ListBans"}
    one = site.services[0]

    def calls() -> list[dict[str, Any]]:
        return [line for line in one.lines if line["event"] == "call" and line.get("jti") == "of-oskar"]

    until(lambda: read == {line["method"].rpartition("/")[2] for line in calls()}, one)
    assert {"rollbook:oskar"} == {line["by"] for line in calls()}
    assert [] == [line for line in one.lines if line["event"] == "call" and "by" not in line]


def test_token_prints_the_id_of_the_token(site: Operated) -> None:
    """`rollbook token` names it on standard error, and `revoke-token` takes it."""
    words = ["token", "--key", str(site.data / "token.key"), "--subject", "ole", "--role", "operator"]
    done = subprocess.run([sys.executable, "-m", "rollbook", *words], capture_output=True, text=True, check=True)
    found = re.search(r", jti ([0-9a-f]{16}), ", done.stderr)
    assert found
    site.admin("revoke-token", found[1])
    assert "revoked" in site.admin("state", token=done.stdout.strip(), code=1)
