"""Cancellations that redis-py would forget.

It sends by `asyncio.wait_for`, which before Python 3.12 takes a cancellation for nothing if the sending has just ended.
The task goes on; nobody cancels it a second time, and whoever waits for its end waits for ever. What asyncio does not
forget is how often a task was asked to end.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def cancellation_heeded() -> Iterator[Callable[[], None]]:
    """Raise CancelledError in the end, whatever else came of it, if it was asked for within.

    What it hands out does so at once, for whoever would have to wait for the end.
    """
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("only a task can be cancelled")
    before = task.cancelling()

    def heed() -> None:
        if task.cancelling() > before:
            raise asyncio.CancelledError

    try:
        yield heed
    finally:
        heed()
