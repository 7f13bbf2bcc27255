"""The load, in a process of its own: matches that are played, and everybody who follows them.

Each match has two seats that choose, each over a stream of its own, and four feeds, of both players and two spectators,
whose every frame is read. As soon as a choice is answered the next one is sent, or when it is due where a rate is
offered. The process reads what to do as one JSON object on standard input, and writes a line each: `begin` and `end` of
what is measured, and what it found in between.
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
    """How one system is spoken to about one match."""

    play_path: str
    watch_path: str
    watch: bytes
    """The request of a feed."""

    def choice(self) -> tuple[int, bytes] | None:
        """Who chooses next, and the request; none: a player has yet to hear what the other did."""

    def answered(self, answer: bytes) -> int:
        """Take an answer; the number of the last event that the choice made."""

    def told(self, feed: int, frame: bytes) -> int:
        """Take a frame; the number of the last event that this feed was told."""


class Table:
    """One match under way: one choice at a time, and how far every feed is."""

    def __init__(self, load: Load, number: int, talk: Talk, tokens: list[str]) -> None:
        self._load = load
        self._talk = talk
        self._answered_to = 0
        self._due = 0.0
        self._is_due = False
        self._moves: list[tuple[int, float]] = []
        """Of every choice that is answered its last event, and when it was due."""
        self._left = array("B")
        """How many feeds have yet to hear of each."""
        self._reached = [0] * len(tokens)
        self._next = [0] * len(tokens)
        self.silent = set(range(len(tokens)))
        """The feeds that have not begun."""
        self._seats = []
        for role, token in enumerate(tokens):
            connection = load.connection(number, role)
            if role < SEATS:
                self._seats.append((connection, connection.open(talk.play_path, token, self._hear_answer)))
            watching = connection.open(talk.watch_path, token, partial(self._hear_frame, role))
            connection.send(watching, talk.watch, last=True)

    def due(self, when: float) -> None:
        """Send the next choice as soon as it can be sent; it was to be sent at this time."""
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
        """Note which choices this feed has been told by now."""
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
        """Whether every feed has heard of every choice that was answered, and none is under way."""
        return not self._is_due and not any(self._left)


class Load:
    """All matches, and what they came to."""

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
        """That of one participant: their own, one of their match, or one of so many."""
        place = match * 4 + role
        number = {"participant": place, "match": match}.get(self._layout)
        number = place % int(self._layout) if number is None else number
        if number not in self._connections:
            made = self._connections[number] = Connection(self._host, self._port)
            self._by_file[made.fileno()] = made
            self._poll.register(made.fileno(), select.EPOLLIN)
        return self._connections[number]

    def done(self, table: Table, due: float) -> None:
        """A choice is answered; its match goes on at once, or when the next one is due."""
        if self._stopped:
            self._under_way -= 1
        elif self._rate:
            heapq.heappush(self._queue, (due + 1 / self._rate, id(table), table))
        else:
            table.due(self.now)

    def until(self, moment: float) -> None:
        """Play until then."""
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
        """Once all feeds have begun, every match makes its first choice: all at once, or spread as they are offered."""
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
        """Choose no more, and wait until everybody has heard of everything."""
        self._under_way = len(self._tables) - len(self._queue)
        self._stopped = True
        deadline = self.now + PATIENCE_SECONDS
        while self._under_way or not all(table.is_told for table in self._tables):
            self._turn(LONGEST_WAIT_SECONDS, deadline)
        for connection in self._connections.values():
            connection.close()


def main() -> None:
    """Warm up, measure, and say what was found."""
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
    """Median and the highest of a hundred, in milliseconds."""
    ordered = sorted(seconds)
    return {name: 1_000 * ordered[int(len(ordered) * part)] for name, part in (("p50", 0.5), ("p99", 0.99))}


if __name__ == "__main__":
    main()
