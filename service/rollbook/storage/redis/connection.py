"""Conversations with one server: commands out, answers in, and never a doubt about what was sent.

redis-py's own commands send again what was not answered, and tell neither of the two apart. Here a conversation that
failed says whether anything can have left, so that whoever appends knows what it may claim.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from typing import Any, Final, Literal, TypeAlias

import hiredis
from redis.exceptions import RedisError, ResponseError

from rollbook.storage.port import StoreUnavailable
from rollbook.storage.redis.cancellation import cancellation_heeded

Command: TypeAlias = Sequence[bytes | str | int]

_pack: Final[Callable[[Command], bytes]] = hiredis.pack_command  # type: ignore[assignment]  # takes any number of them

Durability: TypeAlias = Literal["fsync", "relaxed"]

NEEDED_FOR_FSYNC: Final = {
    "appendonly": "yes",
    "appendfsync": "always",
    "no-appendfsync-on-rewrite": "no",
    "maxmemory-policy": "noeviction",
}
"""What a server has to be set to, so that an answer means that the entries survive it."""

NOT_KEPT: Final = "the store would not keep what it acknowledges"

_SIGN_SECONDS: Final = 5.0
"""How long a server may be silent that is listened to before it is asked, and again before it is given up."""

_SLACK: Final = 0.1
"""By what part of its time an answer may be given up too early."""

_ELSE: Final = "Or ask for durability 'relaxed' by name, which may lose what was acknowledged."


class Unsent(Exception):
    """No connection came about, so that nothing was sent."""


class Unanswered(Exception):
    """Commands were sent, and not all of them were answered."""

    def __init__(self, reason: str, answers: list[Any]) -> None:
        """Hold the answers that did come, which belong to the first of the commands."""
        super().__init__(reason)
        self.answers = answers


class NotDurable(RedisError):
    """The server does not keep what it acknowledges; redis-py closes a connection on its own errors only."""


async def prove_durable(connection: Any) -> None:
    """Greet a server on a new connection, and refuse it unless it is set to keep what it acknowledges."""
    await connection.on_connect()
    commands = [("CONFIG", "GET", setting) for setting in NEEDED_FOR_FSYNC]
    await connection.send_packed_command(connection.pack_commands(commands), check_health=False)
    for setting, needed in NEEDED_FOR_FSYNC.items():
        try:
            answer = await connection.read_response()
        except ResponseError as refusal:
            raise NotDurable(
                f"Whether the store keeps what it acknowledges cannot be seen: CONFIG GET {setting} was refused"
                f" ({refusal}). Let this user read the configuration. {_ELSE}"
            ) from refusal
        check_durable(setting, needed, answer)


def check_durable(setting: str, needed: str, answer: Any) -> None:
    """Refuse a server that is set otherwise."""
    found = answer[1].decode(errors="replace") if len(answer) > 1 else "unknown to the server"
    if found != needed:
        raise NotDurable(
            f"The store would not keep what it acknowledges: {setting} is {found}, and has to be {needed}."
            f" Set it in the server's configuration file, and now with CONFIG SET {setting} {needed}. {_ELSE}"
        )


async def _read(connection: Any, answers: list[Any], number: int) -> None:
    """Read until there are so many answers; TimeoutError, with the connection closed, if one keeps us waiting.

    redis-py's own limit is a timer for each answer, also for those that have come already.
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
    """Ask now and then, and hang up on a server of which nothing has been heard since."""
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
    """Connections to one server."""

    def __init__(self, pool: Any, most_conversations: int) -> None:
        """Talk over the pool's connections, so many at once; whoever comes later waits."""
        self._pool = pool
        self._turn = asyncio.Semaphore(most_conversations)

    async def converse(self, commands: Sequence[Command]) -> list[Any]:
        """The answers to commands that are sent together, in order; a refusal is an answer, as an exception."""
        with cancellation_heeded() as heed:
            async with self._turn:
                try:
                    connection = await self._pool.get_connection()
                except NotDurable as refusal:
                    raise StoreUnavailable(str(refusal), NOT_KEPT) from refusal
                except (RedisError, OSError) as failure:
                    raise Unsent(str(failure)) from failure
                try:
                    return await self._converse(connection, commands, heed)
                except asyncio.CancelledError:
                    # Answers that are still to come would be taken for those of the next conversation.
                    await connection.disconnect(nowait=True)
                    raise
                finally:
                    await self._pool.release(connection)

    async def _converse(self, connection: Any, commands: Sequence[Command], heed: Callable[[], None]) -> list[Any]:
        answers: list[Any] = []
        try:
            # What redis-py makes of commands is the same, and takes it ten times as long.
            packed = b"".join([_pack(tuple(command)) for command in commands])
            await connection.send_packed_command(packed, check_health=False)
            heed()
            await _read(connection, answers, len(commands))
        except TimeoutError as failure:
            raise Unanswered("no answer in time", answers) from failure
        except (RedisError, OSError) as failure:
            raise Unanswered(str(failure), answers) from failure
        return answers

    async def subscribe(self, channel: bytes, began: Callable[[], None], heard: Callable[[bytes], None]) -> None:
        """Hear what is published, from `began` on, until the connection ends, which Unanswered tells."""
        with cancellation_heeded() as heed:
            try:
                connection = await self._pool.get_connection()
            except (RedisError, OSError) as failure:
                raise Unsent(str(failure)) from failure
            asking: asyncio.Task[None] | None = None
            try:
                await connection.send_packed_command(connection.pack_command("SUBSCRIBE", channel), check_health=False)
                heed()
                await connection.read_response()
                heed()
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
                # What is still published would be taken for an answer.
                await connection.disconnect(nowait=True)
                await self._pool.release(connection)

    async def hang_up(self) -> None:
        """Let go of the connections that nobody talks over, so that the next conversation begins with a greeting."""
        async with self._turn:
            await self._pool.disconnect(inuse_connections=False)

    async def close(self) -> None:
        """Hang up."""
        await self._pool.aclose()
