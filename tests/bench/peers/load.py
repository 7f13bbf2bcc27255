"""The load, in its own process: matches that are played, and all their watchers.

Each match has two choosing seats, each with its own stream, and four feeds, of both players and two spectators, whose
every frame is read. The next choice is sent once one is answered, or at its time if a rate is given. The process reads
its orders as a JSON object on standard input, and prints a line each: `begin` and `end` of the measurement, and its
results.
"""

from __future__ import annotations

import heapq
import json
import math
import select
import sys
import time
from array import array
from functools import partial
from typing import Any, Final, Protocol

from tests.bench.peers.http2 import Connection
from tests.bench.peers.talk import TALKS

SEATS: Final = 2
PATIENCE_SECONDS: Final = 60.0
LONGEST_WAIT_SECONDS: Final = 0.05


class Talk(Protocol):
    """The messages of one system about one match."""

    play_path: str
    watch_path: str
    watch: bytes
    """The request of a feed."""

    def choice(self) -> tuple[int, bytes] | None:
        """Return the seat that chooses next with its request, or None while a player waits for a frame."""

    def answered(self, answer: bytes) -> int:
        """Handle an answer; returns the number of the last event that the choice made."""

    def told(self, feed: int, frame: bytes) -> int:
        """Handle a frame; returns the number of the last event that this feed has."""


class Table:
    """A match in progress: one choice at a time, and the position of every feed."""

    def __init__(self, load: Load, number: int, talk: Talk, tokens: list[str]) -> None:
        self._load = load
        self._talk = talk
        self._answered_to = 0
        self._due = 0.0
        self._is_due = False
        self._moves: list[tuple[int, float]] = []
        """For every answered choice its last event, and the time at which it was due."""
        self._left = array("B")
        """For every choice the number of feeds that do not have it yet."""
        self._reached = [0] * len(tokens)
        self._next = [0] * len(tokens)
        self.silent = set(range(len(tokens)))
        """The feeds without a frame so far."""
        self._seats = []
        for role, token in enumerate(tokens):
            connection = load.connection(number, role)
            if role < SEATS:
                self._seats.append((connection, connection.open(talk.play_path, token, self._hear_answer)))
            watching = connection.open(talk.watch_path, token, partial(self._hear_frame, role))
            connection.send(watching, talk.watch, last=True)

    def due(self, when: float) -> None:
        """Send the next choice as soon as possible; `when` is the time at which it was due."""
        self._due, self._is_due = when, True
        self._send()

    def _send(self) -> None:
        choice = self._talk.choice()
        if choice is None:
            return
        self._is_due = False
        connection, stream = self._seats[choice[0]]
        connection.send(stream, choice[1])

    def _hear_answer(self, answer: bytes) -> None:
        load = self._load
        last = self._talk.answered(answer)
        load.answers.append(load.now - self._due)
        self._moves.append((last, self._due))
        self._left.append(len(self._reached))
        for feed in range(len(self._reached)):
            self._mark(feed)
        load.done(self, self._due)

    def _hear_frame(self, feed: int, frame: bytes) -> None:
        self.silent.discard(feed)
        self._reached[feed] = self._talk.told(feed, frame)
        self._mark(feed)
        if self._is_due:
            self._send()

    def _mark(self, feed: int) -> None:
        """Mark the choices that this feed has by now."""
        reached, moves, at = self._reached[feed], self._moves, self._next[feed]
        while at < len(moves) and moves[at][0] <= reached:
            self._left[at] -= 1
            self._load.frames += 1
            if not self._left[at]:
                self._load.deliveries.append(self._load.now - moves[at][1])
            at += 1
        self._next[feed] = at

    @property
    def is_told(self) -> bool:
        """Whether every feed has every answered choice, and no choice is under way."""
        return not self._is_due and not any(self._left)


class Load:
    """All matches and their results."""

    def __init__(self, what: dict[str, Any]) -> None:
        """Connect, and begin all streams."""
        self._host, _, port = what["address"].rpartition(":")
        self._port = int(port)
        self._layout = what["connections"]
        self._connections: dict[int, Connection] = {}
        self._poll = select.epoll()
        self._by_file: dict[int, Connection] = {}
        self._queue: list[tuple[float, int, Table]] = []
        self._stopped = False
        self._under_way = 0
        self._rate = what["rate"] / len(what["matches"])
        self.now = time.monotonic()
        self.frames = 0
        self.answers = array("d")
        self.deliveries = array("d")
        self._talks = [TALKS[what["talk"]](number, match) for number, match in enumerate(what["matches"])]
        self._tables = [
            Table(self, number, talk, match["tokens"])
            for number, (talk, match) in enumerate(zip(self._talks, what["matches"], strict=True))
        ]

    def connection(self, match: int, role: int) -> Connection:
        """Return the connection of a participant: its own, that of its match, or one of several shared ones."""
        place = match * 4 + role
        number = {"participant": place, "match": match}.get(self._layout)
        number = place % int(self._layout) if number is None else number
        if number not in self._connections:
            made = self._connections[number] = Connection(self._host, self._port)
            self._by_file[made.fileno()] = made
            self._poll.register(made.fileno(), select.EPOLLIN)
        return self._connections[number]

    def done(self, table: Table, due: float) -> None:
        """Handle an answered choice; the match continues at once, or when the next choice is due."""
        if self._stopped:
            self._under_way -= 1
        elif self._rate:
            heapq.heappush(self._queue, (due + 1 / self._rate, id(table), table))
        else:
            table.due(self.now)

    def until(self, moment: float) -> None:
        """Play until this time."""
        while self.now < moment:
            wait = min(moment - self.now, LONGEST_WAIT_SECONDS)
            if self._queue:
                wait = max(0.0, min(wait, self._queue[0][0] - self.now))
            self._turn(wait)
            while self._queue and self._queue[0][0] <= self.now and not self._stopped:
                due, _, table = heapq.heappop(self._queue)
                table.due(due)

    def _turn(self, wait: float, deadline: float = math.inf) -> None:
        for file, _ in self._poll.poll(wait):
            self.now = time.monotonic()
            self._by_file[file].receive()
        self.now = time.monotonic()
        if self.now > deadline:
            raise TimeoutError("not everybody is told what they wait for")

    def begin(self) -> None:
        """After all feeds have begun, make every match's first choice: at once, or spread over the given rate."""
        deadline = self.now + PATIENCE_SECONDS
        while any(table.silent for table in self._tables):
            self._turn(LONGEST_WAIT_SECONDS, deadline)
        for number, table in enumerate(self._tables):
            if self._rate:
                due = self.now + number / len(self._tables) / self._rate
                heapq.heappush(self._queue, (due, id(table), table))
            else:
                table.due(self.now)

    def stop(self) -> None:
        """Make no more choices, and wait until all feeds have all of them."""
        self._under_way = len(self._tables) - len(self._queue)
        self._stopped = True
        deadline = self.now + PATIENCE_SECONDS
        while self._under_way or not all(table.is_told for table in self._tables):
            self._turn(LONGEST_WAIT_SECONDS, deadline)
        for connection in self._connections.values():
            connection.close()


def main() -> None:
    """Warm up, measure, and print the results."""
    what = json.loads(sys.stdin.readline())
    load = Load(what)
    load.begin()
    load.until(load.now + what["warm_up_seconds"])
    load.answers, load.deliveries, load.frames = array("d"), array("d"), 0
    began = load.now
    print(json.dumps("begin"), flush=True)
    load.until(began + what["seconds"])
    while not (load.answers and load.deliveries):
        load.until(load.now + LONGEST_WAIT_SECONDS)
    seconds = load.now - began
    print(json.dumps("end"), flush=True)
    moves, frames = len(load.answers), load.frames
    load.stop()
    found = {"moves": moves, "frames": frames, "seconds": seconds}
    print(json.dumps({**found, "answer_ms": _times(load.answers), "told_ms": _times(load.deliveries)}), flush=True)


def _times(seconds: array[float]) -> dict[str, float]:
    """Return median and 99th percentile, in milliseconds."""
    ordered = sorted(seconds)
    return {name: 1_000 * ordered[int(len(ordered) * part)] for name, part in (("p50", 0.5), ("p99", 0.99))}


if __name__ == "__main__":
    main()
