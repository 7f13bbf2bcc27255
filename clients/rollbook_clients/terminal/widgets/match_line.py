"""A match in one line of the lobby."""

from typing import Final

from rich.text import Text

from rollbook.v1.match_pb2 import MATCH_STATE_RUNNING, MatchSummary
from rollbook_clients.terminal.clocks import clock_name
from rollbook_clients.terminal.known_game import known_game
from rollbook_clients.terminal.own_matches import OwnMatch
from rollbook_clients.terminal.screens.result import result_of
from rollbook_replays.games.presentation import differing
from rollbook_replays.games.seats import Seating, sign
from rollbook_replays.games.words import Words
from rollbook_replays.renderers import as_rich
from rollbook_replays.text import fitted

OWN_STATE: Final = 21
STATE: Final = 13
NAME: Final = 14


def match_line(summary: MatchSummary, own: OwnMatch | None, words: Words) -> Text:
    """What is played, how it stands, who sits there, and what was agreed on."""
    known = known_game(summary.game, summary.ruleset)
    title, options = summary.game, ""
    seating = Seating(tuple(seat.name for seat in summary.seats), None if own is None else own.seat, {}, words)
    if known is not None:
        seating = known.seating(summary, seating.own, words)
        title, options = known.rules.title, ", ".join(differing(known.rules, seating.options, seating.words))
    is_called = own is not None and own.is_on_turn
    line = Text(no_wrap=True, overflow="ellipsis")
    line.append("► " if is_called else "  ", "bold #7ee787")
    line.append(f"{title:<12} ", "bold")
    wide = STATE if own is None else OWN_STATE
    standing = fitted(standing_of(summary, own, seating), wide)
    line.append(f"{standing:<{wide}} ", "bold #7ee787" if is_called else "#adbac7")
    for number, seat in enumerate(summary.seats):
        if seat.taken:
            line.append_text(as_rich([seating.mark(number)], {}))
            line.append(f" {fitted(seating.name(number), NAME)}  ", "underline" if number == seating.own else "")
        else:
            line.append(f"{sign(number)} {words('lobby.free')}  ", "dim")
    clock = clock_name(summary.turn_seconds, words) if summary.turn_seconds else ""
    private = words("lobby.private") if summary.is_private else ""
    line.append(" · ".join(part for part in (clock, private, options) if part), "dim")
    return line


def standing_of(summary: MatchSummary, own: OwnMatch | None, seating: Seating) -> str:
    """How it stands: for whoever plays there whose turn it is, and how long, or how it ended."""
    words = seating.words
    if own is None or summary.state != MATCH_STATE_RUNNING:
        return result_of(summary, seating.own, words)
    if own.has_given_up:
        return words("result.gave_up")
    if own.is_on_turn:
        clock = own.clocks.shown()
        return words("lobby.own_turn") if clock is None else words("lobby.own_turn.clock", left=clock[1].split()[0])
    if summary.HasField("awaited_seat"):
        return words("turn.of", name=fitted(seating.name(summary.awaited_seat), NAME))
    return words(f"state.{summary.state}")
