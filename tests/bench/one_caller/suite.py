"""`python -m tests.bench one_caller`: the effect of one caller within the limits on other players' latency.

Twenty players in their own process choose at half the rate that one worker manages, at a service with two workers and
its default limits. Runs without a caller alternate with runs beside one caller that repeats one call as often as its
limits allow; the ratio is the latency of the players' choices with it over that without it. The other part measures the
cost of calls, beside the points that they use. All of it takes about three minutes.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

from rollbook.server.access import limits
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.lobby.match_listing import LONGEST_PAGE
from tests.bench import results
from tests.bench.one_caller.costs import costs_of_calls
from tests.bench.one_caller.size import FULL, TINY, Size
from tests.bench.peers.rounds import Round, played
from tests.bench.peers.service import LOAD, SERVE, parts, serving
from tests.bench.peers.tables import SEATS, Tables
from tests.bench.scale.site import filled, played_on
from tests.server.serving import Service, started

MOST: Final = 2.0
"""Upper limit of the ratio, for the second slowest of a hundred choices."""

WORKERS: Final = 2
FEW: Final = 3
"""Rounds that find out how much one worker manages."""

SHARE: Final = 0.95
"""The part of its limits that the caller uses: connections are not spread evenly over workers."""

ATTACKS: Final[Mapping[str, tuple[str, int]]] = {
    "8 parallel ListMatches, pages of 200": ("ListMatches", 8),
    "8 parallel WatchLobby, opened and cancelled": ("WatchLobby", 8),
    "4 parallel GetReplay of a long running match": ("GetReplay", 4),
    "8 parallel WatchMatch of it, opened and cancelled": ("WatchMatch", 8),
    "8 parallel GetMatch of it": ("GetMatch", 8),
}
"""The call, and the number of concurrent ones."""


def points_of(call: str, size: Size) -> float:
    """Return the points of a call."""
    events = size.events / limits.EVENTS_A_POINT + size.events / limits.SENT_EVENTS_A_POINT
    return {
        "ListMatches": 1 + LONGEST_PAGE / limits.ROWS_A_POINT,
        "WatchLobby": limits.LOBBY_POINTS + size.listed / limits.LOBBY_ROWS_A_POINT,
        "GetReplay": limits.STREAM_POINTS + events,
        "WatchMatch": limits.STREAM_POINTS + events,
        "GetMatch": 1,
    }[call]


ENVIRONMENT: Final = {
    f"ROLLBOOK_LIMITS_{name}": "10000000" for name in ("GUESTS_PER_ADDRESS_PER_HOUR", "GUESTS_PER_HOUR")
}
"""All other limits have their defaults."""


@contextmanager
def limited(*flags: str) -> Iterator[Service]:
    """A service with its default limits, except for the number of guests."""
    with tempfile.TemporaryDirectory() as folder:
        words = ("serve", "--data", str(Path(folder) / "data"), "--listen", "127.0.0.1:0", "--log-level", "warning")
        with started([*SERVE, *words, *flags], ENVIRONMENT) as service:
            assert service.address
            yield service


@dataclass(frozen=True, slots=True)
class Pair:
    """The rounds without and with a caller, and the caller's results."""

    without: Round
    beside: Round
    counted: Mapping[str, int]

    def ratio(self, part: str) -> float:
        """The ratio of the answer times."""
        return self.beside.answer_ms[part] / self.without.answer_ms[part]


@dataclass(frozen=True, slots=True)
class Beside:
    """All rounds of one attack."""

    pairs: list[Pair] = field(default_factory=list)

    def row(self, name: str) -> list[str]:
        """Return the medians of the rounds."""
        ratio = median(pair.ratio("p99") for pair in self.pairs)
        without, beside = (
            [median(getattr(pair, which).answer_ms[part] for pair in self.pairs) for part in ("p50", "p99")]
            for which in ("without", "beside")
        )
        calls = median(pair.counted.get("answered", 0) / pair.beside.seconds for pair in self.pairs)
        return [
            name,
            f"{calls:,.0f}",
            *(f"{value:.1f}" for value in (*without, *beside)),
            f"{median(pair.ratio('p50') for pair in self.pairs):.2f}",
            f"{ratio:.2f}, <= {MOST:g} {'reached' if ratio <= MOST else 'MISSED'}",
        ]


HEADS: Final = ("one caller, as often as it may", "calls/s", "without p50 ms", "p99", "with p50 ms", "p99")


def honest(service: Service, size: Size, rate: float) -> Round:
    """Play new matches of twenty new players at this rate; 0 means as fast as possible."""
    with service.channel() as channel:
        matches = Tables(channel).played(size.players.matches)
    for match in matches:
        match["tokens"] = match["tokens"][:SEATS]
    what = {"talk": "rollbook", "address": service.address, "matches": matches, **size.players.timing, "rate": rate}
    return played(LOAD, what, parts(service))


@contextmanager
def attacked(service: Service, call: str, at_once: int, rate: float, match_id: str) -> Iterator[dict[str, int]]:
    """Run one caller, which begins before the context; its numbers of calls are known after the context."""
    with service.channel() as channel:
        token = Tables(channel).guest()
    asked: dict[str, Any] = {"address": service.address, "token": token, "call": call, "match_id": match_id}
    asked |= {"at_once": at_once, "rate": rate}
    words = (sys.executable, "-m", "tests.bench.one_caller.attack")
    counted: dict[str, int] = {}
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(asked) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline()) == "begun"
            yield counted
            process.stdin.close()
            counted.update(json.loads(process.stdout.readline()))
        finally:
            process.kill()


def beside_one_caller(size: Size, said: Callable[[str], None]) -> list[str]:
    """Return a table of the latencies of the other players."""
    with serving() as service:
        most = median(honest(service, size, 0.0).rate for _ in range(min(size.rounds, FEW)))
    rate = most / 2
    said(f"one worker manages {most:,.0f} moves/s, so {rate:,.0f} are offered")
    found = {name: Beside() for name in ATTACKS}
    with limited("--workers", str(WORKERS)) as service, service.channel() as channel:
        filled(service, size.listed, running=False)
        tables = Tables(channel)
        long = tables.started([tables.guest(), tables.guest()])["match_id"]
        played_on(service, long, size.events)
        for _ in range(size.rounds):
            without = honest(service, size, rate)
            for name, (call, at_once) in ATTACKS.items():
                often = SHARE * WORKERS * Limits().requests_per_second / points_of(call, size)
                with attacked(service, call, at_once, often, long) as counted:
                    beside = honest(service, size, rate)
                pair = Pair(without, beside, counted)
                found[name].pairs.append(pair)
                said(f"{name}: p99 {without.answer_ms['p99']:.1f} and {beside.answer_ms['p99']:.1f} ms, {counted}")
    lines = results.table((*HEADS, "p50 over", "p99 over"), [each.row(name) for name, each in found.items()])
    about = f"{size.players.matches * SEATS} players choose {rate:,.0f} times a second, half of what one worker manages"
    there = f"beside {size.listed} open matches, a long match has {size.events:,} events"
    return [f"{about}; {there}; medians of {size.rounds} runs.", "", *lines]


PARTS: Final[dict[str, Callable[[Size, Callable[[str], None]], list[str]]]] = {
    "costs": costs_of_calls,
    "honest": beside_one_caller,
}


def main(words: Sequence[str]) -> None:
    """Measure and print; a complete run also writes its section."""
    results.run_parts("one_caller", PARTS, (TINY, FULL), words, str(__doc__))
