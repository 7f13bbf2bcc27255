"""What the last event has done to a table: how browsers show and sound it, and which kinds have a line of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rollbook_clients.sdk import Event
from rollbook_clients.terminal.known_game import KnownGame
from rollbook_replays.games.presentation import Effect

FELT: Final = {"bust", "steal", "snap", "trap", "rotten", "won"}
"""The kinds that are shown long enough to be felt, with a line over the board."""

OUTSIDE_THE_GAME: Final = {"seat_taken": "seat", "sealed": "end"}
NO_EFFECT: Final = Effect()


def effect_of(known: KnownGame | None, events: Sequence[Event], before: Any, after: Any) -> Effect:
    """The effect of these events; none if there are several, so that the views around each are unknown."""
    if known is None or len(events) != 1:
        return NO_EFFECT
    if events[0].kind in OUTSIDE_THE_GAME:
        return Effect(OUTSIDE_THE_GAME[events[0].kind], events[0].seat)
    return known.effect(events[0], before, after)
