"""A table at a service: what can be played, who plays, and matches to open, find and follow.

    from rollbook_clients.sdk import connect

    async with connect("localhost:50051", name="Anna") as table:
        for ruleset in await table.games():
            print(ruleset.title, ruleset.fewest_seats, "to", ruleset.most_seats)
        match = await table.open("raffzahn", seats=4, options={"edition": "original"}, turn_seconds=30)
        async for summary in table.matches("raffzahn"):
            print(summary.match_id, sum(seat.taken for seat in summary.seats), "of", len(summary.seats))
        async for lobby in table.lobby():
            print(len(lobby.matches), "matches")
            break

What is done in a match is asked of the `Match` that `open` and `match` give.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Self
from uuid import uuid4
from weakref import WeakValueDictionary

from google.protobuf.message import Message

from rollbook import DEFAULT_ADDRESS
from rollbook.v1.identity_pb2 import CreateDeviceCodeRequest
from rollbook.v1.match_pb2 import (
    MATCH_STATE_UNSPECIFIED,
    ListGamesRequest,
    ListGamesResponse,
    ListMatchesRequest,
    MatchState,
    MatchSummary,
    OpenMatchRequest,
)
from rollbook_clients.sdk.connection import Connection
from rollbook_clients.sdk.guests import Caller
from rollbook_clients.sdk.heads import KeptHeads
from rollbook_clients.sdk.keys import PublishedKeys
from rollbook_clients.sdk.lobby import Lobby, watch_lobby
from rollbook_clients.sdk.match import Match
from rollbook_clients.sdk.options import options_of
from rollbook_clients.sdk.patience import Patience
from rollbook_clients.sdk.refusals import OutcomeUnknown, Unreachable
from rollbook_clients.sdk.witness import Witness


def connect(  # noqa: PLR0913 - who calls whom, and how
    address: str = DEFAULT_ADDRESS,
    *,
    name: str = "",
    token: str = "",
    code: str = "",
    secret: bytes = b"",
    authorities: bytes | None = None,
    server_name: str = "",
    keep: Path | str | None = None,
    heads: Path | str | None = None,
    patience: Patience | None = None,
    seed: int | None = None,
) -> Table:
    """A table at the service that listens there, to be used with `async with`.

    Without a token one is a guest, called `name`, or with a `code` the guest who made it on another device. `keep`
    names a file that makes the guest the same one next time: it holds the guest's token, and the secret from which its
    entropy follows. `heads` names a file in which the last signed head of every match is kept, for audits.
    `authorities` are the certificates to trust, as PEM, for a service with TLS; empty ones are those that gRPC trusts;
    `server_name` is what its certificate calls it, if that is not the host of the address. Entropy follows from a
    `secret`, if one is given, so that another process can get ready where this one sat down. The `seed` decides how
    attempts are spaced, and nothing else.
    """
    connection = Connection(address, authorities, patience or Patience(), Random(seed), server_name)
    caller = Caller(connection, name, token, None if keep is None else Path(keep), secret, code=code)
    return Table(caller, KeptHeads(None if heads is None else Path(heads)))


class Table:
    """A service, as one caller sees it; `connect` makes it."""

    def __init__(self, caller: Caller, heads: KeptHeads) -> None:
        """Nothing is asked before the table is entered."""
        self._caller = caller
        self._heads = heads
        self._keys = PublishedKeys(caller.connection)
        self._matches: WeakValueDictionary[str, Match] = WeakValueDictionary()

    async def __aenter__(self) -> Self:
        """Sign in; Unreachable if no service answers."""
        try:
            await self._caller.arrive()
        except BaseException:
            await self._caller.connection.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        """Hang up, and keep the heads that were seen."""
        await self._caller.connection.close()
        self._heads.save()

    @property
    def address(self) -> str:
        """Where the service is."""
        return self._caller.connection.address

    @property
    def name(self) -> str:
        """What a guest is called; empty if a token says who one is."""
        return self._caller.name

    @property
    def token(self) -> str:
        """The token that calls are made with. Whoever has it is this caller."""
        return self._caller.token

    @property
    def heads(self) -> KeptHeads:
        """The last signed head of every match that was seen."""
        return self._heads

    async def games(self) -> tuple[ListGamesResponse.Ruleset, ...]:
        """What can be played: every game with its seats, options and material, the current ruleset of each first."""
        answer = await self._caller.call(lambda line: line.matches.ListGames, ListGamesRequest())
        return tuple(answer.rulesets)

    async def device_code(self) -> str:
        """A code by which this guest is the same one on a second device: `connect(code=…)` there, within five minutes.

        A seat gets ready where it was taken; everything else both devices can do.
        """
        answer = await self._caller.call(lambda line: line.identity.CreateDeviceCode, CreateDeviceCodeRequest())
        return answer.code

    async def open(  # noqa: PLR0913 - what can be agreed on
        self,
        game: str,
        seats: int = 2,
        options: Mapping[str, object] | Message | None = None,
        *,
        ruleset: int | None = None,
        turn_seconds: int = 0,
        reserve_seconds: int = 0,
        ready_seconds: int | None = None,
        spectator_delay_seconds: int = 0,
        open_seconds: int | None = None,
        idle_seconds: int | None = None,
        is_private: bool = False,
        request_id: str | None = None,
    ) -> Match:
        """Open a match, in which nobody sits yet.

        Options are named as `games` names them, or those of a game as a message. After an OutcomeUnknown the same again
        with its `request_id` gives the match that was opened, if one was.
        """
        request = OpenMatchRequest(
            request_id=request_id or str(uuid4()),
            ruleset=ruleset,
            seats=seats,
            turn_seconds=turn_seconds,
            reserve_seconds=reserve_seconds,
            ready_seconds=ready_seconds,
            spectator_delay_seconds=spectator_delay_seconds,
            open_seconds=open_seconds,
            idle_seconds=idle_seconds,
            is_private=is_private,
        )
        request.options.CopyFrom(options_of(game, options))
        try:
            answer = await self._caller.call(lambda line: line.matches.OpenMatch, request)
        except Unreachable as unreachable:
            raise OutcomeUnknown(str(unreachable), request.request_id) from None
        match = self.match(answer.match_id, answer.invitation_code)
        await match.take_in(answer.made)
        return match

    def match(self, match_id: str, invitation_code: str = "") -> Match:
        """A match by its id; nothing is asked yet. The code opens a private one."""
        match = self._matches.get(match_id)
        if match is None:
            witness = Witness(match_id, self._keys, self._heads)
            match = self._matches[match_id] = Match(self._caller, witness, self.match)
        match.invitation_code = invitation_code or match.invitation_code
        return match

    async def matches(
        self,
        game: str = "",
        state: MatchState.ValueType = MATCH_STATE_UNSPECIFIED,
        *,
        mine: bool = False,
        player: str = "",
    ) -> AsyncGenerator[MatchSummary, None]:
        """The matches that fit, those opened last first, page by page as they are asked for."""
        request = ListMatchesRequest(game=game, state=state, mine=mine, player=player)
        while True:
            page = await self._caller.call(lambda line: line.matches.ListMatches, request)
            for summary in page.matches:
                yield summary
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def lobby(self, game: str = "") -> AsyncGenerator[Lobby, None]:
        """All public matches that are open, getting ready or running, anew whenever one changes, without an end."""
        return watch_lobby(self._caller, game)
