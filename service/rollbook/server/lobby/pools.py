"""The pools of PlayNow: which matches they hold, and the times by which their tables are used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from rollbook.match.ledger import Ledger
from rollbook.storage.pools import Pool

DAY_SECONDS: Final = 86_400


class PaceTerms(NamedTuple):
    """The clocks of a pool's matches, in seconds, and how long the store keeps an unused pool."""

    turn: int
    reserve: int
    open: int
    ready: int
    keep: int


LIVE: Final = PaceTerms(turn=60, reserve=300, open=600, ready=15, keep=900)
SLOW: Final = PaceTerms(DAY_SECONDS, 3 * DAY_SECONDS, 7 * DAY_SECONDS, 2 * DAY_SECONDS, 8 * DAY_SECONDS)


@dataclass(frozen=True, slots=True)
class Periods:
    """The periods of PlayNow, in milliseconds; tests shorten them."""

    claim: int = 10_000
    """How long a seat is kept for its caller."""
    seen_within: int = 30_000
    """Callers join a live table only if one of its people was seen within this time."""
    absent: int = 60_000
    """A person who was not seen for this long loses the seat at an open live table."""
    bots: int = 15_000
    """When bots take the free seats, after the table was opened."""
    look: int = 5_000
    """How often the sweeper looks at an open table."""
    touch: int = 10_000
    """How often a process records whose feeds are open."""
    opener: int = 1_000
    """How long a caller waits for event 1 of a table that another caller opens."""
    pause: int = 60_000
    """The first pause of a subject that was not ready; it doubles up to `longest_pause`, until `forgive` has passed."""
    longest_pause: int = 900_000
    forgive: int = DAY_SECONDS * 1_000
    live: PaceTerms = LIVE
    slow: PaceTerms = SLOW

    def pool(self, game: str, ruleset: int, seats: int, pace: PaceTerms) -> Pool:
        """The pool of matches of this ruleset and pace."""
        is_live = pace is self.live
        name = f"{game}/{ruleset}/{'live' if is_live else 'slow'}"
        return Pool(name, seats, self.claim, self.seen_within if is_live else 0, pace.keep * 1_000)

    def pool_of(self, ledger: Ledger) -> Pool:
        """The pool of a match that PlayNow opened."""
        opened = ledger.opened
        pace = self.live if self.is_live(ledger) else self.slow
        return self.pool(opened.game, opened.ruleset, len(opened.names), pace)

    def is_live(self, ledger: Ledger) -> bool:
        """Whether a match that PlayNow opened has the live pace."""
        return ledger.opened.terms.turn_seconds == self.live.turn


def is_open(ledger: Ledger) -> bool:
    """Whether seats are free."""
    return not ledger.match.closed and ledger.match.sealed is None


def people_at(ledger: Ledger) -> list[bytes]:
    """The references of the people at a table, without bots of the house."""
    return [player for player, house in zip(ledger.players, ledger.house, strict=True) if player and not house]
