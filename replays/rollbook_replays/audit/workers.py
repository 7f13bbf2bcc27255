"""Audits many replays on several cores; only the replays in progress are in memory.

Separate processes, the auditors, audit the replays, because a forged file can crash its reader. If an auditor dies, a
fresh one audits the same file again, alone. The file is reported as unreadable only if this auditor dies as well. All
other files get their verdicts, even if a file crashes auditors or something else kills them.
"""

from __future__ import annotations

import socket
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from pickle import UnpicklingError
from types import TracebackType
from typing import Any, Final, Self, cast

from rollbook.processes import environment
from rollbook.replay_file.kept_heads import WitnessedHead
from rollbook.replay_file.key_lines import KnownKeys, write_keys
from rollbook_replays.audit.sources import Source
from rollbook_replays.audit.verdicts import Audited, Verdict

PROGRAM: Final = "rollbook_replays.audit.auditor"
DIED: Final = "the auditor died"

BATCH: Final = 16
"""Replays that an auditor receives in one message."""

FEW: Final = 100
"""Up to this number of replays, one auditor is faster than starting several."""

SILENT_SECONDS: Final = 120.0
"""If no busy auditor replies for this time, all busy auditors are killed."""

MOST_FALSE_STARTS: Final = 20
"""Consecutive auditors that may die before they are ready; after that, such a death counts against the file."""


class _Auditor:
    """The parent's handle on an auditor process."""

    def __init__(self, known: object) -> None:
        """Start the process and send it `known`, the keys and heads."""
        ours, theirs = socket.socketpair()
        with theirs:
            words = [sys.executable, "-P", "-m", PROGRAM, str(theirs.fileno())]
            # A separate session, so that only the parent receives Ctrl-C.
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                words,
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=environment(),
                start_new_session=True,
            )
        self.connection = Connection(ours.detach())
        self.asked: deque[int] = deque()
        """Numbers of the replays without a reply; the auditor works on the first."""
        self.is_ready = False
        self._say(known)

    @property
    def is_alive(self) -> bool:
        """Whether the process is running."""
        return self._process.poll() is None

    def ask(self, batch: Sequence[int], found: Sequence[Source]) -> None:
        """Send the next batch. Only for an idle auditor: a busy one does not read, and both could block for ever."""
        self.asked.extend(batch)
        self._say([found[number] for number in batch])

    def _say(self, what: object) -> None:
        try:
            self.connection.send(what)
        except OSError:
            self.kill()  # `_listen` notices the end of the process.

    def kill(self) -> None:
        """Kill the process."""
        self._process.kill()

    def close(self) -> None:
        """Kill the process, wait for its end, and close the connection."""
        self.kill()
        self._process.wait()
        self.connection.close()


class _Work:
    """The queue of one run: finished replays, and those that still need an auditor."""

    def __init__(self, found: Sequence[Source]) -> None:
        self.found = found
        self.done: dict[int, Audited] = {}
        """Verdicts by number; those already returned to the caller are removed."""
        self.alone: deque[int] = deque()
        """Replays whose auditor died; a fresh auditor receives each of them alone."""
        self._again: set[int] = set()
        """All replays that have been in `alone`."""
        self._left: deque[int] = deque()
        """Replays that a dead auditor had received and not begun."""
        self._next = 0

    def batch(self, before: int) -> Sequence[int]:
        """The next replays for an auditor, all below number `before`; empty if there are none."""
        if self._left:
            return [self._left.popleft() for _ in range(min(BATCH, len(self._left)))]
        begin = self._next
        self._next = max(begin, min(begin + BATCH, before, len(self.found)))
        return range(begin, self._next)

    def requeue(self, asked: Sequence[int], *, blameless: bool) -> None:
        """Requeue the replays of an auditor that died; if not blameless, its first replay counts as the cause."""
        first, *others = asked
        if first in self._again:
            if blameless:
                self.alone.append(first)
            else:
                self.done[first] = Audited(Verdict.UNREADABLE, unreadable=DIED)
        elif blameless:
            others = list(asked)
        else:
            self._again.add(first)
            self.alone.append(first)
        self._left.extendleft(reversed(others))


class Crew:
    """A pool of auditors with the same keys and heads; a context manager that kills them at exit."""

    def __init__(self, keys: KnownKeys, heads: Sequence[WitnessedHead], jobs: int) -> None:
        """`jobs` is the largest number of auditors; they start when there is work."""
        self._known = (write_keys(keys.values()), tuple(heads))
        self._jobs = jobs
        self._auditors: list[_Auditor] = []
        self._false_starts = 0

    def __enter__(self) -> Self:
        """Return the pool; no auditor runs yet."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Kill all auditors."""
        for auditor in self._auditors:
            auditor.close()
        self._auditors = []

    def audit(self, found: Sequence[Source]) -> Iterator[tuple[Source, Audited]]:
        """The verdicts on all replays, in their order."""
        work = _Work(found)
        jobs = self._jobs if len(found) > FEW else 1
        for number, source in enumerate(found):
            while number not in work.done:
                # Bounds the replays in progress, and the verdicts in memory, while a slow first replay is awaited.
                self._hand_out(work, jobs, before=number + 4 * jobs * BATCH)
                self._listen(work)
            yield source, work.done.pop(number)

    def _hand_out(self, work: _Work, jobs: int, before: int) -> None:
        for ended in [auditor for auditor in self._auditors if not auditor.asked and not auditor.is_alive]:
            self._dismiss(ended)
        free = [auditor for auditor in self._auditors if not auditor.asked]
        while work.alone and (free or len(self._auditors) < jobs):
            if len(self._auditors) >= jobs:
                self._dismiss(free.pop())
            self._start().ask([work.alone.popleft()], work.found)
        while free or len(self._auditors) < jobs:
            batch = work.batch(before)
            if not batch:
                return
            (free.pop() if free else self._start()).ask(batch, work.found)

    def _listen(self, work: _Work) -> None:
        at_work: dict[Any, _Auditor] = {auditor.connection: auditor for auditor in self._auditors if auditor.asked}
        speaking = wait(at_work, SILENT_SECONDS)
        if not speaking:
            for auditor in at_work.values():
                auditor.kill()
        for connection in speaking:
            auditor = at_work[connection]
            try:
                said = cast("Audited | None", auditor.connection.recv())
            except (EOFError, OSError, UnpicklingError):
                self._bury(auditor, work)
                continue
            if said is None:
                auditor.is_ready = True
                self._false_starts = 0
            else:
                work.done[auditor.asked.popleft()] = said

    def _start(self) -> _Auditor:
        auditor = _Auditor(self._known)
        self._auditors.append(auditor)
        return auditor

    def _bury(self, auditor: _Auditor, work: _Work) -> None:
        self._dismiss(auditor)
        blameless = not auditor.is_ready and self._false_starts < MOST_FALSE_STARTS
        self._false_starts += blameless
        work.requeue(auditor.asked, blameless=blameless)

    def _dismiss(self, auditor: _Auditor) -> None:
        self._auditors.remove(auditor)
        auditor.close()


def audit_all(
    found: Sequence[Source], keys: KnownKeys, heads: Sequence[WitnessedHead], jobs: int
) -> Iterator[tuple[Source, Audited]]:
    """The verdicts on all replays, in their order."""
    with Crew(keys, heads, jobs) as crew:
        yield from crew.audit(found)
