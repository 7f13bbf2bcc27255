"""A client of the service: it calls one process after the other, and uses only what it receives."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from itertools import count
from typing import Any, Final

from google.protobuf.message import Message
from grpc import StatusCode

from rollbook.identity import references
from rollbook.identity.tokens import OWN_ISSUER, Issuer, Role, Subject
from rollbook.v1 import feed_pb2, match_pb2
from rollbook.v1.refusals_pb2 import RefusalDetail, RefusalReason
from tests.sim.clock import EPOCH_MS
from tests.sim.network import Network
from tests.sim.observations import AGAIN, Asked, History, Told, Viewer
from tests.sim.process import SERVICE_KEY, TOKEN_KEY, Gone, Process, Refused

DEADLINE_SECONDS: Final = (0.5, 8.0)
"""Seconds to wait for an answer before asking another process."""

PAUSE_SECONDS: Final = 0.3
WINDOW: Final = 4
"""Messages of a stream that may be in flight to a client."""

REPEATED: Final = 0.1
"""Share of answered commands that are sent again."""

_STATUS: Final = {status.value[0]: status.name for status in StatusCode}
"""Status names by number, for refusals on a stream."""

_WATCHES = {"WatchMatch": feed_pb2.WatchMatchRequest, "WatchLobby": feed_pb2.WatchLobbyRequest}
_issuer = Issuer(TOKEN_KEY.private)


class Client:
    """A client with a token that can reach all processes."""

    def __init__(
        self,
        name: str,
        role: Role,
        *,
        processes: Sequence[Process],
        network: Network,
        history: History,
        chance: random.Random,
    ) -> None:
        """Sign in once, for the whole simulation."""
        issued_at = EPOCH_MS // 1_000 - 1_000_000
        self.token = _issuer.mint(name, role, name=name, issued_at=issued_at, lifetime_seconds=10**7)
        self.viewer = Viewer(name, Subject(OWN_ISSUER, name, role, (), name, 0).key)
        self.chance = chance
        self._processes = processes
        self._network = network
        self._history = history
        self._requests = count(1)
        self._watches = count(1)
        self._answered: dict[str, list[Any]] = {}
        """Commands that were answered and not refused, by method."""
        self._process = chance.choice(processes)

    def request_id(self) -> str:
        """A new request id."""
        return f"{self.viewer.name}-request-{next(self._requests)}"

    async def call(self, method: str, **fields: Any) -> Any:
        """Call until there is an answer, at any process; raises Refused."""
        kind = getattr(match_pb2, f"{method}Request")
        if "request_id" in kind.DESCRIPTOR.fields_by_name:
            fields.setdefault("request_id", self.request_id())
        request = kind(**fields)
        answer = await self._until_answered(method, request)
        if "request_id" in kind.DESCRIPTOR.fields_by_name:
            self._answered.setdefault(method, []).append(request)
            if self.chance.random() < REPEATED:
                await self.pause()
                await self._until_answered(method, request)
        return answer

    async def _until_answered(self, method: str, request: Any) -> Any:
        while True:
            try:
                return await self.call_once(method, request)
            except Refused as refused:
                if refused.status not in AGAIN and refused.reason != "CONTENDED":
                    raise
            await self.pause()

    async def repeat(self) -> None:
        """Repeat a command of each kind long after its answer; the checkers compare the answers."""
        for method, requests in self._answered.items():
            request = self.chance.choice(requests)
            await self.pause()
            with suppress(Refused):
                await (self.play([request]) if method == "Play" else self._until_answered(method, request))

    async def pause(self) -> None:
        """Wait a little, then choose a process."""
        await asyncio.sleep(self.chance.uniform(0.0, PAUSE_SECONDS))
        self._process = self.chance.choice(self._processes)

    def go_to(self, process: Process) -> None:
        """Call this process from now on."""
        self._process = process

    async def call_once(self, method: str, request: Any) -> Any:
        """Call once; raises Refused, with UNAVAILABLE if no answer comes."""
        process = self._process
        asked = self._asked(method, request)
        await self._travel()
        try:
            answer = await process.answer(method, request, self.token, self.chance.uniform(*DEADLINE_SECONDS))
        except Refused as refused:
            process_ms = process.time_ms()
            await self._travel()
            self._note_refusal(asked, process_ms, refused)
            raise
        except (Gone, TimeoutError) as failure:
            raise _unavailable() from failure
        process_ms = process.time_ms()
        await self._travel()
        self._history.note(Told(asked, process_ms, answer))
        return answer

    async def watch(self, method: str, **fields: Any) -> AsyncGenerator[Any, None]:
        """The frames of one watch while it lasts; raises Refused if it is refused or breaks."""
        request = _WATCHES[method](**fields)
        async with aclosing(self._frames(method, request)) as frames:
            async for frame in frames:
                yield frame

    async def _frames(self, method: str, request: Any) -> AsyncGenerator[Message, None]:
        number, process = next(self._watches), self._process
        asked = self._asked(method, request)
        await self._travel()
        try:
            async with process.stream(method, request, self.token, WINDOW) as stream:
                while (sent := await stream.next()) is not None:
                    message, process_ms = sent
                    await self._travel()
                    self._history.note(Told(asked, process_ms, message, number))
                    yield message
        except Refused as refused:
            self._note_refusal(asked, process.time_ms(), refused, number)
            raise
        except Gone as gone:
            raise _unavailable() from gone

    async def play(self, requests: Sequence[match_pb2.PlayRequest]) -> None:
        """Send choices on a stream without waiting for the answers.

        Raises Refused if the stream ends early, or if the store was unavailable for a choice, which must then be sent
        again.
        """
        process = self._process
        asked = [self._asked("Play", request) for request in requests]
        is_away = False
        await self._travel()
        try:
            async with process.stream("Play", _sent(requests), self.token, WINDOW) as stream:
                for one in asked:
                    sent = await stream.next()
                    if sent is None:
                        raise _unavailable()
                    await self._travel()
                    told = _told(one, *sent)
                    self._history.note(told)
                    is_away = is_away or told.status in AGAIN
                    if not told.status:
                        self._answered.setdefault("Play", []).append(one.request)
        except Refused as refused:
            self._note_refusal(asked[0], process.time_ms(), refused)
            raise
        except Gone as gone:
            raise _unavailable() from gone
        if is_away:
            raise _unavailable()

    def _asked(self, method: str, request: Any) -> Asked:
        now = asyncio.get_running_loop().time()
        match_id: str = getattr(request, "match_id", "")
        if method == "OpenMatch":
            match_id = references.match_id(SERVICE_KEY, self.viewer.subject, request.request_id)
        asked = Asked(self.viewer, self._process.name, now, method, match_id, request)
        self._history.note(asked)
        return asked

    def _note_refusal(self, asked: Asked, process_ms: int, refused: Refused, watch: int | None = None) -> None:
        self._history.note(Told(asked, process_ms, refused.detail, watch, refused.status, refused.reason))

    async def _travel(self) -> None:
        """Let a message travel; raises Refused if it is lost."""
        seconds = self._network.travel()
        if seconds is None:
            await asyncio.sleep(PAUSE_SECONDS)
            raise _unavailable()
        await asyncio.sleep(seconds)


def _told(asked: Asked, answer: Any, process_ms: int) -> Told:
    """An answer on a stream; a refusal becomes like that of a call."""
    if not answer.HasField("refused"):
        return Told(asked, process_ms, answer)
    refused = answer.refused
    reason = RefusalReason.Name(refused.detail.reason).removeprefix("REFUSAL_REASON_")
    return Told(asked, process_ms, refused.detail, None, _STATUS[refused.status_code], reason)


async def _sent(requests: Sequence[match_pb2.PlayRequest]) -> AsyncGenerator[match_pb2.PlayRequest, None]:
    for request in requests:
        yield match_pb2.PlayRequest.FromString(request.SerializeToString())


def _unavailable() -> Refused:
    return Refused("UNAVAILABLE", "", "the connection broke", RefusalDetail())
