"""A choice is folded once and read back never, and does not come to pass through more and more of the service."""

from __future__ import annotations

import asyncio

from tests.bench.one_choose import passed

MOST_MODULES = 42
MOST_CALLS = 330


def test_one_choose_is_folded_once_and_read_back_never() -> None:
    """With a watcher whose frame is made of the same fold; both bounds are what was reached, and only ever go down.

    Now and then a task that looks at all logs falls into the count, so the least of three counts.
    """
    counts = [asyncio.run(passed())[0] for _ in range(3)]
    assert {(1.0, 0)} == {(found.folds, found.parses) for found in counts}
    assert min(found.modules for found in counts) <= MOST_MODULES
    assert min(found.calls for found in counts) <= MOST_CALLS
