"""A real gRPC server on a loopback port over a log in memory, and clients that call it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Self, TypeVar

import grpc
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from rollbook.identity.service_keys import SigningKey
from rollbook.identity.tokens import OWN_ISSUER, Issuer, Role, TrustedIssuer, Verifier
from rollbook.match.chain import HeadKeys, entropy_commitment, is_signed, link
from rollbook.match.codec.messages import write_choice
from rollbook.match.codec.stubs import game_in
from rollbook.match.codec.views import read_legal
from rollbook.replay_file.key_lines import key_id
from rollbook.rules.game import Listed
from rollbook.server.addresses import FORWARDED, Addresses
from rollbook.server.app import Parts
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.given import Given
from rollbook.server.rpc.errors import DETAILS
from rollbook.server.rpc.identity import Guests, guest_verifier
from rollbook.server.rpc.lasting_server import lasting_server
from rollbook.server.rpc.layers import Layer, Refusing
from rollbook.server.rpc.requests import Reading
from rollbook.storage.archive.log import ArchivedLog
from rollbook.v1 import identity_pb2_grpc, match_pb2, match_pb2_grpc
from rollbook.v1.games_pb2 import Choice, LegalChoices
from rollbook.v1.refusals_pb2 import RefusalDetail, RefusalReason
from rollbook.v1.table_pb2 import Position, SignedHead
from tests.storage.memory import MemoryLog

T = TypeVar("T")
PATIENCE_SECONDS = 60
MOST_CALLS = 100_000


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        """Begin at a fixed time."""
        self.ms = 1_700_000_000_000

    def __call__(self) -> int:
        """Unix milliseconds."""
        return self.ms

    def seconds(self) -> float:
        """Unix seconds."""
        return self.ms / 1_000


@dataclass
class Refused:
    """A refused call: status code, reason, details, message."""

    code: grpc.StatusCode
    reason: str
    detail: RefusalDetail
    message: str

    @property
    def facts(self) -> dict[str, str]:
        """The values in the refusal's detail, by name."""
        return dict(self.detail.facts)


def refused(error: grpc.aio.AioRpcError) -> Refused:
    """Read the details of a refusal, and check that they agree with each other."""
    (data,) = [value for key, value in error.trailing_metadata() or () if key == DETAILS]
    assert isinstance(data, bytes)
    assert len(data) < 4_096
    status = Status.FromString(data)
    info, detail = ErrorInfo(), RefusalDetail()
    assert status.details[0].Unpack(info)
    assert status.details[1].Unpack(detail)
    assert (error.code().value[0], error.details()) == (status.code, status.message)
    assert ("rollbook", RefusalReason.Name(detail.reason)) == (info.domain, info.reason)
    assert dict(info.metadata) == dict(detail.facts)
    return Refused(error.code(), info.reason.removeprefix("REFUSAL_REASON_"), detail, status.message)


async def refusal(call: Awaitable[Any]) -> Refused:
    """The refusal of a call that must not succeed."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return refused(caught.value)


class Person:
    """A caller with a token; its request ids are numbered."""

    def __init__(self, world: World, channel: grpc.aio.Channel, sub: str, token: str) -> None:
        """Call over this channel."""
        self.world = world
        self.sub = sub
        self.metadata: tuple[tuple[str, str], ...] = (("authorization", f"Bearer {token}"),) if token else ()
        self.stub: Any = match_pb2_grpc.MatchServiceStub(channel)
        self.identity: Any = identity_pb2_grpc.IdentityServiceStub(channel)

    def request_id(self) -> str:
        """A new request id."""
        return f"request-{next(self.world.requests)}"

    async def call(self, method: str, **fields: Any) -> Any:
        """Call a method of the MatchService; writes get a request id unless `fields` has one."""
        kind = getattr(match_pb2, f"{method}Request")
        if "request_id" in kind.DESCRIPTOR.fields_by_name:
            fields.setdefault("request_id", self.request_id())
        return await getattr(self.stub, method)(kind(**fields), metadata=self.metadata)

    async def open(self, game: str = "cant_stop", seats: int = 2, **fields: Any) -> Any:
        """Open a match."""
        options = fields.pop(game, {})
        return await self.call("OpenMatch", seats=seats, options={game: options}, **fields)

    async def look(self, match_id: str, **fields: Any) -> Any:
        """Look at a match."""
        return await self.call("GetMatch", match_id=match_id, **fields)

    async def choose(self, match_id: str, choice: Choice, position: Position, **fields: Any) -> Any:
        """Choose."""
        return await self.call("Choose", match_id=match_id, choice=choice, position=position, **fields)

    def play(self) -> Any:
        """Begin a stream of Play."""
        return self.stub.Play(metadata=self.metadata)


@dataclass
class World:
    """A service, its server, and its callers."""

    limits: Limits = field(default_factory=lambda: Limits(requests_at_once=10**6))
    takes_guests: bool = True
    name: str = ""
    log: Any = None
    addresses: Addresses = field(default_factory=Addresses)

    def __post_init__(self) -> None:
        """Create keys and the service."""
        self.clock = Clock()
        self.token_key = Ed25519PrivateKey.from_private_bytes(b"t" * 32)
        self.head_key = Ed25519PrivateKey.from_private_bytes(b"h" * 32)
        self.replay_key = Ed25519PrivateKey.from_private_bytes(b"r" * 32)
        self.issuer = Issuer(self.token_key)
        self.secrets = count(1)
        self.requests = count(1)
        keys = {self.issuer.key_id: self.token_key.public_key()}
        self.log = self.log or MemoryLog(self.clock)
        self.service = self.process(keys)

    @property
    def store(self) -> Any:
        """The store of the log, which may be wrapped."""
        return self.log.store if isinstance(self.log, ArchivedLog) else self.log

    def process(self, keys: dict[str, Any] | None = None) -> Parts:
        """A process of the service over the same log."""
        return Parts(self.given(keys))

    def given(self, keys: dict[str, Any] | None = None) -> Given:
        """The settings of a process of the service."""
        keys = keys or {self.issuer.key_id: self.token_key.public_key()}
        kid = key_id(self.head_key.public_key())
        old = Ed25519PrivateKey.from_private_bytes(b"o" * 32).public_key()
        published = {key_id(old): old, kid: self.head_key.public_key()}

        def draw_secret() -> bytes:
            return next(self.secrets).to_bytes(32, "big")

        guests = Guests(self.issuer, guest_verifier(keys, self.clock.seconds), draw_secret)
        return Given(
            log=self.log,
            store=self.store,
            head_keys=HeadKeys(self.head_key, kid, published),
            replay_key=SigningKey(self.replay_key, {key_id(key): key for key in (self.replay_key.public_key(),)}),
            service_key=b"s" * 32,
            verifier=Verifier([TrustedIssuer(OWN_ISSUER, keys, frozenset(Role))], self.clock.seconds),
            clock_ms=self.clock,
            guests=guests if self.takes_guests else None,
            draw_secret=draw_secret,
            limits=self.limits,
            addresses=self.addresses,
            name=self.name,
        )

    def token(self, sub: str, role: Role = Role.PLAYER, matches: tuple[str, ...] = (), lifetime: int = 10**6) -> str:
        """A valid token."""
        now = int(self.clock.seconds())
        name = sub.capitalize()
        return self.issuer.mint(sub, role, name=name, issued_at=now, lifetime_seconds=lifetime, matches=matches)

    def person(self, sub: str, role: Role = Role.PLAYER, matches: tuple[str, ...] = ()) -> Person:
        """A caller with a valid token."""
        return Person(self, self.channel, sub, self.token(sub, role, matches))

    def at(self, address: str, sub: str, **how: Any) -> Person:
        """A player whose calls come from this address, as a proxy reports it."""
        person = self.person(sub, **how)
        person.metadata += ((FORWARDED, address),)
        return person

    def nobody(self, token: str = "") -> Person:
        """A caller without a token, or with this one."""
        return Person(self, self.channel, "", token)

    @asynccontextmanager
    async def serving(self, service: Parts | None = None) -> AsyncIterator[Self]:
        """Serve on a loopback port."""
        service = service or self.service
        server = lasting_server(self.layers(service), [], MOST_CALLS)
        self.serve(service, server)
        self.port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        try:
            async with grpc.aio.insecure_channel(f"127.0.0.1:{self.port}") as self.channel:
                yield self
        finally:
            await server.stop(None)
            await self.close()

    def layers(self, service: Parts) -> list[Layer]:
        """The layers around every call."""
        metrics = service.metrics
        return [Reading(service.strangers, metrics.count_call, metrics.count_refusal), Refusing(metrics.count_refusal)]

    def serve(self, service: Parts, server: grpc.aio.Server) -> None:
        """Register the served methods."""
        match_pb2_grpc.add_MatchServiceServicer_to_server(service.match_servicer(), server)
        identity_pb2_grpc.add_IdentityServiceServicer_to_server(service.identity_servicer(), server)

    async def close(self) -> None:
        """Stop what `serve` started."""

    def check_head(self, head: SignedHead) -> Position:
        """Check a head's signature, and return its position."""
        key = self.head_key.public_key()
        assert is_signed(key, head.match_id, head.sequence, head.link, head.signature)
        return Position(sequence=head.sequence, link=head.link)

    def check_made(self, made: match_pb2.EventsMade) -> Position:
        """Check that range, chain and head of the events agree, and return the position after them."""
        assert made.last - made.first + 1 == len(made.events)
        assert (made.last, link(made.events[-1].event)) == (made.head.sequence, made.head.link)
        return self.check_head(made.head)

    async def seated(self, game: str = "cant_stop", seats: int = 2, **fields: Any) -> tuple[str, list[Person]]:
        """A match with all seats taken, each with entropy."""
        people = [self.person(f"p{seat}") for seat in range(seats)]
        opened = await people[0].open(game, seats, **fields)
        self.check_made(opened.made)
        for seat, person in enumerate(people):
            taken = await person.call(
                "TakeSeat",
                match_id=opened.match_id,
                seat=seat,
                invitation_code=opened.invitation_code,
                entropy_commitment=entropy_commitment(entropy(seat)),
            )
            assert (seat, seat == seats - 1) == (taken.seat, taken.closed_seats)
        return opened.match_id, people

    async def started(self, game: str = "cant_stop", seats: int = 2, **fields: Any) -> tuple[str, list[Person]]:
        """A running match."""
        match_id, people = await self.seated(game, seats, **fields)
        await self.get_ready(match_id, people)
        return match_id, people

    async def get_ready(self, match_id: str, people: list[Person]) -> None:
        """Make all seated players ready."""
        closing = (await people[0].look(match_id)).head.link
        for seat, person in enumerate(people):
            answer = await person.call("Ready", match_id=match_id, closing_link=closing, entropy=entropy(seat))
            self.check_made(answer.made)

    async def awaited(self, match_id: str, people: list[Person]) -> tuple[Person, Any]:
        """The awaited player, and the match as that player sees it."""
        seat = (await people[0].look(match_id)).summary.awaited_seat
        return people[seat], await people[seat].look(match_id)


def entropy(seat: int) -> bytes:
    """The entropy of a seat."""
    return bytes([seat + 1]) * 16


def some_choice(legal: LegalChoices, number: int = 0) -> Choice:
    """The legal choice with this number, modulo their count; for described choices a pseudo-random one."""
    game = game_in(legal)
    assert game is not None
    choices = read_legal(game, legal)
    if isinstance(choices, Listed):
        return write_choice(game, choices[number % len(choices)])
    return write_choice(game, choices.sample(random.Random(number).randrange))


def run(scenario: Callable[[World], Awaitable[None]], **how: Any) -> None:
    """Run the scenario in a served world."""

    async def main() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS), World(**how).serving() as world:
            await scenario(world)

    asyncio.run(main())
