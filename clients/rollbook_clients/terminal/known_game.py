"""The game of a match as this program knows it, and what the service sends of it as the rules' own values."""

from dataclasses import dataclass
from typing import Any

from rollbook.match.codec.envelope import read_bytes
from rollbook.match.codec.messages import write_choice
from rollbook.match.codec.moves import Unreadable
from rollbook.match.codec.views import read_legal, read_options, read_view
from rollbook.match.events import Opened
from rollbook.match.fold import Misplaced
from rollbook.rules.catalogue import find
from rollbook.rules.game import Game
from rollbook.rules.refusals import RefusedByRules
from rollbook.v1.events_pb2 import Private
from rollbook.v1.games_pb2 import Choice, LegalChoices, View
from rollbook.v1.match_pb2 import MatchSummary
from rollbook_clients.sdk import Event
from rollbook_replays.games import presentation
from rollbook_replays.games.presentation import Menu, Presentation, Sentence
from rollbook_replays.games.seats import Seating
from rollbook_replays.games.words import Words
from rollbook_replays.narration import Narrator


@dataclass(frozen=True, slots=True)
class KnownGame:
    """Its rules, and how it is shown."""

    rules: Game[Any, Any, Any]
    shown: Presentation

    def seating(self, summary: MatchSummary, own: int | None, words: Words) -> Seating:
        """Who sits there, and what was agreed."""
        names = tuple(seat.name for seat in summary.seats)
        options = read_options(self.rules, summary.options, len(names)) if summary.HasField("options") else {}
        return Seating(names, own, options, words.also(self.shown.texts))

    def view(self, message: View) -> Any:
        """The view that the rules gave; None where this program does not know its form."""
        try:
            return read_view(self.rules, message)
        except Unreadable:
            return None

    def menu(self, view: Any, legal: LegalChoices, seating: Seating) -> Menu:
        """What may be chosen, in words; nothing where this program does not know its form."""
        try:
            return self.shown.menu(view, read_legal(self.rules, legal), seating)
        except Unreadable:
            return ()

    def choice(self, chosen: Any) -> Choice:
        """The message that says so."""
        return write_choice(self.rules, chosen)


def known_game(name: str, ruleset: int | None = None) -> KnownGame | None:
    """The game at this version of its rules, if this program has it."""
    try:
        return KnownGame(find(name, ruleset), presentation(name))
    except RefusedByRules:
        return None


class Story:
    """What is told of a match while its events arrive; they have to come in order, from the first on."""

    def __init__(self) -> None:
        """Know nothing yet: event 1 says which game it is."""
        self._rules: Game[Any, Any, Any] | None = None
        self._narrator: Narrator | None = None

    def tell(self, event: Event, seating: Seating) -> list[Sentence]:
        """The lines that this event makes; none of a game that is not known here."""
        try:
            return self._told(event, seating)
        except (Unreadable, Misplaced, RefusedByRules):
            self._narrator = None
            return []

    def _told(self, event: Event, seating: Seating) -> list[Sentence]:
        beside = Private(hidden=event.hidden).SerializeToString() if event.hidden is not None else b""
        happened = read_bytes(event.data, beside, self._rules).event
        if isinstance(happened, Opened):
            self._rules = find(happened.game, happened.ruleset)
            self._narrator = Narrator(self._rules, happened)
            return self._narrator.opened(seating)
        return [] if self._narrator is None else self._narrator.tell(happened, seating)
