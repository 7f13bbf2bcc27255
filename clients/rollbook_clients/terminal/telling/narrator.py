"""Tells the events of a match, one after the other, as the person at the table would say it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Protocol

from rich.text import Text

from rollbook.v1.events_pb2 import AbortReason, Event, Sealed
from rollbook.v1.games_pb2 import HiddenOutcome
from rollbook_clients.terminal.seating import Seating
from rollbook_clients.terminal.telling.allie_gator import AllieGatorTeller
from rollbook_clients.terminal.telling.cant_stop import CantStopTeller
from rollbook_clients.terminal.telling.raffzahn import RaffzahnTeller
from rollbook_clients.terminal.telling.wuerfelzoo import WuerfelzooTeller


class Teller(Protocol):
    """What one game's moves mean, remembering as much of the match as that takes."""

    def happened(self, outcome: Any, hidden: Any, seating: Seating) -> list[Text]:
        """What chance gave."""

    def chosen(self, seat: int, choice: Any, seating: Seating) -> list[Text]:
        """What a seat chose."""


_TELLERS: Final[dict[str, type[Teller]]] = {
    "cant_stop": CantStopTeller,
    "raffzahn": RaffzahnTeller,
    "wuerfelzoo": WuerfelzooTeller,
    "allie_gator": AllieGatorTeller,
}

_PLAIN: Final = {"seat_taken", "seat_left", "ready", "timed_out", "forfeited", "resigned"}


class Narrator:
    """The story of one match so far; events have to come in order, from the first on."""

    def __init__(self) -> None:
        """Know nothing yet: event 1 says which game it is."""
        self._game = ""
        self._teller: Teller | None = None

    def tell(self, event: Event, hidden: HiddenOutcome | None, seating: Seating) -> list[Text]:
        """The lines that this event makes in the log, often one, sometimes none."""
        body = event.WhichOneof("body")
        if body == "opened":
            self._game = event.opened.game
            teller = _TELLERS.get(self._game)
            self._teller = None if teller is None else teller()
            return [Text(seating.words("told.opened"))]
        if body in _PLAIN:
            return [_of(event.seat, seating.words(f"told.{body}", name=seating.name(event.seat)), seating)]
        if body == "sealed":
            return list(_sealed(event.sealed, seating))
        if body in {"started", "resumed"}:
            return [Text(seating.words(f"told.{body}"))]
        return self._moves(event, hidden, seating)

    def _moves(self, event: Event, hidden: HiddenOutcome | None, seating: Seating) -> list[Text]:
        """What belongs to the game; nothing of a game that is not known here."""
        lines: list[Text] = []
        if self._teller is not None and event.HasField("happened"):
            beside = None if hidden is None else getattr(hidden, self._game)
            lines = self._teller.happened(getattr(event.happened.outcome, self._game), beside, seating)
        elif self._teller is not None and event.HasField("chosen"):
            lines = self._teller.chosen(event.seat, getattr(event.chosen.choice, self._game), seating)
            if event.chosen.by_caretaker and lines:
                lines[0].append(f" {seating.words('told.by_caretaker')}", "dim")
        return lines


def _of(seat: int, said: str, seating: Seating) -> Text:
    return Text.assemble(seating.mark(seat), " ", said)


def _sealed(sealed: Sealed, seating: Seating) -> Iterator[Text]:
    words = seating.words
    if sealed.WhichOneof("result") == "places":
        yield Text(words("told.over"), "bold")
        for place, seat in sorted((place, seat) for seat, place in enumerate(sealed.places.places)):
            yield Text.assemble((f"{place}. ", "bold"), seating.mark(seat), f" {seating.name(seat)}")
        return
    reason = AbortReason.Name(sealed.aborted.reason).removeprefix("ABORT_REASON_").lower()
    name = words.both([seating.name(seat) for seat in sealed.aborted.seats]) if sealed.aborted.seats else ""
    yield Text(words(f"told.aborted.{reason}", name=name), "bold")
