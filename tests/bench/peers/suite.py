"""`python -m tests.bench peers`: the service under the load of many small matches."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from tests.bench.peers.rounds import Round
from tests.bench.peers.service import one_round, profile, serving
from tests.bench.peers.size import FULL, TINY


def main(words: Sequence[str]) -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench peers", description=__doc__)
    parser.add_argument("--only", choices=["rollbook"], help="measure nothing else")
    parser.add_argument("--rounds", type=int, default=5, help="how often everything is measured (default 5)")
    parser.add_argument("--seconds", type=float, default=FULL.seconds, help="how long a round takes")
    parser.add_argument("--connections", default=FULL.connections, help="participant, match, or how many for all")
    parser.add_argument("--tiny", action="store_true", help="next to nothing of everything, once, to see that it runs")
    parser.add_argument("--profile", action="store_true", help="print where the service's time goes")
    given = parser.parse_args(words)
    size = TINY if given.tiny else replace(FULL, seconds=given.seconds, connections=given.connections)
    if given.profile:
        print(profile(size))
        return
    rounds = []
    for number in range(1 if given.tiny else given.rounds):
        with serving() as service:
            found = one_round(service, size)
        print(f"round {number + 1}: {said(found)}", flush=True)
        rounds.append(found)
    print(f"server {median(each.micros('server') for each in rounds):,.0f} µs a move")


def said(found: Round) -> str:
    """A round in a line."""
    times = (*found.answer_ms.values(), *found.told_ms.values())
    return (
        f"{found.rate:,.0f} moves/s, server {found.micros('server'):,.0f} µs a move, "
        f"store {found.micros('store'):,.0f}; answers p50 {times[0]:.1f} p99 {times[1]:.1f} ms, "
        f"feeds p50 {times[2]:.1f} p99 {times[3]:.1f} ms, {found.frames / found.moves:.2f} told a move; "
        f"the load used {100 * found.load:.0f} % of its core{'' if found.counts else ', so the rate does not count'}"
    )
