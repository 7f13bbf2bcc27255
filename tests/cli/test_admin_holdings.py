"""What `rollbook admin` does to everything that a subject or an address holds, with two processes over one store."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from rollbook.match.chain import entropy_commitment
from rollbook.server.addresses import FORWARDED
from rollbook.v1 import admin_pb2, match_pb2
from rollbook.v1.admin_pb2_grpc import AdminServiceStub
from rollbook.v1.games_pb2 import Options
from rollbook.v1.raffzahn_pb2 import RaffzahnOptions
from tests.cli.operated import Site, by, run
from tests.server.rpc.talking import entropy
from tests.server.strangers import Line

ABORTED, OPEN, RUNNING = (match_pb2.MatchState.Value(f"MATCH_STATE_{name}") for name in ("ABORTED", "OPEN", "RUNNING"))


class Player:
    """A player with a token; request ids are numbered."""

    def __init__(self, site: Site, name: str, at: int = 0, *, forwarded: bool = False) -> None:
        """Call this process, as a proxy on the same machine if `forwarded`."""
        self.line = Line(site.services[at].address)
        self.metadata: list[tuple[str, str]] = by(site.token_of(name)) + [(FORWARDED, "192.0.2.1")] * forwarded
        self.name, self.requests = name, 0

    async def call(self, method: str, **fields: Any) -> Any:
        """Call a method of the MatchService."""
        self.requests += 1
        request = getattr(match_pb2, f"{method}Request")(request_id=f"{self.name}-{self.requests:08}", **fields)
        return await getattr(self.line.matches, method)(request, metadata=self.metadata)

    async def open(self, seats: int = 3) -> str:
        """Open a match of Raffzahn."""
        options = Options(raffzahn=RaffzahnOptions())
        return str((await self.call("OpenMatch", seats=seats, options=options)).match_id)

    async def sit(self, match_id: str, seat: int) -> None:
        """Take this seat."""
        commitment = entropy_commitment(entropy(seat))
        await self.call("TakeSeat", match_id=match_id, seat=seat, entropy_commitment=commitment)

    async def look(self, match_id: str) -> Any:
        """The match as it is now."""
        request = match_pb2.GetMatchRequest(match_id=match_id)
        return await self.line.matches.GetMatch(request, metadata=self.metadata)

    async def state(self, match_id: str) -> int:
        """The state of a match."""
        return int((await self.look(match_id)).summary.state)


async def started(players: list[Player]) -> str:
    """A running match of these players, opened by the first."""
    match_id = await players[0].open(len(players))
    for seat, player in enumerate(players):
        await player.sit(match_id, seat)
    closing = (await players[0].look(match_id)).head.link
    for seat, player in enumerate(players):
        await player.call("Ready", match_id=match_id, closing_link=closing, entropy=entropy(seat))
    return match_id


def test_a_ban_withdraws_open_tables_and_gives_up_seats_and_running_matches_go_on(site: Site) -> None:
    """By the name of the subject, and by a seat."""

    async def scenario() -> None:
        lena, mia, noah = Player(site, "lena"), Player(site, "mia", 1), Player(site, "noah")
        running = await started([lena, mia, noah])
        own, other = await lena.open(), await mia.open()
        await mia.sit(own, 0)
        await lena.sit(other, 0)
        channel: Any = lena.line.channel
        admin: Any = AdminServiceStub(channel)
        target = admin_pb2.BanTarget(seat=admin_pb2.BanTarget.Seat(match_id=running, seat=0))
        ban = await admin.Ban(admin_pb2.BanRequest(target=target, seconds=60), metadata=by(site.token))
        assert (1, 2) == (ban.withdrawn, ban.resigned)
        assert [ABORTED, OPEN, RUNNING] == [await mia.state(each) for each in (own, other, running)]
        assert [True, False, False] == [seat.forfeited for seat in (await mia.look(running)).summary.seats]
        assert not any(seat.taken for seat in (await mia.look(other)).summary.seats)
        await asyncio.to_thread(site.admin, "ban", "--subject", "mia", "--for", "1m", at=1)
        assert ABORTED == await noah.state(other)
        assert noah.name == "noah"

    run(scenario)


def test_many_matches_end_after_a_list(site: Site) -> None:
    """Of a subject, and of an address, at which many subjects have opened them; others are untouched."""

    async def scenario() -> None:
        olga, paul = Player(site, "olga2", forwarded=True), Player(site, "paul", 1, forwarded=True)
        quinn = Player(site, "quinn")
        of_olga = [await olga.open() for _ in range(3)]
        of_paul, of_quinn = await paul.open(), await quinn.open()
        words = ["abort", "--opened-by", "olga2", "--json"]
        listed = await asyncio.to_thread(site.admin, *words)
        assert sorted(of_olga) == sorted(json.loads(line)["match_id"] for line in listed.splitlines())
        assert [OPEN] * 3 == [await olga.state(each) for each in of_olga]
        await asyncio.to_thread(site.admin, *words, "--yes", at=1)
        assert [ABORTED] * 3 == [await olga.state(each) for each in of_olga]
        found = await asyncio.to_thread(site.admin, "abort", "--address", "127.0.0.1")
        assert [of_paul] == [line.split()[0] for line in found.splitlines()]
        await asyncio.to_thread(site.admin, "abort", "--address", "127.0.0.1", "--yes")
        assert (ABORTED, OPEN) == (await olga.state(of_paul), await olga.state(of_quinn))
        await asyncio.to_thread(site.admin, "abort", "--address", "10.0.0.0/8", code=1)
        await asyncio.to_thread(site.admin, "abort", of_quinn, "--address", "10.0.0.1", code=64)
        await asyncio.to_thread(site.admin, "abort", "--yes", code=64)

    run(scenario)
