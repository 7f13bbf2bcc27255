"""`python -m tests.bench one_choose`: what one Choose with one watcher passes through, counted.

A real call over a loopback port to a real server on a log in memory, with everything around it that a service has. The
profiler hears of every Python function that is called from then until the choice is answered, its watcher told, and
the log waited for again.
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
"""Choices before the one that is counted, so that nothing is counted which happens once in a process."""

TRIES: Final = 3
"""Of which the one with the fewest calls counts: into another a heartbeat may fall, or a cache that is still empty."""


@dataclass(frozen=True)
class Passed:
    """What one Choose passed through."""

    events: int
    """That it made."""
    modules: int
    """Of the service, with a function that was called."""
    calls: int
    """Of the service's own functions; what waited and goes on counts again, comprehensions do not count."""
    folds: float
    """How often each event was taken by the fold of a match."""
    parses: int
    """Events that were read back from their bytes."""


class Counting:
    """Counts what is called while it is entered."""

    def __init__(self) -> None:
        """Nothing has been called yet."""
        self.called: Counter[CodeType] = Counter()
        self._root = str(Path(rollbook.__file__).parent)

    def __enter__(self) -> Self:
        """Count from now on."""
        sys.setprofile(self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        """Count no more."""
        sys.setprofile(None)

    def _hear(self, frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call":
            self.called[frame.f_code] += 1

    def of_the_service(self) -> Counter[CodeType]:
        """The calls of the service's own functions."""
        return Counter({code: times for code, times in self.called.items() if self._is_named_here(code)})

    def _is_named_here(self, code: CodeType) -> bool:
        """Whether it is a function of the service; some versions of Python make one of every comprehension as well."""
        return code.co_filename.startswith(self._root) and not code.co_name.startswith("<")


async def passed() -> tuple[Passed, Counter[CodeType]]:
    """Count one Choose, and say what was called how often."""
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
    """Count the same choice a few times, while nothing is written into the service's log."""
    usual = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    try:
        return min((asyncio.run(passed()) for _ in range(TRIES)), key=lambda found: found[0].calls)
    finally:
        structlog.configure(**usual)


def show() -> None:
    """Print what was counted, and where most calls go."""
    found, called = fewest()
    print(found)
    modules: Counter[str] = Counter()
    for code, times in called.items():
        modules[code.co_filename.rpartition("rollbook/")[2]] += times
    for module, times in modules.most_common():
        print(f"{times:6} {module}")
