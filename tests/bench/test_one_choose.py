"""A choice is folded once and never decoded again, and passes through a limited number of modules and calls."""

from __future__ import annotations

from tests.bench.one_choose import fewest

MOST_MODULES = 38
MOST_CALLS = 221


def test_one_choose_is_folded_once_and_read_back_never() -> None:
    """The watcher's frame uses the same fold; both limits are the current values."""
    found, _ = fewest()
    assert (1.0, 0) == (found.folds, found.parses)
    assert found.modules <= MOST_MODULES
    assert found.calls <= MOST_CALLS
