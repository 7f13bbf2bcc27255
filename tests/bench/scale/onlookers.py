"""Holds streams open and reads them, in its own process.

It reads its orders as a JSON object, prints how many streams began and why others did not, and reads until its standard
input ends.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from rollbook.v1.feed_pb2 import WatchMatchRequest
from tests.bench.peers.http2 import Connection, StreamEnded

WATCH: Final = "/rollbook.v1.FeedService/WatchMatch"
PLAY: Final = "/rollbook.v1.MatchService/Play"
LONGEST_SECONDS: Final = 120.0
OPENED_AT_ONCE: Final = 100


@contextmanager
def watching(address: str, token: str, match_ids: Sequence[str], *, connections: int = 4) -> Iterator[dict[str, Any]]:
    """Open a feed of each match over several connections; yields the result."""
    requests = [WatchMatchRequest(match_id=match_id).SerializeToString().hex() for match_id in match_ids]
    what = {"path": WATCH, "requests": requests, "answers": True}
    with _held({**what, "address": address, "token": token, "connections": connections}) as found:
        yield found


@contextmanager
def playing(address: str, token: str, number: int, *, connections: int = 4) -> Iterator[dict[str, Any]]:
    """Open streams of Play without requests; yields the result."""
    what = {"path": PLAY, "requests": [""] * number, "answers": False}
    with _held({**what, "address": address, "token": token, "connections": connections}) as found:
        yield found


@contextmanager
def _held(what: dict[str, Any]) -> Iterator[dict[str, Any]]:
    words = (sys.executable, "-m", "tests.bench.scale.onlookers")
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(what) + "\n")
            process.stdin.flush()
            found = process.stdout.readline()
            assert found, "the onlookers have gone"
            yield json.loads(found)
        finally:
            process.kill()


class Onlookers:
    """All streams."""

    def __init__(self, what: dict[str, Any]) -> None:
        """Connect."""
        host, _, port = what["address"].rpartition(":")
        self._what = what
        self._connections = [Connection(host, int(port)) for _ in range(what["connections"])]
        self._poll = select.epoll()
        self._by_file = {connection.fileno(): connection for connection in self._connections}
        for file in self._by_file:
            self._poll.register(file, select.EPOLLIN)
        self._begun: set[int] = set()
        self._ended: Counter[str] = Counter()

    def open(self) -> dict[str, Any]:
        """Open all streams, a few at a time; returns the result."""
        began, requests = time.monotonic(), self._what["requests"]
        for number, request in enumerate(requests):
            connection = self._connections[number % len(self._connections)]
            stream = connection.open(
                self._what["path"],
                self._what["token"],
                lambda _, number=number: self._begun.add(number),  # type: ignore[misc]
                lambda why: self._ended.update([why]),
            )
            if request:
                connection.send(stream, bytes.fromhex(request), last=True)
            if number % OPENED_AT_ONCE == OPENED_AT_ONCE - 1:
                self.read(0.0)
        broken = ""
        try:
            while self._waits(len(requests)) and time.monotonic() - began < LONGEST_SECONDS:
                self.read(0.1)
        except StreamEnded as why:
            broken = str(why)
        return {
            "asked": len(requests),
            "begun": len(self._begun),
            "ended": dict(self._ended.most_common(3)),
            "broken": broken,
            "seconds": time.monotonic() - began,
        }

    def _waits(self, number: int) -> bool:
        return bool(self._what["answers"]) and len(self._begun) + self._ended.total() < number

    def read(self, seconds: float) -> None:
        """Read the available frames."""
        for file, _ in self._poll.poll(seconds):
            self._by_file[file].receive()


def main() -> None:
    """Open the streams, print the result, and keep reading."""
    onlookers = Onlookers(json.loads(sys.stdin.readline()))
    found = onlookers.open()
    print(json.dumps(found), flush=True)
    while not found["broken"]:
        onlookers.read(1.0)


if __name__ == "__main__":
    main()
