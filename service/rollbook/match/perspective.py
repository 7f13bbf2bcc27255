"""What a pair of eyes sees of a match: the one projection that every event passes on its way out."""

from __future__ import annotations

from dataclasses import replace

from rollbook.match.events import Event, Happened
from rollbook.match.fold import Match
from rollbook.rules.game import Perspective


def as_seen(before: Match, event: Event, perspective: Perspective) -> Event:
    """The event, about to be taken by this match, as the perspective sees it until the match is sealed."""
    if isinstance(event, Happened):
        return replace(event, outcome=before.game.seen(before.state, event.outcome, perspective))
    return event
