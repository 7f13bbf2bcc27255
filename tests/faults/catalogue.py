"""All faults by the names that the command accepts."""

from __future__ import annotations

from typing import Final

from tests.faults import crowds, failovers, quorums, services, stores
from tests.faults.outcome import Fault

FAULTS: Final[dict[str, Fault]] = {
    **services.FAULTS,
    "copies": crowds.copies,
    "storm": crowds.storm,
    "slow-reader": crowds.slow,
    "writers": stores.writers,
    "slots": stores.slots,
    "append-only": stores.append_only,
    "failovers": failovers.run,
    "quorum": quorums.run,
}
