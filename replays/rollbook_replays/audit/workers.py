"""Audits of many replays, on as many cores as wanted, with no more in memory than is under way.

Replays are judged by processes that do nothing else, auditors, because a file may have been made to end whoever reads
it. The file of an auditor that died is judged once more, alone, by a fresh one; only if that dies as well, the file is
blamed. So nothing that is in a file, and nobody who kills auditors, keeps the others from their verdicts.
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
"""Replays that an auditor gets at once."""

FEW: Final = 100
"""So many are audited sooner by one than several are there."""

SILENT_SECONDS: Final = 120.0
"""When none of the auditors at work has said anything for so long, they never will."""

MOST_FALSE_STARTS: Final = 20
"""In a row. An auditor that dies before it is ready says nothing about its files, unless none gets ready at all."""


class _Auditor:
    """A process that judges, as whoever asks it sees it."""

    def __init__(self, known: object) -> None:
        """Start it."""
        ours, theirs = socket.socketpair()
        with theirs:
            words = [sys.executable, "-P", "-m", PROGRAM, str(theirs.fileno())]
            # A session of its own, so that Ctrl-C reaches whoever asks alone.
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
        """The replays that it has not answered, by number; it is at the first of them."""
        self.is_ready = False
        self._say(known)

    @property
    def is_alive(self) -> bool:
        """Whether it has not been seen to end."""
        return self._process.poll() is None

    def ask(self, batch: Sequence[int], found: Sequence[Source]) -> None:
        """Give it replays when it has none left: then it listens, so that neither waits for the other for ever."""
        self.asked.extend(batch)
        self._say([found[number] for number in batch])

    def _say(self, what: object) -> None:
        try:
            self.connection.send(what)
        except OSError:
            self.kill()  # Its end is noticed when it is listened to.

    def kill(self) -> None:
        """Have it end."""
        self._process.kill()

    def close(self) -> None:
        """End it, and leave nothing of it behind."""
        self.kill()
        self._process.wait()
        self.connection.close()


class _Work:
    """The replays of one run: which are done, and which wait for whom."""

    def __init__(self, found: Sequence[Source]) -> None:
        self.found = found
        self.done: dict[int, Audited] = {}
        """By number; what has been given out is not in it any more."""
        self.alone: deque[int] = deque()
        """Those whose auditor died: each is for a fresh one, alone."""
        self._again: set[int] = set()
        """Those who have been among them."""
        self._left: deque[int] = deque()
        """Those that an auditor had before it when it died."""
        self._next = 0

    def batch(self, before: int) -> Sequence[int]:
        """What somebody can begin with, of those with a smaller number."""
        if self._left:
            return [self._left.popleft() for _ in range(min(BATCH, len(self._left)))]
        begin = self._next
        self._next = max(begin, min(begin + BATCH, before, len(self.found)))
        return range(begin, self._next)

    def lost(self, asked: Sequence[int], *, blameless: bool) -> None:
        """Whoever was at these has died."""
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
    """Auditors who know the same keys and heads; a context that ends them when it is left, whichever way."""

    def __init__(self, keys: KnownKeys, heads: Sequence[WitnessedHead], jobs: int) -> None:
        """At most so many at once; they are started when there is work."""
        self._known = (write_keys(keys.values()), tuple(heads))
        self._jobs = jobs
        self._auditors: list[_Auditor] = []
        self._false_starts = 0

    def __enter__(self) -> Self:
        """Nothing to open."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End all auditors."""
        for auditor in self._auditors:
            auditor.close()
        self._auditors = []

    def audit(self, found: Sequence[Source]) -> Iterator[tuple[Source, Audited]]:
        """The verdicts on all, in their order."""
        work = _Work(found)
        jobs = self._jobs if len(found) > FEW else 1
        for number, source in enumerate(found):
            while number not in work.done:
                # However far the first lags behind, no more than this is under way.
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
        work.lost(auditor.asked, blameless=blameless)

    def _dismiss(self, auditor: _Auditor) -> None:
        self._auditors.remove(auditor)
        auditor.close()


def audit_all(
    found: Sequence[Source], keys: KnownKeys, heads: Sequence[WitnessedHead], jobs: int
) -> Iterator[tuple[Source, Audited]]:
    """The verdicts on all, in their order."""
    with Crew(keys, heads, jobs) as crew:
        yield from crew.audit(found)
