"""Reservations, token buckets, short-lived values and declined rematches, shared by all processes.

Every change is one atomic script, so that of many concurrent callers one gets the last place. All may be sent twice.
"""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, Final

from rollbook.storage.port import BOOK_SECONDS, UNDER_WAY_MS, Full, Quota, Reserved
from rollbook.storage.redis.dispatch import Dispatch
from rollbook.storage.redis.keys import book_key, bucket_key, declined_key, kept_key


def _script(name: str) -> bytes:
    return files("rollbook.storage.redis").joinpath(f"{name}.lua").read_bytes()


_RESERVE: Final = _script("reserve")
_SETTLE: Final = _script("settle")
_DRAW: Final = _script("draw")
_DECLINE: Final = _script("decline")


class Books:
    """The books and buckets of a log."""

    def __init__(self, dispatch: Dispatch, partitions: int) -> None:
        """`partitions` is the number of partitions of the store."""
        self._dispatch = dispatch
        self._partitions = partitions

    async def reserve(self, holder: str, match_id: str, quotas: Sequence[Quota]) -> Reserved | Full:
        """Give a match a place in each of these books of a holder, or in none of them if one is full."""
        keys = [book_key(holder, quota.book, self._partitions) for quota in quotas]
        most = [quota.most for quota in quotas]
        full, at_ms, *is_new = await self._run(_RESERVE, keys, match_id, UNDER_WAY_MS, BOOK_SECONDS, *most)
        return Full(quotas[full - 1].book, at_ms) if full else Reserved(at_ms, bool(is_new[0]))

    async def list_reserved(self, holder: str, book: str) -> dict[str, int]:
        """The matches with a place in a book, each with the `until_ms` of its reservation; negative once settled."""
        key = book_key(holder, book, self._partitions)
        answer = await self._dispatch.ask(key, "ZRANGE", key, 0, -1, "WITHSCORES")
        return {str(name, "utf-8"): int(until) for name, until in zip(answer[::2], answer[1::2], strict=True)}

    async def settle(self, holder: str, books: Sequence[str], match_id: str, until_ms: int) -> None:
        """Settle a reservation: its operation has happened. Does nothing if the place was reserved again since."""
        await self._change("settle", holder, books, {match_id: until_ms})

    async def release(self, holder: str, books: Sequence[str], places: Mapping[str, int]) -> None:
        """Remove the places of these matches, except those that were reserved again or settled since."""
        await self._change("release", holder, books, places)

    async def free(self, holder: str, book: str, match_ids: Sequence[str]) -> None:
        """Remove the places of these matches, also settled ones; the matches are over and stay so."""
        key = book_key(holder, book, self._partitions)
        if match_ids:
            await self._dispatch.ask(key, "ZREM", key, *match_ids, appends=True)

    async def draw(self, bucket: str, most: int, per_ms: int) -> int:
        """Take one token from a bucket; returns 0, or the milliseconds to wait."""
        return int(await self._run(_DRAW, [bucket_key(bucket, self._partitions)], most, per_ms))

    async def keep(self, name: str, value: bytes, for_ms: int) -> None:
        """Store a value under a name for `for_ms`, or until `take` removes it."""
        key = kept_key(name, self._partitions)
        await self._dispatch.ask(key, "SET", key, value, "PX", for_ms, appends=True)

    async def take(self, name: str) -> bytes | None:
        """Remove and return the value stored under a name, or None; of concurrent callers one gets it."""
        key = kept_key(name, self._partitions)
        value = await self._dispatch.ask(key, "GETDEL", key, appends=True)
        return None if value is None else bytes(value)

    async def decline(self, match_id: str, player: bytes, keep_seconds: int) -> None:
        """Record for `keep_seconds` that a player declines a rematch, and announce it as an append with head 0."""
        key = declined_key(match_id, self._partitions)
        await self._run(_DECLINE, [key], match_id, player, keep_seconds)

    async def list_declined(self, match_id: str) -> set[bytes]:
        """The players who have declined a rematch, while their answers are kept."""
        key = declined_key(match_id, self._partitions)
        return set(await self._dispatch.ask(key, "ZRANGE", key, 0, -1))

    async def _change(self, how: str, holder: str, books: Sequence[str], places: Mapping[str, int]) -> None:
        keys = [book_key(holder, book, self._partitions) for book in books]
        await self._run(_SETTLE, keys, how, *(part for place in places.items() for part in place))

    async def _run(self, script: bytes, keys: Sequence[bytes], *arguments: bytes | str | int) -> Any:
        return await self._dispatch.ask(keys[0], "EVAL", script, len(keys), *keys, *arguments, appends=True)
