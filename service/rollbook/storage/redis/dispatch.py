"""Sends each command to the server that has its key, and follows redirections.

A redirected command has written nothing, so an append follows redirections too. All other commands here may be sent
twice.
"""

import asyncio
import ssl
from collections.abc import Iterable, Sequence
from random import sample
from typing import Any, Final

from redis.exceptions import (
    AskError,
    AuthenticationError,
    ClusterDownError,
    MovedError,
    ResponseError,
    TryAgainError,
)

from rollbook.storage.port import STORE_REPLACED, StoreUnavailable
from rollbook.storage.redis.confirmation import Fence
from rollbook.storage.redis.connection import Command, Unanswered, Unsent, Wire, cause_of
from rollbook.storage.redis.keys import MARKER, PARTITIONS, alive_key, fence_key, lobby_key, marker_key
from rollbook.storage.redis.masters import Server, Servers

_CAUSES: Final = {
    "OOM": "the store is out of memory",
    "NOREPLICAS": "the store has too few replicas",
    "CLUSTERDOWN": "the store's cluster is down",
    "MISCONF": "the store cannot write to its disk",
    "READONLY": "the store takes no writes",
    "NOPERM": "the store does not let the service do this",
}
"""Causes that clients receive, by the server's error code."""

_PASSING: Final = {
    "the store does not answer",
    _CAUSES["NOREPLICAS"],
    _CAUSES["CLUSTERDOWN"],
    _CAUSES["READONLY"],
}
"""Causes that pass without intervention: the store is starting, loading its data, or waiting for its replicas."""

_WRONG_KIND: Final = "WRONGTYPE"
"""Error code for a key that contains another type than expected; the store itself works."""

_TELL_NOTHING: Final = {"EXISTS", "TIME", "TTL", "TYPE"}
"""Commands whose answers need no fence: they are neither shown to clients nor the basis of decisions."""

_MOVING: Final = (AskError, TryAgainError)

_MOST_REDIRECTIONS: Final = 5
_READ_ATTEMPTS: Final = 4
_PAUSE_SECONDS: Final = 0.05
"""Pause before the second attempt; it doubles with every further one."""


class KeyMisused(StoreUnavailable):
    """A key contains another type than expected."""


def may_pass(failure: StoreUnavailable) -> bool:
    """Whether the failure may pass without a change of a password, certificate or setting."""
    why: BaseException | None = failure
    while why is not None:
        if isinstance(why, AuthenticationError | ssl.SSLError):
            return False
        why = why.__cause__
    return failure.cause in _PASSING


class Dispatch:
    """Sends commands to the servers of a store."""

    def __init__(self, servers: Servers) -> None:
        """`servers` finds the server of each key."""
        self._servers = servers
        self._appending = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._finishing = False
        self.is_replaced = False
        """Whether the store is not the one that it was: then only its markers are read and written."""

    @property
    def servers(self) -> Servers:
        """The servers, for maintenance of their files."""
        return self._servers

    async def append(self, keys: Sequence[bytes], arguments: Sequence[bytes]) -> list[int]:
        """Run the append script on the server that has the keys, following redirections, which have written nothing."""
        self.check_open()
        self._check_ours(keys[0])
        self._appending += 1
        self._quiet.clear()
        asking = False
        refusal: ResponseError | None = None
        try:
            server = await self._servers.of(keys[0])
            for attempt in range(_MOST_REDIRECTIONS):
                try:
                    answer: list[int] = await server.appends.run(keys, arguments, asking=asking)
                except TryAgainError as separated:
                    # The keys of the append are on two servers while their slot moves; nothing was written.
                    await _pause(attempt)
                    refusal = separated
                except AskError as redirection:
                    await _pause(attempt - 1)
                    server = await self._servers.redirect(redirection)
                    asking = not isinstance(redirection, MovedError)
                    refusal = redirection
                except ResponseError as failure:
                    self._doubt_after(failure)
                    raise _refusal_error(failure) from failure
                except Exception:
                    self._servers.doubt()
                    raise
                else:
                    return answer
            self._servers.doubt()
            raise StoreUnavailable(f"Too many cluster redirections: {refusal}") from refusal
        finally:
            self._appending -= 1
            if not self._appending:
                self._quiet.set()

    async def ask(self, key: bytes, *command: bytes | str | int, appends: bool = False) -> Any:
        """Send a command that may be sent twice to the server that has the key, and return the answer."""
        (answer,) = await self.ask_all([(key, command)], appends=appends)
        if isinstance(answer, KeyMisused):
            raise answer
        return answer

    async def ask_all(self, commands: Sequence[tuple[bytes, Command]], *, appends: bool = False) -> list[Any]:
        """Send commands that may be sent twice, each to the server that has its key, and return the answers.

        An answer is KeyMisused for a key of the wrong type, and None for a command that fails because its key does not
        exist.
        """
        answers: dict[int, Any] = {}
        failure: Exception = AssertionError("nothing has been asked yet")
        for attempt in range(_READ_ATTEMPTS):
            left = [number for number in range(len(commands)) if number not in answers]
            if not left:
                break
            await _pause(attempt - 1)
            self.check_open()
            self._check_ours(*(commands[number][0] for number in left))
            try:
                by_server = await self._by_server((number, commands[number][0]) for number in left)
            except StoreUnavailable as unreachable:
                failure = unreachable
                continue
            for server, numbers in by_server:
                wire = _wire(server, appends=appends)
                try:
                    fence = None if appends else await self._fence(server, [commands[n] for n in numbers], attempt)
                    heard = await wire.converse([commands[number][1] for number in numbers], fence)
                except (Unsent, Unanswered) as silence:
                    self._servers.doubt()
                    failure = silence
                    continue
                for number, answer in zip(numbers, heard, strict=True):
                    try:
                        answers[number] = await self._follow(answer, commands[number][1], appends=appends)
                    except (AskError, TryAgainError, ClusterDownError, Unsent, Unanswered) as refusal:
                        self._doubt_after(refusal)
                        failure = refusal
        if len(answers) < len(commands):
            if isinstance(failure, ResponseError):
                raise _refusal_error(failure) from failure
            raise StoreUnavailable(f"The store does not answer: {failure}", cause_of(failure)) from failure
        return [answers[number] for number in range(len(commands))]

    async def prove(self, partitions: int) -> dict[int, bytes | None]:
        """Write on every master, and return the marker of one partition of each, by partition.

        Raises StoreUnavailable with the reason if that fails.
        """
        by_server = await self._by_server((number, lobby_key(number)) for number in range(partitions))
        try:
            answers = await asyncio.gather(
                *[server.beat(alive_key(numbers[0]), marker_key(numbers[0])) for server, numbers in by_server]
            )
        except (Unsent, Unanswered) as silence:
            self._servers.doubt()
            raise StoreUnavailable(f"The store does not answer: {silence}", cause_of(silence)) from silence
        found: dict[int, bytes | None] = {}
        for (_, numbers), (answer, marker) in zip(by_server, answers, strict=True):
            # A slot that is being moved is refused by its old server, which works.
            if isinstance(answer, ResponseError) and (
                isinstance(answer, MovedError) or not isinstance(answer, _MOVING)
            ):
                self._servers.doubt()
                raise _refusal_error(answer) from answer
            if not isinstance(marker, Exception):
                found[numbers[0]] = marker
        return found

    def _check_ours(self, *keys: bytes) -> None:
        if self.is_replaced and not all(key.endswith(MARKER) for key in keys):
            raise StoreUnavailable("the store is not the one that it was", STORE_REPLACED)

    def check_open(self) -> None:
        """Raise StoreUnavailable if the log has been closed."""
        if self._finishing:
            raise StoreUnavailable("this log has been closed")

    async def finish(self) -> None:
        """Refuse new commands and wait until the appends under way have finished."""
        self._finishing = True
        await self._quiet.wait()

    async def close(self) -> None:
        """Close all connections."""
        await self._servers.close()

    async def _fence(self, server: Server, commands: Sequence[tuple[bytes, Command]], attempt: int) -> Fence | None:
        """The fence for a read on a replicated store; None if the store is not replicated or the read needs no fence.

        The fence is a write to the slot of the key that is read; on a second attempt to another slot of the same
        server, because the first one may be moving.
        """
        if server.confirmation is None or all(command[0] in _TELL_NOTHING for _, command in commands):
            return None
        key = commands[0][0]
        if attempt:
            for partition in sample(range(PARTITIONS), PARTITIONS):
                key = lobby_key(partition)
                if await self._servers.of(key) is server:
                    break
        return Fence(fence_key(key), server.confirmation)

    async def _by_server(self, keys: Iterable[tuple[int, bytes]]) -> list[tuple[Server, list[int]]]:
        found: dict[int, tuple[Server, list[int]]] = {}
        for number, key in keys:
            server = await self._servers.of(key)
            found.setdefault(id(server), (server, []))[1].append(number)
        return list(found.values())

    async def _follow(self, answer: Any, command: Command, *, appends: bool) -> Any:
        """The answer itself or, if it is a redirection, the answer from the server it names."""
        if isinstance(answer, AskError):
            server = await self._servers.redirect(answer)
            asking: list[Command] = [] if isinstance(answer, MovedError) else [("ASKING",)]
            fence = None if appends else await self._fence(server, [(b"", command)], 1)
            *_, answer = await _wire(server, appends=appends).converse([*asking, command], fence)
        if isinstance(answer, AskError | TryAgainError | ClusterDownError):
            raise answer
        if isinstance(answer, ResponseError):
            if _code(answer) == _WRONG_KIND:
                return KeyMisused(f"The store refused: {answer}", "a key of the store is not what it should be")
            if "no such key" in str(answer):
                return None
            raise _refusal_error(answer) from answer
        return answer

    def _doubt_after(self, failure: Exception) -> None:
        if not isinstance(failure, TryAgainError):
            self._servers.doubt()


def _wire(server: Server, *, appends: bool) -> Wire:
    return server.appends.wire if appends else server.reads


def _refusal_error(refusal: ResponseError) -> StoreUnavailable:
    return StoreUnavailable(f"The store refused: {refusal}", _CAUSES.get(_code(refusal), "the store refuses"))


def _code(refusal: ResponseError) -> str:
    return getattr(refusal, "status_code", None) or str(refusal).partition(" ")[0]


async def _pause(times: int) -> None:
    if times >= 0:
        await asyncio.sleep(_PAUSE_SECONDS * 2**times)
