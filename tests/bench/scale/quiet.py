"""The cost of a move in a few busy matches, alone and beside many watched matches without events."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Final

from tests.bench import results
from tests.bench.peers.rounds import Round
from tests.bench.peers.service import one_round, serving
from tests.bench.peers.tables import Tables
from tests.bench.scale.onlookers import watching
from tests.bench.scale.site import filled, settled
from tests.bench.scale.size import Size

MUST: Final = 1.2


def beside_quiet_matches(size: Size, said: Callable[[str], None]) -> list[str]:
    """Measure processor time of service and store for a move, on one service, alone and then beside quiet matches."""
    alone: list[Round] = []
    beside: list[Round] = []
    with serving() as service, service.channel() as channel:
        match_ids = filled(service, size.quiet, running=True)
        settled(service)
        token = Tables(channel).guest()
        for _ in range(size.rounds):
            alone.append(one_round(service, size.busy, rate=size.busy_rate))
            said(f"alone: {alone[-1].said}")
            with watching(service.address, token, match_ids) as found:
                said(f"{found['begun']} of {found['asked']} quiet matches are watched")
                beside.append(one_round(service, size.busy, rate=size.busy_rate))
            said(f"beside them: {beside[-1].said}")
    rows = []
    for part in ("server", "store"):
        ratio = median(two.micros(part) / one.micros(part) for one, two in zip(alone, beside, strict=True))
        micros = [f"{median(each.micros(part) for each in those):,.0f}" for those in (alone, beside)]
        rows.append([part, *micros, f"{ratio:.2f}", f"<= {MUST:g} {'reached' if ratio <= MUST else 'MISSED'}"])
    heads = (f"µs a move of {size.busy.matches} matches", "alone", f"beside {size.quiet:,} watched ones", "ratio", "")
    return results.table(heads, rows)
