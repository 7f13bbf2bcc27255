"""Commands in a match, one at a time. A command with an unknown outcome is settled before the next one is sent.

A command keeps its request id over all attempts, so it happens at most once. A choice names the position that it
answers. So a choice that waited for an earlier command is refused if the table has changed meanwhile.
"""

import asyncio
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from grpc.aio import UnaryUnaryMultiCallable

from rollbook.v1.match_pb2 import (
    AbortMatchRequest,
    AddBotRequest,
    ChooseRequest,
    FreeSeatRequest,
    LeaveSeatRequest,
    ReadyRequest,
    ResignRequest,
    TakeSeatRequest,
)
from rollbook_clients.sdk.connection import Line
from rollbook_clients.sdk.guests import Caller
from rollbook_clients.sdk.refusals import LimitReached, OutcomeUnknown, Refused, Unauthenticated, Unreachable
from rollbook_clients.sdk.witness import Witness

Command = TypeVar(
    "Command",
    TakeSeatRequest,
    ReadyRequest,
    LeaveSeatRequest,
    AddBotRequest,
    FreeSeatRequest,
    AbortMatchRequest,
    ChooseRequest,
    ResignRequest,
)
A = TypeVar("A")


@dataclass(slots=True)
class _Unanswered:
    """A command that was sent without a definite reply."""

    of: Callable[[Line], UnaryUnaryMultiCallable[Any, Any]]
    request: Any
    was_sent: bool = False

    def is_again(self, request: Any) -> bool:
        """Whether `request` is the same command, apart from its request id."""
        again = type(request)()
        again.CopyFrom(request)
        again.request_id = self.request.request_id
        return bool(again == self.request)


class MatchCommands:
    """The commands of one client in one match."""

    def __init__(self, caller: Caller, witness: Witness) -> None:
        self._caller = caller
        self._witness = witness
        self._lock = asyncio.Lock()
        self._unsettled: _Unanswered | None = None

    async def send(self, of: Callable[[Line], UnaryUnaryMultiCallable[Command, A]], request: Command) -> A:
        """Send a command and return the reply; if the same command is still unsettled, settle that one instead."""
        async with self._lock:
            earlier = self._unsettled
            if earlier is None or type(earlier.request) is not type(request) or not earlier.is_again(request):
                if earlier is not None:
                    # A refusal of the earlier command needs no handling. If that command has happened, a new choice
                    # is refused, because it names the position before.
                    with suppress(Refused):
                        await self._settle(earlier)
                request.request_id = request.request_id or str(uuid.uuid4())
                earlier = self._unsettled = _Unanswered(of, request)
            answer: A = await self._settle(earlier)
            return answer

    async def _settle(self, asked: _Unanswered) -> Any:
        is_first, asked.was_sent = not asked.was_sent, True
        try:
            answer = await self._caller.call(asked.of, asked.request)
        except Refused as refused:
            # These refusals concern only the current attempt; an earlier attempt may have succeeded.
            if is_first or not isinstance(refused, Unauthenticated | LimitReached):
                self._unsettled = None
            raise self._witness.convert_refusal(refused) from None
        except Unreachable as unreachable:
            raise OutcomeUnknown(str(unreachable), asked.request.request_id) from None
        self._unsettled = None
        return answer
