"""All faults, by the names that the command knows them by."""

from __future__ import annotations

from typing import Final

from tests.faults import failovers
from tests.faults.outcome import Fault

FAULTS: Final[dict[str, Fault]] = {
    "failovers": failovers.run,
}
