"""All faults, by the names that the command knows them by."""

from __future__ import annotations

from typing import Final

from tests.faults import failovers, services
from tests.faults.outcome import Fault

FAULTS: Final[dict[str, Fault]] = {**services.FAULTS, "failovers": failovers.run}
