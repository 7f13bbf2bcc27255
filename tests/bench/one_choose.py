"""`python -m tests.bench one_choose` counts the functions that one Choose with one watcher passes through.

A real call over a loopback port to a real server on a log in memory, with all layers of a service. The profiler records
every Python function until the choice is answered, its watcher has it, and the log is awaited again.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, Self

import structlog

import rollbook
from rollbook.match.codec.envelope import read_bytes
from rollbook.match.fold import MatchFold
from rollbook.match.ledger import Ledger
from tests.bench.service.stage import next_choice, stage
from tests.server.feeds.watching import kind

WARM_UP: Final = 7
"""Choices before the counted one, so that one-time work of a process is not counted."""

TRIES: Final = 3
"""The try with the fewest calls counts: others may include a heartbeat or an empty cache."""


@dataclass(frozen=True)
class Passed:
    """The counts of one Choose."""

    events: int
    """Events that it made."""
    modules: int
    """Modules of the service with a called function."""
    calls: int
    """Calls of the service's functions; resumed ones count again, comprehensions do not."""
    folds: float
    """How often each event was folded."""
    parses: int
    """Events that were decoded from their bytes."""


class Counting:
    """A context that counts function calls."""

    def __init__(self) -> None:
        """Start with no calls."""
        self.called: Counter[CodeType] = Counter()
        self._root = str(Path(rollbook.__file__).parent)

    def __enter__(self) -> Self:
        """Start to count."""
        sys.setprofile(self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        """Stop counting."""
        sys.setprofile(None)

    def _hear(self, frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call":
            self.called[frame.f_code] += 1

    def of_the_service(self) -> Counter[CodeType]:
        """The calls of the service's own functions."""
        return Counter({code: times for code, times in self.called.items() if self._is_named_here(code)})

    def _is_named_here(self, code: CodeType) -> bool:
        """Whether it is a named function of the service; some versions of Python also call comprehensions."""
        return code.co_filename.startswith(self._root) and not code.co_name.startswith("<")


async def passed() -> tuple[Passed, Counter[CodeType]]:
    """Count one Choose; returns the counts and the calls by function."""
    async with stage().serving() as world:
        match_id, people = await world.started()
        watch = world.watch(world.person("spectator"), match_id)
        await watch.until("caught_up")

        async def chosen() -> int:
            ledger = Ledger.fold(match_id, await world.log.read(match_id, 0, 10_000))
            seat, choice, at = next_choice(ledger)
            with counting:
                made = (await people[seat].choose(match_id, choice, at)).made
                frame = await watch.next()
            assert frame is not None
            assert kind(frame) == "events"
            return int(made.last - made.first + 1)

        counting = Counting()
        for _ in range(WARM_UP):
            await chosen()
        counting = Counting()
        events = await chosen()
        watch.leave()
    called = counting.of_the_service()
    return (
        Passed(
            events=events,
            modules=len({code.co_filename for code in called}),
            calls=called.total(),
            folds=called[MatchFold.take.__code__] / events,
            parses=called[read_bytes.__code__],
        ),
        called,
    )


def fewest() -> tuple[Passed, Counter[CodeType]]:
    """Count the same choice several times without logging; returns the smallest counts."""
    usual = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    try:
        return min((asyncio.run(passed()) for _ in range(TRIES)), key=lambda found: found[0].calls)
    finally:
        structlog.configure(**usual)


def show() -> None:
    """Print the counts, and the functions with most calls."""
    found, called = fewest()
    print(found)
    modules: Counter[str] = Counter()
    for code, times in called.items():
        modules[code.co_filename.rpartition("rollbook/")[2]] += times
    for module, times in modules.most_common():
        print(f"{times:6} {module}")
