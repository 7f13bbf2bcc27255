"""Matches between bots, at any of their moments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rollbook.match.events import Event
from rollbook.match.fold import MatchFold
from rollbook.match.simulation import Simulation
from rollbook.rules.catalogue import find
from rollbook.rules.game import Perspective, ToChoose
from rollbook.rules.options import OptionValue
from rollbook_replays.games import presentation
from rollbook_replays.games.seats import Seating
from rollbook_replays.games.words import Words
from rollbook_replays.narration import seating_of

Given = Mapping[str, OptionValue]


def simulation(name: str, seats: int | None = None, options: Given | None = None, seed: int = 7) -> Simulation:
    """Return a match of this game, with the fewest seats by default."""
    game = find(name)
    return Simulation(game, dict(options or {}), seats or game.seats[0], seed, 0)


def after_each_event(
    name: str, seats: int | None = None, options: Given | None = None, seed: int = 7
) -> Iterator[tuple[int, Event, MatchFold]]:
    """Yield every event but the first with the match after it; the next step changes the same match."""
    played = simulation(name, seats, options, seed)
    for sequence, event in played.events():
        yield sequence, event, played.match


def match_at(part: float, name: str, seats: int, options: Given | None = None) -> MatchFold:
    """Return the match after this fraction of its events."""
    length = simulation(name, seats, options).match.sequence + sum(1 for _ in after_each_event(name, seats, options))
    for sequence, _, match in after_each_event(name, seats, options):
        if sequence == int(length * part):
            return match
    raise AssertionError(part)


def choosing(
    name: str, seats: int | None = None, options: Given | None = None, seed: int = 7
) -> Iterator[tuple[int, MatchFold]]:
    """Yield every moment at which a seat is to choose, with that seat."""
    for _, _, match in after_each_event(name, seats, options, seed):
        if match.started and match.sealed is None and isinstance(match.awaited, ToChoose):
            yield match.awaited.seat, match


def seated(match: MatchFold, eyes: Perspective | None = None, language: str = "en") -> Seating:
    """Return the seating of a match for this perspective."""
    return seating_of(match.game, match.opened, eyes, Words(language))


def menu_of(match: MatchFold, seat: int, language: str = "en") -> Any:
    """Return the menu of the seat."""
    game = match.game
    view, legal = game.view(match.state, seat), game.legal(match.state)
    return presentation(game.name).menu(view, legal, seated(match, seat, language))
