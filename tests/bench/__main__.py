"""`python -m tests.bench NAME`: speed as ratios, measured side by side in one run.

Every round measures everything once, one after the other, so that a busy machine slows all of them alike; the table
and the JSON below it hold the medians of the rounds.
"""

from __future__ import annotations

import argparse
import json

from tests.bench import replays, rules, service
from tests.bench.measure import Row

BENCHES = {"rules": rules.bench, "service": service.bench, "replays": replays.bench}
PROFILES = {"rules": rules.profile_check, "service": service.profile, "replays": replays.profile}


def main() -> None:
    """Run one bench and print its table, then the same as JSON."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("bench", choices=sorted(BENCHES), help="what to measure")
    parser.add_argument("--rounds", type=int, default=5, help="how often everything is measured (default 5)")
    parser.add_argument("--profile", action="store_true", help="print where the time goes, and measure nothing")
    words = parser.parse_args()
    if words.profile:
        PROFILES[words.bench]()
        return
    rows = BENCHES[words.bench](words.rounds)
    for row in rows:
        print(_line(row))
    print(json.dumps([_facts(row) for row in rows]))


def _line(row: Row) -> str:
    goal = "" if row.goal is None else f"  goal {row.goal:g}  {'reached' if row.ratio >= row.goal else 'MISSED'}"
    return f"{row.name:<44} {row.median:>12,.0f} {row.unit:<10} ratio {row.ratio:8.3f}{goal}"


def _facts(row: Row) -> dict[str, object]:
    return {
        "name": row.name,
        "unit": row.unit,
        "median": round(row.median, 1),
        "ratio": round(row.ratio, 4),
        "goal": row.goal,
        "rounds": [round(value, 1) for value in row.rates],
    }


if __name__ == "__main__":
    main()
