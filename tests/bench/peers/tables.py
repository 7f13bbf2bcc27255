"""Matches of two seats at a running service, with a guest for every player and spectator."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final
from uuid import uuid4

import grpc

from rollbook.match.chain import entropy_commitment
from rollbook.v1 import events_pb2, identity_pb2, match_pb2
from rollbook.v1.identity_pb2_grpc import IdentityServiceStub
from rollbook.v1.match_pb2_grpc import MatchServiceStub

AT_ONCE: Final = 8
ENTROPY: Final = b"e" * 16
SEATS: Final = 2
SPECTATORS: Final = 2
UNLIMITED: Final = {
    f"ROLLBOOK_LIMITS_{name}": "10000000"
    for name in (
        *("MATCHES", "MATCHES_PER_SUBJECT", "OPEN_MATCHES_PER_SUBJECT", "SEATS_PER_SUBJECT"),
        *("WAITING_SEATS_PER_SUBJECT", "REQUESTS_PER_SECOND", "REQUESTS_AT_ONCE", "PLAYS_PER_SUBJECT", "PLAYS"),
        *("WATCHES_PER_SUBJECT", "WATCHES", "STRANGERS_PER_SECOND", "STRANGERS_AT_ONCE"),
        *("GUESTS_PER_ADDRESS_PER_HOUR", "GUESTS_PER_HOUR"),
        *("PLAY_NOW_PER_MINUTE", "PLAY_NOW_PER_ADDRESS_PER_MINUTE"),
    )
}
"""The environment of a service without limits for a bench."""


class Tables:
    """Prepares guests and matches for a bench."""

    def __init__(self, channel: grpc.Channel) -> None:
        """`channel`: the connection for calls."""
        self.matches: Any = MatchServiceStub(channel)
        self._identity: Any = IdentityServiceStub(channel)

    def guest(self) -> str:
        """Sign in a new guest; returns the authorization."""
        return f"Bearer {self._identity.SignIn(identity_pb2.SignInRequest()).token}"

    def call(self, method: str, token: str, **fields: Any) -> Any:
        """Call a method of the MatchService, with a new request id where it takes one."""
        kind = getattr(match_pb2, f"{method}Request")
        if "request_id" in kind.DESCRIPTOR.fields_by_name:
            fields.setdefault("request_id", uuid4().hex)
        return getattr(self.matches, method)(kind(**fields), metadata=(("authorization", token),), timeout=60)

    def open(self, token: str, **fields: Any) -> str:
        """Open a match of Can't Stop."""
        answer = self.call("OpenMatch", token, seats=SEATS, options={"cant_stop": {}}, **fields)
        return str(answer.match_id)

    def seated(self, match_id: str, players: list[str]) -> bytes:
        """Seat all players; returns the closing link."""
        for token in players:
            taken = self.call("TakeSeat", token, match_id=match_id, entropy_commitment=entropy_commitment(ENTROPY))
        return bytes(taken.made.head.link)

    def started(self, players: list[str], **fields: Any) -> dict[str, Any]:
        """Start a match; returns the data that a load needs."""
        match_id = self.open(players[0], **fields)
        closing = self.seated(match_id, players)
        for token in players:
            ready = self.call("Ready", token, match_id=match_id, closing_link=closing, entropy=ENTROPY)
        events = [events_pb2.Event.FromString(each.event) for each in ready.made.events]
        first_seat, rolled = [each.happened.outcome.cant_stop for each in events if each.HasField("happened")]
        return {
            "match_id": match_id,
            "first_seat": first_seat.first_seat.seat,
            "dice": list(rolled.roll.dice),
            "sequence": ready.made.last,
            "link": ready.made.head.link.hex(),
        }

    def played(self, count: int) -> list[dict[str, Any]]:
        """Start this many matches, each with the tokens of its players and spectators."""

        def one(_: int) -> dict[str, Any]:
            tokens = [self.guest() for _ in range(SEATS + SPECTATORS)]
            return {**self.started(tokens[:SEATS]), "tokens": tokens}

        with ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(one, range(count)))
