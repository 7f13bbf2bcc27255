"""`python -m tests.bench scale`: what a call costs must not grow with everything else that a service has.

Matches come into the store by the code that opens them, without gRPC in front; all that is measured is asked of
`rollbook serve` with its own Valkey.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Final

from tests.bench import results
from tests.bench.scale import calls, quiet, rest, workers
from tests.bench.scale.size import FULL, TINY, Size

PARTS: Final[dict[str, Callable[[Size, Callable[[str], None]], list[str]]]] = {
    "calls": calls.beside_open_matches,
    "events": calls.in_a_long_match,
    "quiet": quiet.beside_quiet_matches,
    "rest": rest.clocked_matches,
    "memory": rest.memory,
    "watches": rest.one_connection,
    "workers": workers.several_workers,
}


def main(words: Sequence[str]) -> None:
    """Measure, print, and write it down unless it is only a part."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench scale", description=__doc__)
    parser.add_argument("--only", choices=PARTS, help="this part alone")
    parser.add_argument("--tiny", action="store_true", help="next to nothing of everything, once, to see that it runs")
    given = parser.parse_args(words)
    began = time.monotonic()
    lines: list[str] = []
    for name, part in PARTS.items():
        if given.only in {None, name}:

            def said(line: str, name: str = name) -> None:
                print(f"{time.monotonic() - began:6.0f} s  {name}: {line}", flush=True)

            lines += [*part(TINY if given.tiny else FULL, said), ""]
    print("\n".join(lines))
    if not (given.only or given.tiny):
        results.write("scale", lines)
