"""`python -m tests.bench scale`: what a call costs must not grow with everything else that a service has.

Matches come into the store by the code that opens them, without gRPC in front; all that is measured is asked of
`rollbook serve` with its own Valkey.
"""

from __future__ import annotations

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
    results.run_parts("scale", PARTS, (TINY, FULL), words, str(__doc__))
