"""What a pair of eyes sees of a match: the one projection that every event passes on its way out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from rollbook.match.codec.envelope import Logged
from rollbook.match.events import Event, Happened
from rollbook.match.fold import MatchFold
from rollbook.rules.game import Perspective, Watcher

_NOBODY: Final[frozenset[Perspective]] = frozenset()


@dataclass(frozen=True, slots=True)
class Visible:
    """An event of a log, and who may see what lies hidden beside it before the match is sealed."""

    logged: Logged
    insiders: frozenset[Perspective] = _NOBODY
    """Nobody where nothing is hidden; nor of the secret beside event 1."""


def visible(before: MatchFold, logged: Logged) -> Visible:
    """The event, about to be taken by this match, with those who may see all of it."""
    event = logged.event
    if not logged.private or not isinstance(event, Happened):
        return Visible(logged)
    everybody: tuple[Perspective, ...] = (*Watcher, *range(len(before.taken)))
    return Visible(logged, frozenset(eyes for eyes in everybody if as_seen(before, event, eyes) == event))


def as_seen(before: MatchFold, event: Event, perspective: Perspective) -> Event:
    """The event, about to be taken by this match, as the perspective sees it until the match is sealed."""
    if isinstance(event, Happened):
        return replace(event, outcome=before.game.seen(before.state, event.outcome, perspective))
    return event
