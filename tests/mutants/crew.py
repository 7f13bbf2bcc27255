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

    def __init__(self, copies: list[Copy]) -> None:
        """Begin with all of them free."""
        self._copies = copies
        self.root = copies[0].root
        """One of the copies; as long as nothing is at work it is the tree as it was."""
        self._free: SimpleQueue[Copy] = SimpleQueue()
        for copy in copies:
            self._free.put(copy)

    def each(self, do: Callable[[Copy, Work], Done], work: Iterable[Work]) -> Iterator[Done]:
        """Do all the work, and give the results as they come; whoever stops asking ends what runs."""

        def with_a_copy(piece: Work) -> Done:
            copy = self._free.get()
            try:
                return do(copy, piece)
            finally:
                self._free.put(copy)

        with ThreadPoolExecutor(len(self._copies)) as pool:
            futures = [pool.submit(with_a_copy, piece) for piece in work]
            try:
                for future in as_completed(futures):
                    yield future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                for copy in self._copies:
                    copy.stop()
                raise


@contextmanager
def crew(root: Path, jobs: int) -> Iterator[Crew]:
    """So many copies of the tree, in a temporary folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="rollbook-mutants-") as folder:
        yield Crew([Copy(root, Path(folder) / str(job)) for job in range(jobs)])
