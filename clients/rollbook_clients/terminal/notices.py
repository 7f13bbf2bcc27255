"""What a player has to be told apart from the log: time-outs, and what became of a choice."""

from collections.abc import Callable
from typing import Final

from rollbook.match.fold import TURNS_TO_FORFEIT
from rollbook_clients.sdk import Event
from rollbook_replays.games.words import Words

OF_TURNS: Final = {"chosen", "timed_out"}
"""Events that say what a turn has come to."""


class Notices:
    """The last thing that was to be told; it stands until the next choice is made."""

    def __init__(self, words: Words, report: Callable[[str], None]) -> None:
        """Lines for the log are reported as well."""
        self._words = words
        self._report = report
        self.said = ""
        self.under_way = ""
        """The choice that is being sent, in words; empty if none is."""
        self._was_away = False
        self._unknown = ""
        """A choice of which nobody knows yet whether it has arrived."""
        self._time_outs = 0
        """Own turns in a row that have timed out."""

    def sends(self, choice: str, *, is_away: bool) -> str:
        """A choice is on its way: what to say meanwhile."""
        self.said = ""
        self.under_way, self._was_away = choice, is_away
        return self._words("choice.waiting" if is_away else "table.sending", choice=choice)

    def connection_lost(self) -> str:
        """What to say of the choice that is on its way; empty if there is none."""
        self._was_away = True
        return self._words("choice.waiting", choice=self.under_way) if self.under_way else ""

    def arrived(self) -> None:
        """It has counted, which is worth a word only after a while without an answer."""
        if self._was_away:
            self._tell("choice.arrived", choice=self.under_way)
        self.under_way = ""

    def came_too_late(self) -> None:
        """The match had moved on."""
        self._tell("choice.lost", choice=self.under_way)
        self.under_way = ""

    def was_refused(self) -> None:
        """It can be made anew."""
        self.under_way = ""

    def is_unknown(self) -> str:
        """Nobody has answered: what to say until the log tells."""
        self._unknown, self.under_way = self.under_way, ""
        return self._words("choice.unknown", choice=self._unknown)

    def happened(self, event: Event) -> None:
        """Something happened to the own seat."""
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
