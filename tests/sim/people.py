"""The clients' behaviour: players, watchers, visitors of the lobby, operators. They use only what they receive."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from rollbook.match.chain import entropy_commitment, link
from rollbook.v1 import feed_pb2
from rollbook.v1.events_pb2 import Event
from rollbook.v1.feed_pb2 import MatchFrame
from rollbook.v1.games_pb2 import Choice
from rollbook.v1.match_pb2 import PlayRequest
from rollbook.v1.table_pb2 import Position
from tests.server.strangers import any_choice
from tests.sim.client import Client
from tests.sim.observations import AGAIN
from tests.sim.process import Refused
from tests.sim.tables import Table

DEVOTED: Final = 10**6
"""Choices of a player who never stops."""

STREAMED: Final = 0.2
"""Share of choices sent on streams."""

OUTCOMES_ONLY: Final = 0.5
"""Share of streamed choices that ask for outcomes only."""


class Follower:
    """Follows a match to its end, resuming each watch from the last position."""

    def __init__(self, client: Client, table: Table, *, invited: bool = True, slow_seconds: float = 0.0) -> None:
        """Follow the match of this table; a slow follower takes `slow_seconds` per frame."""
        self.client = client
        self.table = table
        self.code = table.invitation_code if invited else ""
        self.slow_seconds = slow_seconds
        self.position: Position | None = None
        """The last received head, with its signature."""
        self.is_over = False
        self.is_lost = False
        """Whether the service has refused the match with DATA_LOSS."""

    async def follow(self) -> None:
        """Watch until the match is over, lost, or may not be watched."""
        while not (self.is_over or self.is_lost):
            if not await self.follow_once():
                return
            await self.client.pause()

    async def follow_once(self) -> bool:
        """Watch until this watch ends; return whether another one may begin."""
        try:
            async for frame in self.client.watch(
                "WatchMatch", match_id=self.table.match_id, position=self.position, invitation_code=self.code
            ):
                await self.hear(frame)
                if self.slow_seconds:
                    await asyncio.sleep(self.slow_seconds)
        except Refused as refused:
            self.is_lost = self.is_lost or refused.status == "DATA_LOSS"
            return refused.status in {*AGAIN, "NOT_FOUND"}
        return True

    async def hear(self, frame: MatchFrame) -> None:
        """Handle a frame."""
        kind = frame.WhichOneof("frame")
        if kind == "events":
            head = frame.events.head
            self.position = Position(
                sequence=head.sequence, link=head.link, key_id=head.key_id, signature=head.signature
            )
            for told in frame.events.events:
                self.hear_event(Event.FromString(told.event), told.event)
        elif kind == "ended" and frame.ended.reason == feed_pb2.END_REASON_MATCH_OVER:
            self.is_over = True

    def hear_event(self, event: Event, data: bytes) -> None:
        """Handle one event."""


class Player(Follower):
    """Sits down, gets ready, and chooses until the match is over or `choices` are used up."""

    def __init__(self, client: Client, table: Table, *, choices: int = DEVOTED, resigns: bool = True) -> None:
        """Play at this table; after this many choices resign, or stop answering."""
        super().__init__(client, table)
        self.choices = choices
        self.resigns = resigns
        self.entropy = client.chance.randbytes(16) if client.chance.random() < 0.5 else b""
        self._taken: set[int] = set()
        self._seats = 0
        self._closing_link = b""
        self._is_ready = False

    async def play(self) -> None:
        """Play a whole match."""
        try:
            await self.sit()
        except Refused:
            return
        if self.client.chance.random() < 0.1:
            await self.sit_down_again()
        await self.follow()

    async def sit_down_again(self) -> None:
        """Leave the seat and take one again, unless it is too late."""
        try:
            await self.client.call("LeaveSeat", match_id=self.table.match_id)
            await self.sit()
        except Refused:
            return

    async def sit(self) -> None:
        """Take the first free seat."""
        await self.client.call(
            "TakeSeat",
            match_id=self.table.match_id,
            invitation_code=self.code,
            name=self.client.viewer.name,
            entropy_commitment=entropy_commitment(self.entropy) if self.entropy else b"",
        )

    def hear_event(self, event: Event, data: bytes) -> None:
        """Remember the event that closes the seats."""
        kind = event.WhichOneof("body")
        if kind == "opened":
            self._seats = event.opened.seats
        elif kind == "seat_taken":
            self._taken.add(event.seat)
            if len(self._taken) == self._seats:
                self._closing_link = link(data)
        elif kind == "seat_left":
            self._taken.discard(event.seat)

    async def hear(self, frame: MatchFrame) -> None:
        """React to a frame: get ready, or take the turn."""
        await super().hear(frame)
        try:
            if self._closing_link and not self._is_ready and self.choices:
                self._is_ready = True
                await self.client.call(
                    "Ready", match_id=self.table.match_id, closing_link=self._closing_link, entropy=self.entropy
                )
            if frame.WhichOneof("frame") == "events" and frame.events.HasField("legal"):
                await self.take_turn(frame.events.legal)
        except Refused as refused:
            # Another command was faster, or the match is over; the feed has the details.
            self.is_lost = self.is_lost or refused.status == "DATA_LOSS"

    async def take_turn(self, legal: Any) -> None:
        """Choose at the last position, resign, or do nothing."""
        if self.choices > 0:
            self.choices -= 1
            await self.choose(any_choice(legal, self.client.chance))
        elif self.resigns:
            await self.client.call("Resign", match_id=self.table.match_id)

    async def choose(self, choice: Choice) -> None:
        """Choose at the last position: by a call, or twice on a stream with a call as fallback."""
        match_id, request_id = self.table.match_id, self.client.request_id()
        if self.client.chance.random() < STREAMED:
            request = PlayRequest(
                match_id=match_id,
                request_id=request_id,
                position=self.position,
                choice=choice,
                outcomes_only=self.client.chance.random() < OUTCOMES_ONLY,
            )
            try:
                await self.client.play([request, request])
            except Refused as refused:
                if refused.status not in AGAIN:
                    raise
                await self.client.pause()
            else:
                return
        await self.client.call(
            "Choose", match_id=match_id, request_id=request_id, position=self.position, choice=choice
        )


class Visitor:
    """Reads lists and single matches, and watches the lobby."""

    def __init__(self, client: Client, tables: list[Table]) -> None:
        """`tables` are the matches that any client may know."""
        self.client = client
        self.tables = tables

    async def look_around(self) -> None:
        """Keep reading, one thing after the other."""
        chance = self.client.chance
        while True:
            await asyncio.sleep(chance.uniform(0.2, 3.0))
            try:
                if chance.random() < 0.4:
                    await self.list_all()
                elif chance.random() < 0.2:
                    await self.watch_lobby(chance.uniform(1.0, 6.0))
                elif self.tables:
                    table = chance.choice(self.tables)
                    if table.match_id:
                        await self.client.call("GetMatch", match_id=table.match_id)
            except Refused:
                await self.client.pause()

    async def list_all(self) -> None:
        """Read a list to its end."""
        token = ""
        while True:
            page = await self.client.call("ListMatches", page_size=2, page_token=token)
            token = page.next_page_token
            if not token:
                return

    async def watch_lobby(self, seconds: float) -> None:
        """Watch the lobby for a while."""
        try:
            async with asyncio.timeout(seconds):
                async for _ in self.client.watch("WatchLobby"):
                    pass
        except TimeoutError:
            return
