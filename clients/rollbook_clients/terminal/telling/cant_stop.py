"""Can't Stop, told: a throw that nothing follows was a bust."""

from __future__ import annotations

from rich.text import Text

from rollbook.v1.cant_stop_pb2 import CantStopChoice, CantStopOutcome
from rollbook_clients.terminal.seating import Seating
from rollbook_clients.terminal.telling.lines import line


class CantStopTeller:
    """Knows whose throw the next one is."""

    def __init__(self) -> None:
        """Before the starting seat is drawn."""
        self._seat = 0
        self._thrown = False
        """A throw lies there that nobody has answered."""

    def happened(self, outcome: CantStopOutcome, _hidden: object, seating: Seating) -> list[Text]:
        """A throw, and before it the bust that the throw before turns out to have been."""
        if outcome.WhichOneof("kind") == "first_seat":
            self._seat = outcome.first_seat.seat
            return [line(self._seat, "told.first_seat", seating)]
        lines = []
        if self._thrown:
            lines.append(line(self._seat, "told.bust", seating))
            lines[0].stylize("bold")
            self._seat = (self._seat + 1) % len(seating.names)
        self._thrown = True
        dice = " ".join(map(str, outcome.roll.dice))
        return [*lines, line(self._seat, "told.throws", seating, dice=dice)]

    def chosen(self, seat: int, choice: CantStopChoice, seating: Seating) -> list[Text]:
        """What the seat does with its throw."""
        self._seat = seat
        self._thrown = False
        kind = choice.WhichOneof("kind")
        if kind == "roll":
            return []
        if kind == "stop":
            self._seat = (seat + 1) % len(seating.names)
            return [line(seat, "told.stops", seating)]
        columns = list(choice.advance.columns)
        if len(set(columns)) < len(columns):
            return [line(seat, "told.two_steps", seating, column=columns[0])]
        return [line(seat, "told.advances", seating, columns=seating.words.both(map(str, columns)))]
