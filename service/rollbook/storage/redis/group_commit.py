"""Group commit: concurrent appends of a process are sent together.

While one batch is under way the next one gathers, so that a server that syncs to disk before it answers syncs once for
the whole batch. A single append is sent at once.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from redis.exceptions import NoScriptError

from rollbook.storage.port import AppendUnconfirmed, StoreUnavailable
from rollbook.storage.redis.connection import Command, Unanswered, Unsent, Wire, cause_of

MOST_CALLS: Final = 512
MOST_BYTES: Final = 8 << 20
"""Limit for the bytes of a batch; a larger call is sent alone."""

_ROUNDS: Final = 3
"""Attempts per batch: the script cache may be emptied between two, but hardly each time."""


@dataclass(slots=True, eq=False)
class _Append:
    keys: Sequence[bytes]
    arguments: Sequence[bytes]
    asking: bool
    answer: asyncio.Future[Any]

    @property
    def weight(self) -> int:
        return sum(map(len, self.arguments))

    def settle(self, answer: object) -> None:
        if self.answer.done():
            return
        if isinstance(answer, Exception):
            self.answer.set_exception(answer)
        else:
            self.answer.set_result(answer)


class GroupCommit:
    """Runs one script on one server, batching concurrent calls."""

    def __init__(self, wire: Wire, script: bytes) -> None:
        """`wire` carries one batch at a time."""
        self.wire = wire
        self._script = script
        self._digest = hashlib.sha1(script, usedforsecurity=False).hexdigest()
        self._gathering: list[_Append] = []
        self._sending: asyncio.Task[None] | None = None

    def run(self, keys: Sequence[bytes], arguments: Sequence[bytes], *, asking: bool = False) -> asyncio.Future[Any]:
        """The script's answer; the future raises the server's error reply, AppendUnconfirmed or StoreUnavailable."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._gathering.append(_Append(keys, arguments, asking, answer))
        if self._sending is None:
            self._sending = asyncio.create_task(self._send_what_gathers())
        return answer

    async def prove(self) -> None:
        """Connect, which checks the server; raises StoreUnavailable."""
        try:
            await self.wire.converse([("PING",)])
        except (Unsent, Unanswered) as failure:
            raise StoreUnavailable(f"The store does not answer: {failure}", cause_of(failure)) from failure

    async def close(self) -> None:
        """Send the calls that have gathered, then close all connections."""
        while self._sending is not None:
            await self._sending
        await self.wire.close()

    async def _send_what_gathers(self) -> None:
        try:
            while self._gathering:
                await self._send(self._next_batch())
        finally:
            self._sending = None

    def _next_batch(self) -> list[_Append]:
        batch: list[_Append] = []
        weight = 0
        for call in self._gathering[:MOST_CALLS]:
            weight += call.weight
            if batch and weight > MOST_BYTES:
                break
            batch.append(call)
        del self._gathering[: len(batch)]
        return [call for call in batch if not call.answer.done()]

    async def _send(self, batch: list[_Append]) -> None:
        with_script = False
        for _ in range(_ROUNDS):
            if not batch:
                return
            answers: list[Any] = []
            otherwise: Exception
            try:
                answers = await self.wire.converse(self._commands(batch, with_script=with_script))
                otherwise = AssertionError("every command was answered")
            except StoreUnavailable as refusal:
                otherwise = refusal
            except Unsent as failure:
                otherwise = StoreUnavailable(f"The store cannot be reached: {failure}")
                otherwise.__cause__ = failure
            except Unanswered as failure:
                answers = failure.answers
                otherwise = AppendUnconfirmed(f"The store did not answer in time: {failure}", failure.cause)
                otherwise.__cause__ = failure
            except BaseException as failure:
                for call in batch:
                    call.settle(AppendUnconfirmed(f"The append was broken off: {failure!r}"))
                raise
            batch = self._settle(batch, answers, otherwise)
            with_script = True
        for call in batch:
            call.settle(StoreUnavailable("The store forgets its scripts faster than they can be sent"))

    def _commands(self, batch: Sequence[_Append], *, with_script: bool) -> list[Command]:
        """One command for each call, after ASKING if it is redirected; `with_script`: the first loads the script."""
        commands: list[Command] = []
        for position, call in enumerate(batch):
            if call.asking:
                commands.append(("ASKING",))
            how = ("EVAL", self._script) if with_script and position == 0 else ("EVALSHA", self._digest)
            commands.append((*how, len(call.keys), *call.keys, *call.arguments))
        return commands

    @staticmethod
    def _settle(batch: Sequence[_Append], answers: Sequence[Any], otherwise: Exception) -> list[_Append]:
        """Give every call its answer; returns the calls for which the server lacks the script."""
        left: list[_Append] = []
        position = 0
        for call in batch:
            position += call.asking
            answer = answers[position] if position < len(answers) else otherwise
            position += 1
            if isinstance(answer, NoScriptError):
                left.append(call)
            else:
                call.settle(answer)
        return left
