"""Several copies of the tree work concurrently."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

from tests.mutants.copies import Copy

Work = TypeVar("Work")
Done = TypeVar("Done")


class Crew:
    """Copies of the tree, each with one task at a time."""

    def __init__(self, copies: list[Copy], pool: ThreadPoolExecutor) -> None:
        """Start with all copies free."""
        self.root = copies[0].root
        """One of the copies, which equals the tree while no task runs."""
        self._pool = pool
        self._free: SimpleQueue[Copy] = SimpleQueue()
        for copy in copies:
            self._free.put(copy)

    def each(self, do: Callable[[Copy, Work], Done], work: Iterable[Work]) -> Iterator[Done]:
        """Do all tasks, and yield the results as they come."""

        def with_a_copy(piece: Work) -> Done:
            copy = self._free.get()
            try:
                return do(copy, piece)
            finally:
                self._free.put(copy)

        for future in as_completed([self._pool.submit(with_a_copy, piece) for piece in work]):
            yield future.result()


@contextmanager
def crew(root: Path, jobs: int) -> Iterator[Crew]:
    """Yield copies of the tree; on exit all running tests are ended and the copies removed."""
    with tempfile.TemporaryDirectory(prefix="rollbook-mutants-") as folder:
        copies = [Copy(root, Path(folder) / str(job)) for job in range(jobs)]
        pool = ThreadPoolExecutor(jobs)
        try:
            yield Crew(copies, pool)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for copy in copies:
                copy.stop()
            pool.shutdown()
