"""A table at a service: lists games, and opens, finds and follows matches.

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

The `Match` that `open` and `match` return has the calls for one match.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Final, Self
from uuid import uuid4
from weakref import WeakValueDictionary

from google.protobuf.message import Message

from rollbook import DEFAULT_ADDRESS
from rollbook.v1.feed_pb2 import WatchLobbyRequest
from rollbook.v1.identity_pb2 import CreateDeviceCodeRequest
from rollbook.v1.match_pb2 import (
    MATCH_STATE_UNSPECIFIED,
    PACE_LIVE,
    PACE_SLOW,
    ListGamesRequest,
    ListGamesResponse,
    ListMatchesRequest,
    MatchState,
    MatchSummary,
    OpenMatchRequest,
    PlayNowRequest,
)
from rollbook_clients.sdk.connection import Connection
from rollbook_clients.sdk.guests import Caller
from rollbook_clients.sdk.heads import KeptHeads
from rollbook_clients.sdk.keys import PublishedKeys
from rollbook_clients.sdk.lobby import Lobby, watch_lobby
from rollbook_clients.sdk.match import Match
from rollbook_clients.sdk.options import options_of
from rollbook_clients.sdk.patience import Patience
from rollbook_clients.sdk.refusals import OutcomeUnknown, Refused, Unreachable
from rollbook_clients.sdk.witness import Witness

_TABLES: Final = 5
"""Tables that `sit_now` tries."""

_GONE: Final = {
    "CONTENDED",
    "SEATS_KEPT",
    "SEATS_CLOSED",
    "SEAT_TAKEN",
    "MATCH_ABORTED",
    "MATCH_SEALED",
    "MATCH_NOT_FOUND",
}
"""Reasons after which another table is tried: this one was filled or withdrawn meanwhile."""


def connect(  # noqa: PLR0913 - address, identity, trust, files, timing
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
    """A table at the service with this address, to be used with `async with`.

    Without a `token` the caller is a guest called `name`, or with a `code` the guest who created it on another device.

    - `keep`: a file that keeps the guest for the next run. It holds the guest's token, and the secret from which its
      entropy is derived.
    - `heads`: a file that keeps the last signed head of every match, for audits.
    - `authorities`: the certificates to trust as PEM, for a service with TLS; empty means those that gRPC trusts.
    - `server_name`: the name in the service's certificate, if it differs from the host of the address.
    - `secret`: the source of the entropy, so that another process can get ready where this one took a seat.
    - `seed`: for the pauses between attempts only.
    """
    connection = Connection(address, authorities, patience or Patience(), Random(seed), server_name)
    caller = Caller(connection, name, token, None if keep is None else Path(keep), secret, code=code)
    return Table(caller, KeptHeads(None if heads is None else Path(heads)))


class Table:
    """A service as one caller sees it; created by `connect`."""

    def __init__(self, caller: Caller, heads: KeptHeads) -> None:
        """Nothing is sent before the table is entered."""
        self._caller = caller
        self._heads = heads
        self._keys = PublishedKeys(caller.connection)
        self._matches: WeakValueDictionary[str, Match] = WeakValueDictionary()

    async def __aenter__(self) -> Self:
        """Connect and sign in; raises Unreachable if no service replies."""
        try:
            await self._caller.arrive()
        except BaseException:
            await self._caller.connection.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        """Disconnect, and save the heads."""
        await self._caller.connection.close()
        self._heads.save()

    @property
    def address(self) -> str:
        """The address of the service."""
        return self._caller.connection.address

    @property
    def caller(self) -> Caller:
        """The caller, for requests that this class does not offer."""
        return self._caller

    @property
    def name(self) -> str:
        """The name of the guest; empty if a token decides who calls."""
        return self._caller.name

    @property
    def token(self) -> str:
        """The token of the calls. Keep it secret: it gives full access as this caller."""
        return self._caller.token

    @property
    def heads(self) -> KeptHeads:
        """The last signed head of every match that was seen."""
        return self._heads

    async def games(self) -> tuple[ListGamesResponse.Ruleset, ...]:
        """The games that can be played, with seats, options and material; the newest ruleset of each game first."""
        answer = await self._caller.call(lambda line: line.matches.ListGames, ListGamesRequest())
        return tuple(answer.rulesets)

    async def device_code(self) -> str:
        """A code that signs in a second device as this guest, with `connect(code=…)`, within five minutes.

        Its first eight letters are for the service. The rest is the secret of the entropy, which only the devices know;
        without it, `ready` works only on the device that took the seat.
        """
        answer = await self._caller.call(lambda line: line.identity.CreateDeviceCode, CreateDeviceCodeRequest())
        return self._caller.carry(answer.code)

    async def open(  # noqa: PLR0913 - the settings of a match
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
        """Open a match; its seats are free.

        Options are given by their names in `games`, or as the game's own message. After OutcomeUnknown, the same call
        with its `request_id` returns the match that was opened, or opens it.
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

    async def play_now(
        self, game: str, *, slow: bool = False, people_only: bool = False, name: str | None = None
    ) -> Match:
        """Sit down with others who want to play this game now, get ready, and return the match once it has started.

        Without other people, bots of the house join after 15 seconds, unless `people_only` is set; then this may wait
        for long. With `slow`, a turn may take a day. If a table comes to nothing, the next one is tried.
        """
        while True:
            match = await self.sit_now(game, slow=slow, people_only=people_only, name=name)
            try:
                await match.ready()
            except Refused as refused:
                if refused.reason not in {"ALREADY_READY", "MATCH_ABORTED"}:
                    raise
            if await match.begins():
                return match

    async def sit_now(
        self, game: str, *, slow: bool = False, people_only: bool = False, name: str | None = None
    ) -> Match:
        """Take a seat like `play_now`, and return the match at once; `ready` is to follow."""
        pace = PACE_SLOW if slow else PACE_LIVE
        for attempt in range(1, _TABLES + 1):
            request = PlayNowRequest(request_id=str(uuid4()), game=game, pace=pace, people_only=people_only)
            try:
                answer = await self._caller.call(lambda line: line.matches.PlayNow, request)
                match = self.match(answer.match_id)
                await match.join(name=name)
            except Refused as refused:
                if refused.reason == "ALREADY_SEATED":
                    return match
                if refused.reason not in _GONE or attempt == _TABLES:
                    raise
            else:
                return match
        raise AssertionError("the last attempt returns or raises")

    def match(self, match_id: str, invitation_code: str = "") -> Match:
        """A match by its id, with the code of a private one; sends no request."""
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
        """Yield the matching matches, the latest opened first; requests further pages as needed."""
        request = ListMatchesRequest(game=game, state=state, mine=mine, player=player)
        while True:
            page = await self._caller.call(lambda line: line.matches.ListMatches, request)
            for summary in page.matches:
                yield summary
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def lobby(self, game: str = "", *, mine: bool = False) -> AsyncGenerator[Lobby, None]:
        """Yield all public matches that are open, getting ready or running, again after every change; never ends.

        With `mine` also the caller's private matches, and rematches that ask the caller, which have `asks_you`.
        """
        return watch_lobby(self._caller, WatchLobbyRequest(game=game, mine=mine))
