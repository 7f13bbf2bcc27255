"""The game of a match as this program implements it; converts messages of the service into values of the rules."""

from dataclasses import dataclass
from typing import Any

from rollbook.match.codec.envelope import read_bytes
from rollbook.match.codec.messages import write_choice
from rollbook.match.codec.moves import Unreadable
from rollbook.match.codec.views import read_legal, read_options, read_view
from rollbook.match.events import Chosen, Happened, Opened
from rollbook.match.events import Event as AnyEvent
from rollbook.match.fold import Misplaced
from rollbook.rules.catalogue import find
from rollbook.rules.game import Game
from rollbook.rules.refusals import RefusedByRules
from rollbook.v1.events_pb2 import Private
from rollbook.v1.games_pb2 import Choice, LegalChoices, View
from rollbook.v1.match_pb2 import MatchSummary
from rollbook_clients.sdk import Event
from rollbook_clients.sdk.lobby import OVER
from rollbook_replays.games import presentation
from rollbook_replays.games.presentation import Effect, Menu, Moment, Presentation, Sentence, Spotlight
from rollbook_replays.games.seats import Seating, strength_mark
from rollbook_replays.games.words import Words
from rollbook_replays.narration import Narrator


def bot_mark(seat: MatchSummary.Seat, words: Words) -> str:
    """The words that mark a bot of the house, with its strength if that is known; empty for a person."""
    return strength_mark(seat.strength, words) if seat.is_house else ""


def bot_marks(summary: MatchSummary, words: Words) -> tuple[str, ...]:
    """The mark of every seat."""
    return tuple(bot_mark(seat, words) for seat in summary.seats)


@dataclass(frozen=True, slots=True)
class KnownGame:
    """The rules of a game and its presentation."""

    rules: Game[Any, Any, Any]
    shown: Presentation

    def seating(self, summary: MatchSummary, own: int | None, words: Words) -> Seating:
        """The names of the seats and the options of the match."""
        names = tuple(seat.name for seat in summary.seats)
        options = read_options(self.rules, summary.options, len(names)) if summary.HasField("options") else {}
        bots = bot_marks(summary, words)
        return Seating(names, own, options, words.also(self.shown.texts), summary.state in OVER, bots)

    def view(self, message: View) -> Any:
        """Decode a view; None if this program does not know its format."""
        try:
            return read_view(self.rules, message)
        except Unreadable:
            return None

    def menu(self, view: Any, legal: LegalChoices, seating: Seating) -> Menu:
        """The menu of legal choices; empty if this program does not know their format."""
        try:
            return self.shown.menu(view, read_legal(self.rules, legal), seating)
        except Unreadable:
            return ()

    def effect(self, event: Event, before: Any, after: Any) -> Effect:
        """How a move is shown that led from one view to another; without a kind for all other events."""
        try:
            happened = _read(event, self.rules)
        except (Unreadable, Misplaced):
            return Effect()
        on_turn = getattr(before, "seat", None)
        if isinstance(happened, Chosen) and event.seat is not None:
            return self.shown.effect(happened.choice, Moment(event.seat, before, after))
        if isinstance(happened, Happened) and on_turn is not None:
            return self.shown.effect(happened.outcome, Moment(on_turn, before, after))
        return Effect()

    def choice(self, chosen: Any) -> Choice:
        """Encode a choice as a message."""
        return write_choice(self.rules, chosen)


def known_game(name: str, ruleset: int | None = None) -> KnownGame | None:
    """The game at this version of its rules (None: the newest); None if this program does not have it."""
    try:
        return KnownGame(find(name, ruleset), presentation(name))
    except RefusedByRules:
        return None


def _read(event: Event, rules: Game[Any, Any, Any] | None) -> AnyEvent:
    private = Private(hidden=event.hidden).SerializeToString() if event.hidden is not None else b""
    return read_bytes(event.data, private, rules).event


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """One event with everything that a screen shows of it."""

    told: list[Sentence]
    seat: int | None
    """The seat that chose, or for which chance decided; None if the event belongs to no seat."""
    view: Any
    """The table after the event; None if it is unknown because parts of the event are hidden."""
    spotlight: Spotlight
    is_move: bool
    """Whether the event changed the table in a way that is worth showing."""


class Story:
    """Turns the events of a match into sentences and scenes. Events must arrive in order, from event 1 on."""

    def __init__(self) -> None:
        self._rules: Game[Any, Any, Any] | None = None
        self._narrator: Narrator | None = None
        self._moves: tuple[Any, ...] = ()
        self._since: Any = None
        self._seat: int | None = None

    def tell(self, event: Event, seating: Seating) -> list[Sentence]:
        """The sentences for this event; empty for a game that this program does not have."""
        return self.scene(event, seating).told

    def scene(self, event: Event, seating: Seating) -> ShownEvent:
        """The event with the table after it and what it changed there."""
        before = self._view
        on_turn = getattr(before, "seat", None)
        self._seat = event.seat if event.seat is not None else self._seat if on_turn is None else on_turn
        try:
            happened = _read(event, self._rules)
            told = self._tell(happened, seating)
        except (Unreadable, Misplaced, RefusedByRules):
            self._narrator = None
            return ShownEvent([], self._seat, None, Spotlight(), is_move=False)
        if isinstance(happened, Chosen):
            self._moves, self._since = (happened.choice,), before
        elif isinstance(happened, Happened):
            self._moves += (happened.outcome,)
        is_move = isinstance(happened, Chosen | Happened) and any(not sentence.is_implied for sentence in told)
        marked = Spotlight(moves=self._moves, since=self._since, before=before)
        return ShownEvent(told, self._seat, self._view, marked, is_move)

    @property
    def game(self) -> Presentation | None:
        """The presentation of the game; None before event 1."""
        return None if self._rules is None else presentation(self._rules.name)

    @property
    def _view(self) -> Any:
        return None if self._narrator is None else self._narrator.view

    def _tell(self, happened: AnyEvent, seating: Seating) -> list[Sentence]:
        if isinstance(happened, Opened):
            self._rules = find(happened.game, happened.ruleset)
            self._narrator = Narrator(self._rules, happened)
            return self._narrator.tell_opening(seating)
        return [] if self._narrator is None else self._narrator.tell(happened, seating)
