"""With durability `quorum` one server of three may fail at any time.

`python -m tests.faults quorum` lets a hundred fail.
"""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

from tests.faults.quorums import failing


def test_servers_that_fail_one_at_a_time_lose_nothing(tmp_path: Path) -> None:
    """Writers go on while a server is away, and everything that they and readers were told is there at the end."""
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    crowd, _, lost = asyncio.run(failing(tmp_path, 3, seed, print))
    assert len(crowd.told()) > 0
    assert [] == lost
