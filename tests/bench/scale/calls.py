"""The time of a call beside more and more open matches, and of a choice in a longer and longer match."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from statistics import median
from typing import Any, Final

from rollbook.match.chain import entropy_commitment
from rollbook.v1.table_pb2 import Position
from tests.bench import results
from tests.bench.peers.service import serving
from tests.bench.peers.tables import ENTROPY, SEATS, Tables
from tests.bench.scale.site import filled, played_on, settled
from tests.bench.scale.size import Size

MUST: Final = 1.3
CALLS: Final = ("PlayNow", "OpenMatch", "TakeSeat", "Ready", "GetMatch", "Choose", "ListMatches")


class Timed:
    """Makes calls and records their times."""

    def __init__(self, tables: Tables) -> None:
        """`tables`: the service to call."""
        self._tables = tables
        self._players = [tables.guest() for _ in range(SEATS)]
        self.seconds: dict[str, list[float]] = defaultdict(list)

    def call(self, method: str, token: str, **fields: Any) -> Any:
        """Make a call and record its time."""
        began = time.perf_counter()
        answer = self._tables.call(method, token, **fields)
        self.seconds[method].append(time.perf_counter() - began)
        return answer

    def whole_match(self) -> None:
        """Make each kind of call at least once, in a new match."""
        players = self._players
        opened = self.call("OpenMatch", players[0], seats=SEATS, options={"cant_stop": {}})
        match_id = opened.match_id
        for token in players:
            taken = self.call("TakeSeat", token, match_id=match_id, entropy_commitment=entropy_commitment(ENTROPY))
        closing = taken.made.head.link
        for token in players:
            self.call("Ready", token, match_id=match_id, closing_link=closing, entropy=ENTROPY)
        self.choose(match_id)
        self.call("ListMatches", players[0])
        self.play_now()

    def play_now(self) -> None:
        """A table that is found by both players; both leave it."""
        for token in self._players:
            found = self.call("PlayNow", token, game="raffzahn")
            self._tables.call("TakeSeat", token, match_id=found.match_id)
        for token in self._players:
            self._tables.call("LeaveSeat", token, match_id=found.match_id)

    def begun(self) -> str:
        """Start a match; returns its id."""
        return str(self._tables.started(self._players)["match_id"])

    def choose(self, match_id: str) -> None:
        """Read a match, and choose for the awaited seat."""
        players = self._players
        looked = self.call("GetMatch", players[0], match_id=match_id)
        token = players[looked.summary.awaited_seat]
        legal = looked.legal
        if not legal.ByteSize():
            legal = self.call("GetMatch", token, match_id=match_id).legal
        position = Position(sequence=looked.head.sequence, link=looked.head.link)
        choice = {"cant_stop": legal.cant_stop.choices[0]}
        self.call("Choose", token, match_id=match_id, position=position, choice=choice)

    def milliseconds(self, method: str) -> float:
        """Return the median time of a method."""
        return 1_000 * median(self.seconds[method])


def beside_open_matches(size: Size, said: Callable[[str], None]) -> list[str]:
    """Return the median times of all calls by number of open matches: one service for each, called in turn."""
    with ExitStack() as stack:
        found = {number: stack.enter_context(_beside(number)) for number in size.open_matches}
        said("all matches are open")
        for timed in found.values():
            timed.whole_match()
            timed.seconds.clear()
        for _ in range(size.calls):
            for timed in found.values():
                timed.whole_match()
    for number, timed in found.items():
        times = ", ".join(f"{call} {timed.milliseconds(call):.1f} ms" for call in CALLS)
        said(f"{number:,} open matches: {times}")
    rows = [_row(call, [timed.milliseconds(call) for timed in found.values()]) for call in CALLS]
    heads = ("p50 in ms beside open matches", *(f"{number:,}" for number in found), "most over least", "")
    return results.table(heads, rows)


@contextmanager
def _beside(number: int) -> Iterator[Timed]:
    """Run a service with this many open matches; yields its caller."""
    with serving() as service, service.channel() as channel:
        filled(service, number, running=False)
        settled(service)
        yield Timed(Tables(channel))


def in_a_long_match(size: Size, said: Callable[[str], None]) -> list[str]:
    """Return the median time of a choice by the number of events of the match."""
    found: dict[int, float] = {}
    with serving() as service, service.channel() as channel:
        timed = Timed(Tables(channel))
        match_id = timed.begun()
        for events in size.events:
            played_on(service, match_id, events)
            timed.choose(match_id)
            timed.seconds.clear()
            for _ in range(size.calls):
                timed.choose(match_id)
            found[events] = timed.milliseconds("Choose")
            said(f"Choose at event {events:,}: {found[events]:.1f} ms")
    heads = ("p50 in ms at event", *(f"{events:,}" for events in found), "most over least", "")
    return results.table(heads, [_row("Choose", list(found.values()))])


def _row(name: str, values: list[float]) -> list[str]:
    ratio = max(values) / min(values)
    return [name, *(f"{value:.1f}" for value in values), f"{ratio:.2f}", _judged(ratio)]


def _judged(ratio: float) -> str:
    return f"<= {MUST:g} {'reached' if ratio <= MUST else 'MISSED'}"
