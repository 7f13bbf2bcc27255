"""One worker of a service, and the pipes to its supervisor.

The first input frame has the pickled settings, from the process that started the worker. All other frames are JSON
objects:

    in   {"complete": true}                     whether all workers accept calls
         {"ask": "numbers"}                     request for the metrics
         {"ask": "rounds"}                      request for the count of rounds of the event loop
    out  {"key": id}                            the worker accepts calls; id of the key that signs heads
         {"numbers": [...]}                     metrics for `worker_metrics`
         {"rounds": count}                      rounds of the event loop
         {"sit": [match, bot]}                  a bot of the house has been seated
         {"store": "away"}                      the worker exits because the store did not answer at the start

A separate thread reads the pipe, so that the supervisor's requests and the service's calls do not wait for each other.
When standard input closes, the supervisor has exited, and the worker kills itself.
"""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import signal
import sys
import threading
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

from rollbook import processes
from rollbook.server.access.house_bots import HouseBot
from rollbook.server.configuration.settings import Settings
from rollbook.server.health.metrics import Metrics
from rollbook.server.process.lifecycle import Assemble, Surroundings, serve
from rollbook.server.process.ports import Listening
from rollbook.server.process.signals import Shutdown
from rollbook.server.process.worker_metrics import samples_of
from rollbook.storage.port import StoreUnavailable

WORKERS: Final = "rollbook.workers"
"""Name of the health check that reports whether all workers accept calls."""

ROUND_SECONDS: Final = 0.5

MOST_SETTINGS_BYTES: Final = 16 << 20
MOST_WORDS_BYTES: Final = 4 << 10


@dataclass(frozen=True, slots=True)
class Supervised:
    """A worker with the settings that its supervisor sent."""

    settings: Settings
    supervisor: Supervisor

    async def serve(self, assemble: Assemble) -> Shutdown:
        """Serve until a signal ends the worker."""
        supervisor = self.supervisor
        apart = {WORKERS: lambda: supervisor.is_staff_complete}
        around = Surroundings(supervisor.metrics, apart, supervisor.invite)
        going_round = asyncio.create_task(supervisor.go_round())
        try:
            return await serve(self.settings, assemble, supervisor.listening, around)
        except StoreUnavailable:
            supervisor.miss_store()
            raise
        finally:
            going_round.cancel()


class Supervisor:
    """The worker's connection to its supervisor."""

    def __init__(self, words: BinaryIO, answers: BinaryIO, worker: int) -> None:
        """Read messages from `words` and write answers to `answers`."""
        self.metrics = Metrics()
        self.is_staff_complete = False
        self._rounds = 0
        self._words = words
        self._answers = answers
        self._worker = str(worker)
        self._one_at_a_time = threading.Lock()

    def listening(self, listening: Listening) -> None:
        """Report that the worker accepts calls."""
        self._send({"key": listening.head_key_id})

    def invite(self, match_id: str, bot: HouseBot) -> None:
        """Ask the supervisor to have this bot play in this match."""
        self._send({"sit": [match_id, bot.sub]})

    def miss_store(self) -> None:
        """Report that the store was unavailable at the start."""
        self._send({"store": "away"})

    async def go_round(self) -> None:
        """Count rounds of the event loop, which stops when the loop is blocked."""
        while True:
            self._rounds += 1
            await asyncio.sleep(ROUND_SECONDS)

    def listen(self) -> None:
        """Answer the supervisor's messages until the pipe closes, then kill this process."""
        try:
            while True:
                said = json.loads(processes.read_frame(self._words, MOST_WORDS_BYTES))
                if "complete" in said:
                    self.is_staff_complete = said["complete"]
                match said.get("ask"):
                    case "numbers":
                        self._send({"numbers": samples_of(self.metrics.registry, self._worker)})
                    case "rounds":
                        self._send({"rounds": self._rounds})
        except (processes.CutOff, OSError):
            os.kill(os.getpid(), signal.SIGKILL)

    def _send(self, answer: dict[str, Any]) -> None:
        with self._one_at_a_time:
            self._answers.write(processes.frame(json.dumps(answer).encode()))
            self._answers.flush()


def receive_settings() -> Supervised:
    """Receive the worker's settings on standard input and start to listen; raises processes.CutOff if it closes."""
    processes.end_with_parent()
    # A thread blocked on sys.stdin would keep the interpreter from exiting.
    words = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Prints go to standard error, so that they do not corrupt the frames.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    settings = pickle.loads(processes.read_frame(words, MOST_SETTINGS_BYTES))  # noqa: S301 - from the supervisor
    supervisor = Supervisor(words, answers, settings.worker)
    threading.Thread(target=supervisor.listen, name="supervisor", daemon=True).start()
    return Supervised(settings, supervisor)
