"""Makes sure that a cancellation is not lost inside redis-py.

redis-py sends with `asyncio.wait_for`, which before Python 3.12 drops a cancellation if the sending has just ended. The
task continues, and a caller that waits for its end waits for ever. `Task.cancelling` still counts the lost
cancellation.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def cancellation_heeded() -> Iterator[Callable[[], None]]:
    """Raise CancelledError on leaving, with or without another exception, if the task was cancelled inside.

    Yields a function that raises it at once, for use before long waits.
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
