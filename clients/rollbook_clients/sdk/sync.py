"""The table without `async`: the same calls, which wait; the asynchronous ones run in a thread of the table's own.

    with connect("localhost:50051") as table:
        for summary in table.matches():
            print(summary.match_id)

Every method is the one of the same name in `rollbook_clients.sdk`, and is documented there.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        """Start it."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="rollbook table", daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, R]) -> R:
        """Wait for what a coroutine gives; whatever ends the waiting ends it too."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Stop it, and wait until it has."""
        self.run(self._loop.shutdown_asyncgens())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class _Runs(Protocol[T]):
    """What is an asynchronous thing, run by a loop."""

    _inner: T
    _loop: Loop


def _waiting(
    method: Callable[Concatenate[T, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[_Runs[T], P], R]:
    """The method, which waits for its answer."""

    @wraps(method)
    def waits(self: _Runs[T], /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._loop.run(method(self._inner, *args, **kwargs))

    return waits


def _stepping(
    method: Callable[Concatenate[T, P], AsyncGenerator[R, None]],
) -> Callable[Concatenate[_Runs[T], P], Generator[R, None, None]]:
    """The generator, which waits for each of its items."""

    @wraps(method)
    def steps(self: _Runs[T], /, *args: P.args, **kwargs: P.kwargs) -> Generator[R, None, None]:
        items = method(self._inner, *args, **kwargs)
        try:
            while True:
                try:
                    item = self._loop.run(_next(items))
                except StopAsyncIteration:
                    return
                yield item
        finally:
            self._loop.run(items.aclose())

    return steps


async def _next(items: AsyncGenerator[R, None]) -> R:
    return await anext(items)
