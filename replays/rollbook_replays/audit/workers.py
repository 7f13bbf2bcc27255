"""Audits of many replays, on as many cores as wanted, with no more in memory than is under way.

Workers are spawned, never forked, and get the keys as text, since keys cannot be sent.
"""

from __future__ import annotations

import gc
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial
from itertools import islice
from multiprocessing import get_context
from typing import Final

from rollbook.replay_file.container import NotAReplay
from rollbook.replay_file.kept_heads import WitnessedHead
from rollbook.replay_file.key_lines import KnownKeys, read_keys, write_keys
from rollbook_replays.audit.audit import audit
from rollbook_replays.audit.sources import Source
from rollbook_replays.audit.verdicts import Audited, Verdict

BATCH: Final = 16
"""Replays that a worker gets at once."""

FEW: Final = 100
"""So many are audited sooner than workers are there."""


def audit_one(source: Source, keys: KnownKeys, heads: Sequence[WitnessedHead]) -> Audited:
    """The verdict on one replay; whatever is wrong with it never stops the audit of others."""
    try:
        return audit(source.read(), keys, heads)
    except OSError as wrong:
        return Audited(Verdict.UNREADABLE, unreadable=wrong.strerror or str(wrong))
    except NotAReplay as wrong:
        return Audited(Verdict.UNREADABLE, unreadable=str(wrong))
    except Exception as failure:  # noqa: BLE001 - a fault of ours must be told, not be the end of all audits
        return Audited(Verdict.UNREADABLE, unreadable=f"the audit itself failed: {failure!r}")


def audit_all(
    found: Sequence[Source], keys: KnownKeys, heads: Sequence[WitnessedHead], jobs: int
) -> Iterator[tuple[Source, Audited]]:
    """The verdicts on all, in their order."""
    if jobs == 1 or len(found) <= FEW:
        for source in found:
            yield source, audit_one(source, keys, heads)
        return
    crew = ProcessPoolExecutor(jobs, get_context("spawn"), _prepare, (write_keys(keys.values()), heads))
    try:
        yield from _in_order(crew, _batches(found), most=4 * jobs)
    finally:
        crew.shutdown(cancel_futures=True)


def _in_order(
    crew: ProcessPoolExecutor, batches: Iterator[Sequence[Source]], most: int
) -> Iterator[tuple[Source, Audited]]:
    """Never more batches under way than `most`, however far the first of them lags behind."""
    waiting: deque[tuple[Sequence[Source], Future[list[Audited]]]] = deque()
    while True:
        for batch in islice(batches, most - len(waiting)):
            waiting.append((batch, crew.submit(_audit_batch, batch)))
        if not waiting:
            return
        batch, future = waiting.popleft()
        yield from zip(batch, future.result(), strict=True)


def _batches(found: Sequence[Source]) -> Iterator[Sequence[Source]]:
    for begin in range(0, len(found), BATCH):
        yield found[begin : begin + BATCH]


# In a worker

_audit_one: Callable[[Source], Audited]


def _prepare(keys: str, heads: Sequence[WitnessedHead]) -> None:
    """Know keys and heads; an interrupt is for the process that asked."""
    global _audit_one  # noqa: PLW0603 - a worker is told once, when it begins
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()  # What is loaded by now stays; looking for garbage among it would cost a tenth of all time.
    _audit_one = partial(audit_one, keys=read_keys(keys), heads=heads)


def _audit_batch(batch: Sequence[Source]) -> list[Audited]:
    return [_audit_one(source) for source in batch]
