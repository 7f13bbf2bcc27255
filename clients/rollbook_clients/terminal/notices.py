"""Messages to a player besides the log: time-outs, and the outcome of a choice."""

from collections.abc import Callable, Sequence
from typing import Final

from rollbook.match.fold import TURNS_TO_FORFEIT
from rollbook_clients.sdk import Event
from rollbook_replays.games.words import Words

OF_TURNS: Final = {"chosen", "timed_out"}
"""Kinds of events that end a turn."""


class Notices:
    """Keeps the last message to a player, until the player's next choice."""

    def __init__(self, words: Words, report: Callable[[str], None]) -> None:
        """`report` receives the lines that also belong in the log."""
        self._words = words
        self._report = report
        self.said = ""
        self.under_way = ""
        """Label of the choice that is being sent; empty if none is."""
        self._was_away = False
        self._unknown = ""
        """Label of a choice that the service may or may not have received; empty if there is none."""
        self._time_outs = 0
        """Own turns in a row that have timed out."""

    def sends(self, choice: str, *, is_away: bool) -> str:
        """Remember a choice that is being sent, and return the text to show meanwhile."""
        self.said = ""
        self.under_way, self._was_away = choice, is_away
        return self._words("choice.waiting" if is_away else "table.sending", choice=choice)

    def connection_lost(self) -> str:
        """The text to show for the choice that is being sent; empty if there is none."""
        self._was_away = True
        return self._words("choice.waiting", choice=self.under_way) if self.under_way else ""

    def confirm_choice(self) -> None:
        """The choice was accepted. Adds a message only if the connection was lost meanwhile."""
        if self._was_away:
            self._tell("choice.arrived", choice=self.under_way)
        self.under_way = ""

    def came_too_late(self) -> None:
        """The choice was refused because the match had moved on."""
        self._tell("choice.lost", choice=self.under_way)
        self.under_way = ""

    def was_refused(self) -> None:
        """The choice was refused; the player can choose again."""
        self.under_way = ""

    def is_unknown(self) -> str:
        """The service did not reply. Returns the text to show until an event of the log reveals the outcome."""
        self._unknown, self.under_way = self.under_way, ""
        return self._words("choice.unknown", choice=self._unknown)

    def take_event(self, event: Event) -> None:
        """Update the message for an event of the player's own seat."""
        match event.kind:
            case "timed_out":
                self._time_outs += 1
                self.said = self._words("timeout.own", number=self._time_outs, most=TURNS_TO_FORFEIT)
            case "forfeited":
                self.said = self._words("timeout.out", number=TURNS_TO_FORFEIT)
            case "resigned":
                self.said = self._words("resigned.own")
            case "chosen" if not event.message.chosen.by_caretaker:
                self._time_outs = 0
                self.said = ""
        if self._unknown and event.kind in OF_TURNS:
            is_own = event.kind == "chosen" and not event.message.chosen.by_caretaker
            self._tell("choice.arrived" if is_own else "choice.lost", choice=self._unknown)
            self._unknown = ""

    def _tell(self, key: str, choice: str) -> None:
        line = self._words(key, choice=choice)
        self.said = f"{self.said}\n{line}".strip()
        self._report(line)


def turns_left(events: Sequence[Event], seat: int) -> int | None:
    """The number of turns in a row after which a bot plays for the seat; None if its last turn did not time out."""
    late = 0
    for event in reversed(events):
        if event.seat == seat and event.kind == "timed_out":
            late += 1
        elif event.seat == seat and event.kind == "chosen" and not event.message.chosen.by_caretaker:
            break
    return TURNS_TO_FORFEIT - late if 0 < late < TURNS_TO_FORFEIT else None
