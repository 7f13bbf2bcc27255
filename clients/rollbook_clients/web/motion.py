"""How browsers show the last event of a match: its kind, and the line over the board."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from rollbook_clients.web.effects import FELT
from rollbook_clients.web.followed import FollowedMatch
from rollbook_replays.games.seats import Seating
from rollbook_replays.games.words import Words


@dataclass(frozen=True, slots=True)
class Motion:
    """How browsers show the last event."""

    kind: str
    seat: int | None
    banner: Markup
    """The line over the board; empty if there is none."""
    goes_on: bool
    """Whether the viewer's turn goes on without a choice: chance decides next, and its event follows at once."""


def motion_of(tail: FollowedMatch, seating: Seating, words: Words) -> Motion:
    """The motion of the last event, for the viewer of a followed match."""
    own = tail.own
    goes_on = own is not None and tail.on_turn == own and tail.legal is None and not tail.leaving_reason(own)
    effect, banner = tail.effect, Markup()
    if effect.kind in FELT:
        banner = Markup.escape(effect.say(effect.line, seating)) if effect.line else tail.newest(words)
    return Motion(effect.kind, effect.seat, banner, goes_on)
