"""Several copies of the tree at work at once."""

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
    """A few copies, each with one piece of work at a time."""

    def __init__(self, copies: list[Copy], pool: ThreadPoolExecutor) -> None:
        """Begin with all of them free."""
        self.root = copies[0].root
        """One of the copies; as long as nothing is at work it is the tree as it was."""
        self._pool = pool
        self._free: SimpleQueue[Copy] = SimpleQueue()
        for copy in copies:
            self._free.put(copy)

    def each(self, do: Callable[[Copy, Work], Done], work: Iterable[Work]) -> Iterator[Done]:
        """Do all the work, and give the results as they come."""

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
    """So many copies of the tree; whichever way this is left, what runs is ended and the copies are gone."""
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
