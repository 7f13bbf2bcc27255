"""Measures how full the store's memory and the disk of the data directory are, before either refuses writes."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Final

from rollbook.server.health.metrics import Metrics
from rollbook.server.loops import BackgroundLoop
from rollbook.storage.redis.log import RedisLog
from rollbook.storage.redis.master_status import master_statuses

MEASURE_SECONDS: Final = 5.0
"""Between two measurements."""


def fullness(log: RedisLog, data: Path, metrics: Metrics) -> BackgroundLoop:
    """A loop that measures periodically; a master that does not answer keeps the last value."""

    async def measure() -> None:
        masters = await master_statuses(log.dispatch)
        if ratios := [master.memory_ratio for master in masters if master.answers]:
            metrics.store_measured(max(ratios))
        disk = await asyncio.to_thread(shutil.disk_usage, data)
        # As `df` has it: what is reserved for root is neither used nor free.
        metrics.disk_measured(disk.used / max(1, disk.used + disk.free))

    return BackgroundLoop("fullness", measure, metrics.loop_failed, MEASURE_SECONDS)
