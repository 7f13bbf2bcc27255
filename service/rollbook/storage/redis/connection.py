"""Request-reply exchanges with one server that report exactly whether commands may have been sent.

redis-py's own commands are retried when unanswered, and hide whether anything was sent. Here a failed exchange raises
Unsent or Unanswered, so that the caller of an append knows what it may claim.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from math import inf
from typing import Any, Final, TypeAlias

import hiredis
from redis.exceptions import AskError, RedisError, ResponseError

from rollbook.storage.port import NO_ANSWER, REPLICAS_DIFFER, StoreUnavailable
from rollbook.storage.redis.cancellation import cancellation_heeded
from rollbook.storage.redis.confirmation import Confirming, Fence, Lack
from rollbook.storage.redis.credibility import REPLACED, Credibility
from rollbook.storage.redis.durability import NOT_KEPT, NotDurable

Command: TypeAlias = Sequence[bytes | str | int]

_pack: Final[Callable[[Command], bytes]] = hiredis.pack_command  # type: ignore[assignment]  # takes any number of them

_SIGN_SECONDS: Final = 5.0
"""How long a subscription may be silent before a PING is sent, and after that before it is closed."""


_SLACK: Final = 0.1
"""The part of the time limit by which a slow answer may be given up too early."""


class Unsent(Exception):
    """No connection could be made, so nothing was sent."""


class Unanswered(Exception):
    """Commands were sent, but not all of them were answered by a server that can be trusted."""

    def __init__(self, reason: str, answers: list[Any], cause: str = NO_ANSWER) -> None:
        """`answers` are the trustworthy answers, in order, to the first of the commands."""
        super().__init__(reason)
        self.answers = answers
        self.cause = cause


def cause_of(failure: Exception) -> str:
    """The cause of a failed exchange, in the words that clients receive."""
    return failure.cause if isinstance(failure, Unanswered) else NO_ANSWER


async def _read(connection: Any, answers: list[Any], number: int) -> None:
    """Append to `answers` until there are `number`; raises TimeoutError, and closes the connection, if one is late.

    redis-py's own limit would start a timer for each answer, even for those that have already arrived.
    """
    seconds, loop = connection.socket_timeout, asyncio.get_running_loop()
    async with asyncio.timeout(seconds) as limit:
        began = loop.time()
        while len(answers) < number:
            try:
                answers.append(await connection.read_response(timeout=inf))
            except ResponseError as refusal:
                answers.append(refusal)
            if loop.time() - began > seconds * _SLACK:
                began = loop.time()
                limit.reschedule(began + seconds)


async def _ask_for_signs(connection: Any, signs: asyncio.Event) -> None:
    """Send a PING on a silent subscription, and close the connection if nothing arrives after it."""
    with suppress(RedisError, OSError), cancellation_heeded() as heed:
        while True:
            await asyncio.sleep(_SIGN_SECONDS)
            if not signs.is_set():
                await connection.send_packed_command(connection.pack_command("PING"), check_health=False)
                heed()
                await asyncio.sleep(_SIGN_SECONDS)
                if not signs.is_set():
                    await connection.disconnect(nowait=True)
                    return
            signs.clear()


class Wire:
    """Exchanges commands and answers with one server over a pool of connections."""

    def __init__(
        self,
        pool: Any,
        most_conversations: int,
        credibility: Credibility,
        confirmation: Confirming | None = None,
    ) -> None:
        """At most `most_conversations` exchanges run at once; further ones wait.

        With a `confirmation`, answers to writes are returned only after the replicas have the writes.
        """
        self._pool = pool
        self._turn = asyncio.Semaphore(most_conversations)
        self._credibility = credibility
        self._confirmation = confirmation
        self._talking: set[Any] = set()
        self._abandoned = False

    async def converse(self, commands: Sequence[Command], fence: Fence | None = None) -> list[Any]:
        """Send commands together and return their answers in order; an error reply is returned as an exception.

        With a `fence`, answers to reads are returned only after the replicas have what was read.
        """
        with cancellation_heeded() as heed:
            async with self._turn:
                try:
                    connection = await self._connection()
                except NotDurable as refusal:
                    raise StoreUnavailable(str(refusal), NOT_KEPT) from refusal
                except (RedisError, OSError) as failure:
                    raise Unsent(str(failure)) from failure
                self._talking.add(connection)
                with self._credibility.question():
                    try:
                        answers = await self._answers(connection, commands, fence, heed)
                    except asyncio.CancelledError:
                        # Late answers would be taken for those of the next exchange.
                        await connection.disconnect(nowait=True)
                        raise
                    except Unanswered as failure:
                        if failure.answers and not await self._is_credible():
                            raise Unanswered(REPLACED, []) from failure
                        raise
                    finally:
                        self._talking.discard(connection)
                        await self._pool.release(connection)
                    if not await self._is_credible():
                        raise Unanswered(REPLACED, [])
                    return answers

    async def _is_credible(self) -> bool:
        return await self._credibility.holds() and not self._abandoned

    async def _connection(self) -> Any:
        """A connection to a server that was still the master when the connection was ready; raises Unsent otherwise."""
        with self._credibility.question():
            connection = await self._pool.get_connection()
            try:
                is_credible = await self._is_credible()
            except BaseException:
                await self._discard(connection)
                raise
        if not is_credible:
            await self._discard(connection)
            raise Unsent(REPLACED)
        return connection

    async def _discard(self, connection: Any) -> None:
        await connection.disconnect(nowait=True)
        await self._pool.release(connection)

    async def _answers(
        self, connection: Any, commands: Sequence[Command], fence: Fence | None, heed: Callable[[], None]
    ) -> list[Any]:
        confirmation = self._confirmation if fence is None else fence.confirmation
        converse = partial(self._converse, connection, heed=heed)
        if confirmation is None:
            return await converse(commands)
        try:
            refusal = await confirmation.refusal(converse)
        except Unanswered as silence:
            raise Unsent(str(silence)) from silence
        if refusal:
            raise StoreUnavailable(refusal, REPLICAS_DIFFER)
        fenced = [] if fence is None else [("SET", fence.key, 1)]
        try:
            answers = await converse([*confirmation.before, *commands, *fenced])
            before = [answers.pop(0) for _ in confirmation.before]
            written = answers.pop() if fenced else None
            if not any(answer and not isinstance(answer, Exception) for answer in answers):
                return answers
            if isinstance(written, ResponseError) and not isinstance(written, AskError):
                return [written] * len(answers)
            moved = isinstance(written, AskError)
            lack = Lack(f"the fence is being moved: {written}") if moved else await confirmation.lack(converse, before)
        except Unanswered as failure:
            # None of the answers is confirmed.
            failure.answers = []
            raise
        if lack is not None:
            raise Unanswered(lack.why, [], lack.cause)
        return answers

    async def _converse(self, connection: Any, commands: Sequence[Command], heed: Callable[[], None]) -> list[Any]:
        answers: list[Any] = []
        try:
            # redis-py's own packing gives the same bytes and takes ten times as long.
            packed = b"".join([_pack(tuple(command)) for command in commands])
            await connection.send_packed_command(packed, check_health=False)
            heed()
            await _read(connection, answers, len(commands))
        except TimeoutError as failure:
            raise Unanswered("no answer in time", answers) from failure
        except (RedisError, OSError) as failure:
            raise Unanswered(str(failure), answers) from failure
        except AttributeError as failure:
            # redis-py has no writer any more if `abandon` closes the connection just before it sends.
            if connection.is_connected:
                raise
            raise Unanswered("the connection was closed", answers) from failure
        return answers

    async def subscribe(self, channel: bytes, began: Callable[[], None], heard: Callable[[bytes], None]) -> None:
        """Call `heard` for each message after `began`; raises Unanswered when the connection ends."""
        with cancellation_heeded() as heed:
            try:
                connection = await self._connection()
            except (RedisError, OSError) as failure:
                raise Unsent(str(failure)) from failure
            self._talking.add(connection)
            asking: asyncio.Task[None] | None = None
            try:
                with self._credibility.question():
                    subscribe = connection.pack_command("SUBSCRIBE", channel)
                    await connection.send_packed_command(subscribe, check_health=False)
                    heed()
                    await connection.read_response()
                    heed()
                    if not await self._is_credible():
                        raise Unanswered(REPLACED, [])
                began()
                signs = asyncio.Event()
                asking = asyncio.create_task(_ask_for_signs(connection, signs))
                while True:
                    message = await connection.read_response(timeout=inf)
                    signs.set()
                    if message[0] == b"message":
                        heard(message[2])
            except (RedisError, OSError) as failure:
                raise Unanswered(str(failure), []) from failure
            finally:
                if asking is not None:
                    asking.cancel()
                self._talking.discard(connection)
                # Late messages would be taken for answers.
                await self._discard(connection)

    async def hang_up(self) -> None:
        """Close idle connections, so that the next exchange checks the server's settings again."""
        async with self._turn:
            await self._pool.disconnect(inuse_connections=False)

    async def abandon(self) -> None:
        """Close all connections, also those in use, and trust no later answer."""
        self._abandoned = True
        for connection in tuple(self._talking):
            await connection.disconnect(nowait=True)
        await self._pool.disconnect(inuse_connections=False)

    async def close(self) -> None:
        """Close all connections."""
        await self._pool.aclose()
