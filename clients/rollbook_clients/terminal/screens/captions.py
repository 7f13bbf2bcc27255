"""Texts around a table: title, status line, and the text in place of a menu."""

from collections.abc import Mapping
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
from rollbook_clients.terminal.clocks import away_text, clock_name, minutes, until_ms
from rollbook_clients.terminal.known_game import KnownGame
from rollbook_replays.games.presentation import differing
from rollbook_replays.games.seats import Seating
from rollbook_replays.renderers import as_rich


@dataclass(frozen=True, slots=True)
class Caption:
    """The state of a table, for the texts in title and status line."""

    summary: MatchSummary
    known: KnownGame | None
    seating: Seating
    view: Any
    """The view that the board shows."""
    behind: int = 0
    """Number of moves that have happened and that the board does not show yet."""
    is_behind: bool = False
    """Whether the board shows an earlier moment of the match, at which choosing is not possible."""

    @property
    def on_turn(self) -> int | None:
        """The seat whose turn it is on the board; None if the match is not running or the view has no seat."""
        if self.summary.state != MATCH_STATE_RUNNING:
            return None
        seat: int | None = getattr(self.view, "seat", None)
        return seat

    def title(self) -> Text:
        """The game, the match id, and everything unusual about the match."""
        words, summary = self.seating.words, self.summary
        if not summary.game:
            return Text(words("table.looking"))
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

    def status(self, clock: tuple[int, str] | None, absent: Mapping[int, int], *, is_away: bool) -> Text:
        """The connection, the number of moves behind, whose turn it is, the clock, and who is away for how long."""
        words, state = self.seating.words, self.summary.state
        line = Text(no_wrap=True, overflow="ellipsis")
        if is_away:
            line.append(f"{words('connection.lost')} ", "bold #ff7b72")
        if self.behind:
            line.append(f"{words('table.behind', moves=words.count('move', self.behind))} · ", "bold #79c0ff")
        if self.on_turn is not None:
            line.append_text(as_rich([self.seating.mark(self.on_turn)], {}))
            line.append(f" {self.turn()}", "bold")
        elif state:
            line.append(words(f"state.{state}"))
        if self.summary.bots_at_ms:
            left_ms = until_ms(self.summary.bots_at_ms)
            line.append(
                f" · {words('table.bots_join', left=minutes(left_ms)) if left_ms else words('table.bots_busy')}"
            )
        if clock is not None and state == MATCH_STATE_RUNNING:
            whose = "" if clock[0] == self.on_turn else f"{self.seating.name(clock[0])} "
            line.append(f" · {whose}{words('clock.left', left=clock[1])}", "bold #e3b341")
        for seat, since in absent.items():
            if seat != self.seating.own and self.summary.seats[seat].taken and state not in OVER:
                line.append(f" · {self.seating.name(seat)} {away_text(since, words)}", "bold #ffdf5d")
        return line

    @property
    def is_own_turn(self) -> bool:
        """Whether the viewer is to choose; False for a seat that is out, because a bot chooses for it."""
        seat = self.on_turn
        return seat is not None and seat == self.seating.own and not self.summary.seats[seat].forfeited

    def turn(self) -> str:
        """The text on whose turn it is."""
        words, seat = self.seating.words, self.on_turn
        if seat is None:
            return words(f"state.{self.summary.state}") if self.summary.state else ""
        return words("turn.own") if self.is_own_turn else words("turn.of", name=self.seating.name(seat))

    def waiting(self) -> str:
        """The text in place of the menu: whose choice is awaited, and how others join while seats are free."""
        words, summary = self.seating.words, self.summary
        if summary.state == MATCH_STATE_OPEN:
            free = words.count("seat", sum(not seat.taken for seat in summary.seats))
            said = words("table.waits_for_seats", seats=free)
            said = f"{said}\n{words('table.waits_for_rematch')}" if summary.rematch_of else said
            return f"{said}\n{words('table.invite')}"
        if summary.state == MATCH_STATE_GETTING_READY:
            late = [self.seating.name(number) for number, seat in enumerate(summary.seats) if not seat.ready]
            return words("table.waits_for_ready", names=words.both(late or [""]))
        if self.is_own_turn:
            return words("table.catching_up") if self.is_behind else ""
        return "" if self.on_turn is None else words("table.waits_for", name=self.seating.name(self.on_turn))
