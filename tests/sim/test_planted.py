"""Each checker detects the bug planted for it, and no other checker does."""

from __future__ import annotations

import pytest

from tests.sim.planted import PLANTED, Planted
from tests.sim.world import CHECKERS, run


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.checker)
def test_the_checker_of_a_planted_bug_notices_it_and_no_other_does(planted: Planted) -> None:
    """In the first seed that shows the bug."""
    for seed in range(1, 1 + planted.most_seeds):
        fired = {violation.checker for violation in run(seed, made_of=planted.made_of, also=planted.also).violations}
        if planted.checker in fired:
            assert {planted.checker} == fired
            return
    pytest.fail(f"nobody noticed it in {planted.most_seeds} seeds")


def test_every_checker_has_a_bug_that_it_notices() -> None:
    """A checker that never fires might be unable to."""
    assert {checker.name for checker in CHECKERS} == {planted.checker for planted in PLANTED}
