"""What stands above a table and in place of a menu: title, status, and whom everybody waits for."""

from dataclasses import dataclass
from typing import Any

from rich.text import Text

from rollbook.v1.match_pb2 import (
    MATCH_STATE_GETTING_READY,
    MATCH_STATE_OPEN,
    MATCH_STATE_RUNNING,
    MatchSummary,
)
from rollbook_clients.sdk.lobby import OVER
from rollbook_clients.terminal.clocks import clock_name
from rollbook_clients.terminal.known_game import KnownGame
from rollbook_replays.games.presentation import differing
from rollbook_replays.games.seats import Seating
from rollbook_replays.renderers import as_rich


@dataclass(frozen=True, slots=True)
class Caption:
    """A table as one line can say it."""

    summary: MatchSummary
    known: KnownGame | None
    seating: Seating
    view: Any
    """What is on the board."""

    @property
    def on_turn(self) -> int | None:
        """Whose turn it is on the board that is shown, as far as the view says so."""
        if self.summary.state != MATCH_STATE_RUNNING:
            return None
        seat: int | None = getattr(self.view, "seat", None)
        return seat

    def title(self) -> Text:
        """The game, the match, and what is special about it."""
        words, summary = self.seating.words, self.summary
        title = summary.game if self.known is None else self.known.rules.title
        line = Text(f"{title} · {summary.match_id}", no_wrap=True, overflow="ellipsis")
        if summary.dice_fixed:
            line.append(f" · {words('dice.fixed')}", "bold #ffdf5d")
        if summary.spectator_delay_seconds and self.seating.own is None and summary.state not in OVER:
            line.append(f" · {words('table.delayed', seconds=summary.spectator_delay_seconds)}", "bold #ffdf5d")
        if summary.turn_seconds:
            line.append(f" · {clock_name(summary.turn_seconds, words)}")
        if self.known is not None and (said := differing(self.known.rules, self.seating.options, words)):
            line.append(f" · {', '.join(said)}")
        return line

    def status(self, clock: tuple[int, str] | None) -> Text:
        """Whose turn it is, and how long they have."""
        words, state = self.seating.words, self.summary.state
        line = Text(no_wrap=True, overflow="ellipsis")
        if self.on_turn is not None:
            line.append_text(as_rich([self.seating.mark(self.on_turn)], {}))
            line.append(f" {self.turn()}", "bold")
        elif state:
            line.append(words(f"state.{state}"))
        if clock is not None and state == MATCH_STATE_RUNNING:
            whose = "" if clock[0] == self.on_turn else f"{self.seating.name(clock[0])} "
            line.append(f" · {whose}{words('clock.left', left=clock[1])}", "bold #e3b341")
        return line

    def turn(self) -> str:
        """Whose turn it is, in words."""
        words, seat = self.seating.words, self.on_turn
        if seat is None:
            return words(f"state.{self.summary.state}") if self.summary.state else ""
        return words("turn.own") if seat == self.seating.own else words("turn.of", name=self.seating.name(seat))

    def waiting(self) -> str:
        """Whom everybody waits for, and how others come here while seats are free."""
        words, summary = self.seating.words, self.summary
        if summary.state == MATCH_STATE_OPEN:
            free = words.count("seat", sum(not seat.taken for seat in summary.seats))
            said = words("table.waits_for_seats", seats=free)
            said = f"{said}\n{words('table.waits_for_rematch')}" if summary.rematch_of else said
            return f"{said}\n{words('table.invite')}"
        if summary.state == MATCH_STATE_GETTING_READY:
            late = [self.seating.name(number) for number, seat in enumerate(summary.seats) if not seat.ready]
            return words("table.waits_for_ready", names=words.both(late or [""]))
        seat = self.on_turn
        return (
            "" if seat is None or seat == self.seating.own else words("table.waits_for", name=self.seating.name(seat))
        )
