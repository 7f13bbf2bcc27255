"""The supervisor's handles on worker processes; a worker that exits is restarted."""

from __future__ import annotations

import asyncio
import json
import pickle
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, NoReturn

import structlog

from rollbook import processes
from rollbook.server.configuration.settings import Settings
from rollbook.server.health.restarts import RestartPauses
from rollbook.server.process.worker_metrics import Tallies

MOST_ANSWER_BYTES: Final = 16 << 20
ANSWER_SECONDS: Final = 2.0
"""A worker that has not sent its metrics by then counts with the previous ones."""

LAST_WORDS_SECONDS: Final = 10.0
"""How long a worker may run after its output has closed."""

FAILED_STARTS: Final = 5
"""This many failed starts in a row end the service; a restart that finds no store is retried without limit."""

LOOK_SECONDS: Final = 1.0
SILENT_LOOKS: Final = 30
"""A worker whose loop made no round between so many checks in a row hangs, and is killed."""

_OF_S3: Final = ("AWS_", *(f"{kind}_PROXY" for kind in ("HTTP", "HTTPS", "ALL", "NO")))
"""Environment variables with which a worker reaches an archive in S3, including credentials; proxies also in lower
case."""

_log = structlog.get_logger()


class WorkerFailed(Exception):
    """A worker cannot be started."""

    def __init__(self, why: str, code: int) -> None:
        """Keep the worker's exit code, negative for a signal."""
        super().__init__(why)
        self.code = code


class Worker:
    """One worker, restarted as long as the service runs."""

    def __init__(
        self,
        settings: Settings,
        words: Sequence[str],
        tallies: Tallies,
        changed: Callable[[], None],
        sit: Callable[[str, str], None],
    ) -> None:
        """Start the worker by the command `words`, with these settings.

        `changed` is called whenever `can_be_called` changes, `sit` with a match and a bot of the house that the worker
        reports.
        """
        self.number = settings.worker
        self.can_be_called = False
        self.head_key_id = ""
        """Id of the key with which the worker signs heads; empty until the worker reports it."""
        self.may_begin = asyncio.Event()
        """Until this is set, the worker process loads its code but receives no settings."""
        self.deaths = 0
        self._settings = settings
        self._words = words
        self._tallies = tallies
        self._changed = changed
        self._sit = sit
        self._child: processes.Child | None = None
        self._ending = asyncio.Event()
        self._misses_store = False
        """Whether the worker reported that the store did not answer at the start."""
        self._asked: asyncio.Future[None] | None = None
        self._rounds, self._silent_looks = 0, 0
        """The worker's last reported count of loop rounds, and the number of checks since."""

    async def keep(self) -> None:
        """Run the worker again and again until `signal` is called; raises WorkerFailed if the worker does not start."""
        loop = asyncio.get_running_loop()
        pauses = RestartPauses(first_seconds=0.1, longest_seconds=5.0, lived_seconds=30.0)
        has_started, failed_starts = False, 0
        while not self._ending.is_set():
            began = loop.time()
            try:
                could_be_called, code = await self._run()
            except OSError as failure:
                _log.exception("a worker cannot be run", worker=self.number, why=str(failure))
                could_be_called, code = False, 1
            if self._ending.is_set():
                return
            has_started = has_started or could_be_called
            if could_be_called:
                failed_starts = 0
            elif not (has_started and self._misses_store):
                failed_starts += 1
            self.deaths += 1
            if not has_started or failed_starts == FAILED_STARTS:
                often = f"{failed_starts} times in a row, the last time " if has_started else ""
                raise WorkerFailed(f"worker {self.number} does not start: it ended {often}{_how(code)}", code)
            pause = pauses.after(loop.time() - began)
            _log.error("a worker has ended, and is started again", worker=self.number, how=_how(code), in_seconds=pause)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._ending.wait()

    def signal(self, number: signal.Signals) -> None:
        """Send the worker a signal, and do not restart it."""
        self._ending.set()
        self.may_begin.set()
        if self._child is not None:
            with suppress(ProcessLookupError):
                self._child.process.send_signal(number)

    def announce(self, *, is_complete: bool) -> None:
        """Report to the worker whether all workers accept calls."""
        if self.can_be_called:
            self._send({"complete": is_complete})

    def look(self) -> None:
        """Check that the worker's loop runs, and kill the worker after SILENT_LOOKS checks without progress."""
        if not self.can_be_called or self._child is None:
            return
        self._silent_looks += 1
        if self._silent_looks > SILENT_LOOKS:
            self._silent_looks = 0
            _log.error("a worker hangs, and is killed", worker=self.number, process=self._child.process.pid)
            with suppress(ProcessLookupError):
                self._child.process.kill()
        self._send({"ask": "rounds"})

    async def count(self) -> None:
        """Request the worker's metrics and wait at most ANSWER_SECONDS for them."""
        if not self.can_be_called:
            return
        if self._asked is None:
            self._asked = asyncio.get_running_loop().create_future()
            self._send({"ask": "numbers"})
        await asyncio.wait({self._asked}, timeout=ANSWER_SECONDS)

    def _send(self, message: dict[str, Any]) -> None:
        if self._child is not None and not self._child.stdin.is_closing():
            self._child.stdin.write(processes.frame(json.dumps(message).encode()))

    async def _run(self) -> tuple[bool, int]:
        """Run the worker once; returns whether it accepted calls, and its exit code."""
        could_be_called = self._misses_store = False
        try:
            prefixes = (*_OF_S3, *map(str.lower, _OF_S3)) if self._settings.archive_place.startswith("s3://") else ()
            async with processes.running(self._words, env=processes.environment(*prefixes)) as child:
                self._child = child
                _log.debug("a worker begins", worker=self.number, process=child.process.pid)
                if self._ending.is_set():
                    self.signal(signal.SIGTERM)
                await self.may_begin.wait()
                child.stdin.write(processes.frame(pickle.dumps(self._settings)))
                with suppress(processes.CutOff):
                    while True:
                        self._receive(json.loads(await processes.receive_frame(child.stdout, MOST_ANSWER_BYTES)))
                        could_be_called = could_be_called or self.can_be_called
                with suppress(TimeoutError):
                    async with asyncio.timeout(LAST_WORDS_SECONDS):
                        return could_be_called, await child.wait()
                child.process.kill()
                return could_be_called, await child.wait()
        finally:
            self._child = None
            if self._asked is not None:
                self._asked.cancel()
                self._asked = None
            self._tallies.add_ended(str(self.number))
            if self.can_be_called:
                self.can_be_called = False
                self._changed()

    def _receive(self, said: dict[str, Any]) -> None:
        if "key" in said:
            self.can_be_called, self.head_key_id = True, said["key"]
            self._rounds, self._silent_looks = 0, 0
            _log.info("a worker can be called", worker=self.number, process=self._process_id)
            self._changed()
        self._misses_store = self._misses_store or "store" in said
        if said.get("rounds", self._rounds) != self._rounds:
            self._rounds, self._silent_looks = said["rounds"], 0
        if "sit" in said:
            self._sit(*said["sit"])
        if "numbers" in said:
            self._tallies.update(str(self.number), said["numbers"])
            if self._asked is not None:
                self._asked.set_result(None)
                self._asked = None

    @property
    def _process_id(self) -> int | None:
        return None if self._child is None else self._child.process.pid


class Staff:
    """All workers of the service."""

    def __init__(
        self, settings: Settings, words: Sequence[str], tallies: Tallies, sit: Callable[[str, str], None]
    ) -> None:
        """Prepare `settings.workers` workers, started by the command `words`; `sit` is called as by `Worker`."""
        self._changes = asyncio.Event()
        self.workers = [
            Worker(replace(settings, worker=number), words, tallies, self._have_changed, sit)
            for number in range(1, settings.workers + 1)
        ]
        self._kept: set[asyncio.Task[None]] = set()

    async def start(self) -> str:
        """Start the workers, and return the head key's id when all accept calls; raises WorkerFailed.

        The first worker starts before the others, so that an error of the configuration is reported once. Meanwhile the
        others load their code.
        """
        first, *others = self.workers
        self._kept = {asyncio.create_task(worker.keep()) for worker in self.workers}
        for workers in ([first], others):
            for worker in workers:
                worker.may_begin.set()
            while not all(worker.can_be_called for worker in workers):
                await self._change()
        return first.head_key_id

    async def wait_failed(self) -> None:
        """Wait until a worker fails for good, and raise its WorkerFailed."""
        done, _ = await asyncio.wait(self._kept, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()

    async def watch(self) -> NoReturn:
        """Check all workers every LOOK_SECONDS."""
        while True:
            for worker in self.workers:
                worker.look()
            await asyncio.sleep(LOOK_SECONDS)

    async def wait_ended(self) -> None:
        """Wait until all workers have ended."""
        if self._kept:
            await asyncio.wait(self._kept)

    def signal(self, number: signal.Signals) -> None:
        """Send all workers a signal, and do not restart them."""
        for worker in self.workers:
            worker.signal(number)

    async def count(self) -> None:
        """Request the metrics of all workers."""
        await asyncio.gather(*(worker.count() for worker in self.workers))

    @property
    def size(self) -> int:
        """The number of workers that accept calls."""
        return sum(worker.can_be_called for worker in self.workers)

    @property
    def deaths(self) -> int:
        """How often workers have ended without being asked to."""
        return sum(worker.deaths for worker in self.workers)

    async def _change(self) -> None:
        """Wait until a worker's state changes; raises WorkerFailed if a worker fails for good."""
        self._changes.clear()
        waiting = asyncio.create_task(self._changes.wait())
        try:
            done, _ = await asyncio.wait({waiting, *self._kept}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        for task in done - {waiting}:
            task.result()

    def _have_changed(self) -> None:
        self._changes.set()
        is_complete = self.size == len(self.workers)
        for worker in self.workers:
            worker.announce(is_complete=is_complete)


def _how(code: int) -> str:
    return f"with exit code {code}" if code >= 0 else f"by {signal.Signals(-code).name}"
