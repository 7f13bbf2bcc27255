"""The load of many small matches runs to its end, is heard by everybody, and says what it cost."""

from __future__ import annotations

import re

from tests.scripts import run_script


def test_the_service_is_measured_alone() -> None:
    """Whoever makes a move cheaper runs this part again and again."""
    found = run_script("tests.bench", "peers", "--tiny", "--only", "rollbook")
    assert re.search(r"[\d,]+ moves/s, server [\d,]+ µs a move, store [\d,]+;", found)


def test_a_profile_of_the_service_says_where_the_time_goes() -> None:
    """Function by function, of the process that serves."""
    assert "of samples" in re.sub(
        r"of \d+ samples", "of samples", run_script("tests.bench", "peers", "--tiny", "--profile")
    )
