"""With durability `replicated` no failover loses an acknowledged or delivered event.

`python -m tests.faults failovers` forces more of them.
"""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from tests.faults.failovers import forced


@pytest.mark.slow
@pytest.mark.parametrize("topology", ["sentinel", "cluster"])
def test_a_forced_failover_loses_nothing_that_was_acknowledged_or_told(topology: str, tmp_path: Path) -> None:
    """The replica has every event before any client receives it."""
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    crowd, lost = asyncio.run(forced(tmp_path, topology, 1, seed, print))
    assert len(crowd.told()) > 0
    assert [] == lost
