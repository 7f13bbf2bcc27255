"""One worker of a service, and its supervisor at the other end of its pipes.

A frame comes in first: the settings that the worker goes by, from the very process that started it. What comes behind
it, and everything that goes out, are frames with a JSON object each:

    in   {"complete": true}                     whether all workers can be called
         {"ask": "numbers"}                     for the metrics
         {"ask": "rounds"}                      whether its loop goes round
    out  {"key": id}                            once it can be called, which it signs heads with
         {"numbers": [...]}                     what `worker_metrics` sums up
         {"rounds": count}                      how often its loop went round
         {"sit": [match, bot]}                  where a bot of the house sits
         {"store": "away"}                      before it ends because the store did not answer when it began

A thread of its own listens, so that nothing here waits for calls, or keeps them waiting. When standard input ends, the
supervisor is gone, and so is the worker.
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
"""By this name health tells whether all workers can be called."""

ROUND_SECONDS: Final = 0.5

MOST_SETTINGS_BYTES: Final = 16 << 20
MOST_WORDS_BYTES: Final = 4 << 10


@dataclass(frozen=True, slots=True)
class Supervised:
    """A worker that knows what it is to do."""

    settings: Settings
    supervisor: Supervisor

    async def serve(self, assemble: Assemble) -> Shutdown:
        """Serve until a signal ends it."""
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
    """The supervisor, as its worker has it."""

    def __init__(self, words: BinaryIO, answers: BinaryIO, worker: int) -> None:
        """Hear it on one pipe, and answer on the other."""
        self.metrics = Metrics()
        self.is_staff_complete = False
        self._rounds = 0
        self._words = words
        self._answers = answers
        self._worker = str(worker)
        self._one_at_a_time = threading.Lock()

    def listening(self, listening: Listening) -> None:
        """Say that the worker can be called."""
        self._send({"key": listening.head_key_id})

    def invite(self, match_id: str, bot: HouseBot) -> None:
        """Have the house told where one of its bots sits."""
        self._send({"sit": [match_id, bot.sub]})

    def miss_store(self) -> None:
        """Say that there is no store to serve from."""
        self._send({"store": "away"})

    async def go_round(self) -> None:
        """Count rounds of the loop, as long as it goes round."""
        while True:
            self._rounds += 1
            await asyncio.sleep(ROUND_SECONDS)

    def listen(self) -> None:
        """Do what it asks, until it is gone, and the worker with it."""
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


def supervised() -> Supervised:
    """What the supervisor on the other end of standard input and output wants; processes.CutOff if it is gone."""
    processes.end_with_parent()
    # A thread that waits for standard input itself would keep the interpreter from ending.
    words = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever prints does not disturb them.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    settings = pickle.loads(processes.read_frame(words, MOST_SETTINGS_BYTES))  # noqa: S301 - from who started us
    supervisor = Supervisor(words, answers, settings.worker)
    threading.Thread(target=supervisor.listen, name="supervisor", daemon=True).start()
    return Supervised(settings, supervisor)
