"""`python -m tests.bench NAME` measures speed as ratios, side by side in one run.

Every round measures everything once, so that a busy machine slows all measures alike; the table and the JSON below it
have the medians of the rounds, and `RESULTS.md` keeps the table.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence

from tests.bench import compare, one_choose, replays, replicated, results, rules, web
from tests.bench.measure import Row
from tests.bench.one_caller import suite as one_caller
from tests.bench.peers import suite as peers
from tests.bench.scale import suite as scale
from tests.bench.service import suite

BENCHES = {"rules": rules.bench, "service": suite.bench, "replays": replays.bench}
COUNT = "one_choose"
OF_THEIR_OWN = {
    "peers": peers.main,
    "scale": scale.main,
    "one_caller": one_caller.main,
    "replicated": replicated.main,
    "web": web.main,
    "compare": compare.main,
}
"""Benches with options of their own."""
_WHOLE = 1_000
"""Larger numbers are printed without a fraction."""

PROFILES = {"rules": rules.profile, "service": suite.profile, "replays": replays.profile}


def main() -> None:
    """Run one bench and print its table, then the same as JSON."""
    os.environ.setdefault("ROLLBOOK_WEB", "off")
    if sys.argv[1:2] and sys.argv[1] in OF_THEIR_OWN:
        OF_THEIR_OWN[sys.argv[1]](sys.argv[2:])
        return
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument(
        "bench", choices=[*sorted([*BENCHES, *OF_THEIR_OWN]), COUNT], help="what to measure, or one_choose: to count"
    )
    parser.add_argument("--rounds", type=int, default=5, help="how often everything is measured (default 5)")
    parser.add_argument("--tiny", action="store_true", help="next to nothing of everything, once, to see that it runs")
    parser.add_argument("--profile", action="store_true", help="print where the time goes, and measure nothing")
    words = parser.parse_args()
    if words.bench == COUNT:
        one_choose.show()
        return
    if words.profile:
        PROFILES[words.bench](tiny=words.tiny)
        return
    rows = BENCHES[words.bench](1 if words.tiny else words.rounds, tiny=words.tiny)
    for row in rows:
        print(_line(row))
    print(json.dumps([_facts(row) for row in rows]))
    if not words.tiny:
        results.write(words.bench, _section(rows))


def _line(row: Row) -> str:
    by_processor = "" if row.by_processor is None else f"  by processor time {row.by_processor:7.3f}"
    goal = ""
    if row.goal is not None:
        goal = f"  goal {_goal(row)}  {'reached' if row.reached else 'MISSED'}"
    digits = 0 if row.median >= _WHOLE else 1
    return f"{row.name:<52} {row.median:>12,.{digits}f} {row.unit:<9} ratio {row.ratio:7.3f}{by_processor}{goal}"


def _section(rows: Sequence[Row]) -> list[str]:
    """Return the table for `RESULTS.md`: median, lowest and highest of the rounds, and the goals."""
    heads = ("", "median", "lowest", "highest", "unit", "ratio", "by processor time", "goal", "")
    lines = []
    for row in rows:
        found = [
            f"{value:,.{0 if row.median >= _WHOLE else 1}f}" for value in (row.median, min(row.rates), max(row.rates))
        ]
        by_processor = "" if row.by_processor is None else f"{row.by_processor:.2f}"
        goal = ("", "") if row.goal is None else (_goal(row), "reached" if row.reached else "MISSED")
        lines.append([row.name, *found, row.unit, f"{row.ratio:.2f}", by_processor, *goal])
    return [f"{len(rows[0].rates)} rounds.", "", *results.table(heads, lines)]


def _goal(row: Row) -> str:
    whose = " by processor time" if row.judged_by_processor else ""
    return f"{'<=' if row.at_most else '>='} {row.goal:g}{whose}"


def _facts(row: Row) -> dict[str, object]:
    return {
        "name": row.name,
        "unit": row.unit,
        "median": round(row.median, 1),
        "ratio": round(row.ratio, 4),
        "by_processor": None if row.by_processor is None else round(row.by_processor, 4),
        "goal": row.goal,
        "goal_is_a_ceiling": row.at_most,
        "reached": row.reached,
        "rounds": [round(value, 1) for value in row.rates],
    }


if __name__ == "__main__":
    main()
