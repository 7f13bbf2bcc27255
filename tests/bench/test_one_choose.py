"""A choice is folded once and read back never, and does not come to pass through more and more of the service."""

from __future__ import annotations

from tests.bench.one_choose import fewest

MOST_MODULES = 38
MOST_CALLS = 221


def test_one_choose_is_folded_once_and_read_back_never() -> None:
    """With a watcher whose frame is made of the same fold; both bounds are what was reached."""
    found, _ = fewest()
    assert (1.0, 0) == (found.folds, found.parses)
    assert found.modules <= MOST_MODULES
    assert found.calls <= MOST_CALLS
