"""`python -m tests.bench scale`: the cost of a call must not grow with the rest of a service's data.

The service's own code writes the matches to the store without gRPC; all measured calls go to `rollbook serve` with its
own Valkey.
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
    """Measure and print; a complete run also writes its section."""
    results.run_parts("scale", PARTS, (TINY, FULL), words, str(__doc__))
