"""The walks of ARCHITECTURE.md name modules that a real service really calls, in the order of a profile.

The service runs in the process of the test, with a store of its own. The profiler records every call of a function of
`rollbook` from a Choose to the frame that a spectator receives.
"""

from __future__ import annotations

import asyncio
import re
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple

import grpc
import pytest

import rollbook
from rollbook.identity.service_keys import ServiceKeys
from rollbook.identity.tokens import Issuer
from rollbook.server.app import assemble
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.configuration.settings import Listen, Settings
from rollbook.server.process.lifecycle import serve
from rollbook.server.process.ports import Listening
from rollbook.server.process.signals import Shutdown
from tests.server.feeds.watching import Theatre, kind
from tests.server.rpc.talking import some_choice

PACKAGE: Final = Path(rollbook.__file__).parent
DOCUMENT: Final = Path(__file__).parents[2] / "service" / "ARCHITECTURE.md"
COMMAND: Final = "The way of a command"
FRAME: Final = "The way of a frame"
WARM_UP: Final = 3
"""Choices before the recorded one, so that caches are filled."""


class Call(NamedTuple):
    """A call of a function of the service, or the resumption of a coroutine."""

    task: asyncio.Task[Any] | None
    module: str
    """Relative to `rollbook`."""


class Profile(list[Call]):
    """All calls in the order in which they happened."""

    @contextmanager
    def record(self) -> Iterator[None]:
        """Record the calls of this thread."""
        sys.setprofile(self._add)
        try:
            yield
        finally:
            sys.setprofile(None)

    def _add(self, frame: FrameType, event: str, _argument: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            self.append(Call(asyncio.current_task(), ".".join(path.relative_to(PACKAGE).with_suffix("").parts)))

    def tasks_that_call(self, module: str) -> set[asyncio.Task[Any] | None]:
        """The tasks with a call of this module."""
        return {call.task for call in self if call.module == module}

    def command(self) -> list[str]:
        """The modules of the command: all but background loops and the stream of the watcher."""
        others = self.tasks_that_call("server.loops") | self.tasks_that_call("server.rpc.feed")
        others |= self.tasks_that_call("server.process.lifecycle") | self.tasks_that_call("server.health.store_health")
        return distinct([call.module for call in self if call.task not in others])

    def frame(self) -> list[str]:
        """The modules of the frame: the notification in the task of the command, then the stream of the watcher."""
        (handler,) = self.tasks_that_call("server.rpc.match")
        called = [call.module for call in self if call.task is handler]
        first = called.index("server.feeds.channel")
        last = next(at for at in range(first, len(called)) if called[at] != "server.feeds.channel")
        (watcher,) = self.tasks_that_call("server.rpc.feed")
        return distinct(called[first - 1 : last] + [call.module for call in self if call.task is watcher])


def distinct(modules: Sequence[str]) -> list[str]:
    """The modules in the order of their first appearance."""
    return list(dict.fromkeys(modules))


@asynccontextmanager
async def served(data: Path) -> AsyncIterator[Theatre]:
    """Run a service without house bots, whose operator's keys sign the tokens of the callers."""
    ready: asyncio.Future[Listening] = asyncio.get_running_loop().create_future()
    settings = Settings(data=data, listen=Listen("127.0.0.1", 0), log_calls=0, limits=Limits(house_seats=0))
    service = asyncio.create_task(serve(settings, assemble, ready.set_result))
    either: set[asyncio.Future[Any]] = {service, ready}
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    if service.done():
        service.result()
    try:
        keys = ServiceKeys.in_directory(data, None, "")
        world = Theatre()
        world.clock.ms = time.time_ns() // 1_000_000
        world.issuer, world.head_key = Issuer(keys.token.private), keys.head.private
        async with grpc.aio.insecure_channel(str(ready.result().address)) as world.channel:
            yield world
    finally:
        signal.raise_signal(signal.SIGTERM)
        assert Shutdown.DRAINED is await service


async def choose_watched(data: Path) -> Profile:
    """Record one Choose, from the call to the frame of a spectator."""
    async with asyncio.timeout(60), served(data) as world:
        match_id, people = await world.started()
        watch = world.watch(world.person("spectator"), match_id)
        await watch.until("caught_up")
        for _ in range(WARM_UP + 1):
            person, seen = await world.awaited(match_id, people)
            choice, position = some_choice(seen.legal), world.check_head(seen.head)
            profile = Profile()
            with profile.record():
                await person.choose(match_id, choice, position)
                frame = await watch.next()
            assert frame is not None
            assert kind(frame) == "events"
        watch.leave()
    return profile


def walk(document: str, title: str) -> list[str]:
    """The modules that the numbered list below this title names, in the order of their first appearance."""
    (section,) = re.findall(rf"^## {title}\n(.*?)^## ", document, re.DOTALL | re.MULTILINE)
    (steps,) = re.findall(r"^1\. .*?\n(?=\n(?! ))", section, re.DOTALL | re.MULTILINE)
    return distinct([name for name in re.findall(r"`([a-z_]+(?:\.\w+)+)`", steps) if not name.endswith(".lua")])


def misplaced(told: list[str], called: list[str]) -> list[str]:
    """What is wrong with a walk: modules that are not called, and modules that the profile shows earlier."""
    wrong = [f"{module} is not called" for module in told if module not in called]
    there = [module for module in told if module in called]
    for before, module in pairwise(there):
        if called.index(module) < called.index(before):
            wrong.append(f"{module} is called before {before}")
    return wrong


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    """A Choose of a real service with a spectator."""
    return asyncio.run(choose_watched(tmp_path_factory.mktemp("service")))


@pytest.mark.parametrize(("title", "fewest"), [(COMMAND, 20), (FRAME, 8)])
def test_a_walk_names_the_modules_that_are_called_in_their_order(profile: Profile, title: str, fewest: int) -> None:
    """`fewest` shows that the modules of the walk are found in the document."""
    told = walk(DOCUMENT.read_text(encoding="utf-8"), title)
    assert len(told) >= fewest
    assert [] == misplaced(told, profile.command() if title == COMMAND else profile.frame())


def test_a_walk_with_a_foreign_module_or_another_order_is_noticed(profile: Profile) -> None:
    """The same comparison finds a module that is not called, and two that are exchanged."""
    document = DOCUMENT.read_text(encoding="utf-8")
    foreign = document.replace("`server.play.matches` takes", "`server.play.opener` takes")
    assert ["server.play.opener is not called"] == misplaced(walk(foreign, COMMAND), profile.command())
    exchanged = document.replace("`identity.tokens` check", "`server.out.frames` check")
    assert misplaced(walk(exchanged, FRAME), profile.frame())
