"""Matches taken home: exported as files, and audited by those who played them."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import grpc
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.identity.keys import key_id
from rollbook.match.fairness import link
from rollbook.match.heads import sign_head
from rollbook.server.feed_service import FeedServicer
from rollbook.server.identity_service import IdentityService
from rollbook.server.match_service import MatchService
from rollbook.server.refusing import Refusal, Refusing
from rollbook.v1 import feed_pb2_grpc, identity_pb2_grpc, match_pb2_grpc, replay_pb2, replay_pb2_grpc
from rollbook_clients.sdk import Match, NotFound, Unreachable
from rollbook_replays.container import Head, Replay, read, write
from rollbook_replays.verdicts import Check, Verdict
from tests.clients.sdk.proxy import Pair, Proxy
from tests.clients.sdk.tables import SEED, impatient, play, run, running, tables
from tests.server.watching import Theatre

REPLAY_KEY = Ed25519PrivateKey.from_private_bytes(b"r" * 32)
PART_BYTES = 500


class Keys(IdentityService):
    """Publishes the key of replay files as well."""

    async def GetKeys(self, request: Any, context: Any) -> Any:  # noqa: N802 - named by the contract
        """All keys."""
        response = await super().GetKeys(request, context)
        public = REPLAY_KEY.public_key()
        response.replay_keys.add(key_id=key_id(public), public_key=public.public_bytes_raw(), in_use=True)
        return response


class Library(replay_pb2_grpc.ReplayServiceServicer):
    """Hands out matches in small parts; `between` happens after the first of them."""

    def __init__(self, theatre: Theatre) -> None:
        """Lend from this theatre's log."""
        self.theatre = theatre
        self.port = 0
        self.proxy = Proxy(0)
        self.between: Callable[[], Awaitable[None]] | None = None

    async def GetReplay(self, request: Any, context: Any) -> AsyncIterator[replay_pb2.GetReplayResponse]:  # noqa: N802 - named by the contract
        """A match as a file."""
        del context
        data = await self.file(request.match_id)
        for start in range(0, len(data), PART_BYTES):
            yield replay_pb2.GetReplayResponse(part=data[start : start + PART_BYTES])
            if self.between is not None:
                between, self.between = self.between, None
                await between()

    async def AuditReplay(self, request_iterator: Any, context: Any) -> Any:  # noqa: N802 - named by the contract
        """Nobody asks for that here."""
        raise NotImplementedError

    async def file(self, match_id: str) -> bytes:
        """The file of a match."""
        theatre = self.theatre
        entries = await theatre.log.read(match_id, 0, 100_000)
        if not entries:
            raise Refusal("MATCH_NOT_FOUND", "there is no such match for this caller")
        opened = (await theatre.service.matches.ledger(match_id)).opened
        events = [entry.event for entry in entries]
        beside = {
            number: entry.private for number, entry in enumerate(entries, start=1) if number > 1 and entry.private
        }
        last, name = link(events[-1]), theatre.service.head_key_id
        head = Head(len(events), last, name, sign_head(theatre.head_key, match_id, len(events), last))
        return write(
            Replay(match_id, opened.game, opened.ruleset, None, tuple(events), beside, (head,)),
            REPLAY_KEY,
        )


@asynccontextmanager
async def lending(theatre: Theatre) -> AsyncIterator[Library]:
    """The theatre's service on another port, with a library."""
    server = grpc.aio.server(interceptors=[Refusing()])
    library, feeds = Library(theatre), FeedServicer(theatre.service)
    match_pb2_grpc.add_MatchServiceServicer_to_server(MatchService(theatre.service), server)
    identity_pb2_grpc.add_IdentityServiceServicer_to_server(Keys(theatre.service), server)
    feed_pb2_grpc.add_FeedServiceServicer_to_server(feeds, server)
    replay_pb2_grpc.add_ReplayServiceServicer_to_server(library, server)
    library.port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield library
    finally:
        await server.stop(None)
        await feeds.close()


def taken_home(scenario: Callable[[Library, list[Match]], Awaitable[None]], game: str = "allie_gator") -> None:
    """Let two players play a match to its end, and then go on."""

    async def main(theatre: Theatre) -> None:
        async with (
            lending(theatre) as library,
            Proxy(library.port) as library.proxy,
            tables(theatre, "Anna", "Ben", through=library.proxy.address) as players,
        ):
            matches = await running(players, game)
            await asyncio.gather(*(play(match, Random(SEED)) for match in matches))
            await scenario(library, matches)

    run(main)


def test_a_player_verifies_the_match_that_was_played() -> None:
    """With the keys that are published and the head that was kept, nothing is missing and everything is right."""

    async def scenario(_library: Library, matches: list[Match]) -> None:
        for match in matches:
            audited = await match.verify()
            assert (Verdict.EXACT, match.id) == (audited.verdict, audited.match_id)

    taken_home(scenario)


def test_a_service_that_rewrote_a_match_is_convicted_by_its_player() -> None:
    """A log may be sound in itself, and still not be the one that the service vouched for when the player looked."""

    async def scenario(library: Library, matches: list[Match]) -> None:
        match, theatre = matches[0], library.theatre
        assert match.head is not None
        sequence = match.head.sequence + 1
        signature = sign_head(theatre.head_key, match.id, sequence, bytes(32))
        match._witness._heads.keep(replace(match.head, sequence=sequence, link=bytes(32), signature=signature))
        audited = await match.verify()
        assert Verdict.DIVERGED == audited.verdict
        assert audited.divergence is not None
        assert Check.HEADS == audited.divergence.check

    taken_home(scenario)


def test_a_match_is_exported_whole_though_the_connection_is_cut(tmp_path: Path) -> None:
    """Half a file never has the name of a whole one; it is asked for again until all of it is there."""

    async def scenario(library: Library, matches: list[Match]) -> None:
        async def cut() -> None:
            library.proxy.each(Pair.cut)

        library.between = cut
        path = await matches[0].export(tmp_path / "match.rollbook")
        assert await library.file(matches[0].id) == path.read_bytes()
        assert matches[0].id == read(path.read_bytes()).replay.match_id
        assert [path] == list(tmp_path.iterdir())
        assert stat.S_IRUSR | stat.S_IWUSR == stat.S_IMODE(path.stat().st_mode)

    taken_home(scenario)


def test_a_match_that_cannot_be_had_leaves_no_file(tmp_path: Path) -> None:
    """Neither of one that there is not, nor of one whose service went away."""

    async def scenario(library: Library, matches: list[Match]) -> None:
        async with tables(library.theatre, "Cora", through=library.proxy.address, patience=impatient(call=0.5)) as (
            cora,
        ):
            with pytest.raises(NotFound):
                await cora.match("a" * 24).export(tmp_path / "none.rollbook")
            library.proxy.upstream = 1
            library.proxy.each(Pair.cut)
            with pytest.raises(Unreachable):
                await cora.match(matches[0].id).export(tmp_path / "gone.rollbook")
        assert [] == list(tmp_path.iterdir())

    taken_home(scenario, "cant_stop")
