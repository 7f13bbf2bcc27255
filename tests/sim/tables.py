"""The matches of a simulation: games, seats, clocks, and players."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, Final

from rollbook.server.timers.sweeper import EXPIRY_SPARED_MS

GAMES: Final = {
    "cant_stop": range(2, 5),
    "raffzahn": range(3, 5),
    "wuerfelzoo": range(2, 5),
    "allie_gator": range(2, 5),
}
"""The numbers of seats by game."""


@dataclass
class Table:
    """One match, with the players' plans."""

    game: str
    seats: int
    terms: dict[str, Any]
    choices: list[int]
    """Choices per player before they stop; 0 for a player who never gets ready."""
    resigns: list[bool]
    watchers: int
    abort_after_seconds: float | None = None
    """Seconds until an operator aborts it, or None."""
    is_deserted: bool = False
    """Whether the last seat stays free, so that the match expires."""
    withdraw_after_seconds: float | None = None
    """Seconds until the opener withdraws the match, or None."""
    match_id: str = ""
    invitation_code: str = ""
    opened_at: float | None = None
    """The time at which the opening was acknowledged."""

    @property
    def longest_wait_seconds(self) -> float:
        """The longest time without an event in a healthy service."""
        if self.is_deserted:
            return float(self.terms["open_seconds"] + EXPIRY_SPARED_MS / 1_000)
        return float(self.terms["turn_seconds"] + self.terms["reserve_seconds"] + self.terms["ready_seconds"])


def draw_table(chance: random.Random) -> Table:
    """Draw a table of any kind whose match comes to an end."""
    game = chance.choice(sorted(GAMES))
    seats = chance.choice(GAMES[game])
    has_clock = chance.random() < 0.6
    terms = {
        "turn_seconds": chance.choice((5, 5, 8)) if has_clock else 0,
        "reserve_seconds": chance.choice((0, 0, 6)) if has_clock else 0,
        "ready_seconds": chance.choice((10, 30)),
        "spectator_delay_seconds": chance.choice((0, 0, 3)),
        "is_private": chance.random() < 0.2,
    }
    table = Table(
        game=game,
        seats=seats,
        terms=terms,
        choices=[0 if chance.random() < 0.04 else chance.choice((3, 8, 15)) for _ in range(seats)],
        resigns=[not has_clock or chance.random() < 0.7 for _ in range(seats)],
        watchers=chance.choice((0, 1, 1, 2)),
        abort_after_seconds=chance.uniform(1.0, 30.0) if chance.random() < 0.1 else None,
    )
    _desert(table, random.Random(repr(table)))
    return table


def _desert(table: Table, chance: random.Random) -> None:
    """Let some tables never fill, without changing what is drawn for the others."""
    if chance.random() < 0.06:
        table.is_deserted = True
        table.terms["open_seconds"] = 60
        table.withdraw_after_seconds = chance.uniform(1.0, 30.0) if chance.random() < 0.3 else None
