"""Formats a match as one line of the lobby."""

from collections.abc import Iterable, Sequence
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
from rollbook_replays.text import fit, pad_text, width

TITLE: Final = 15
"""Cells of the turn mark and the game's title, with the space after them."""
BESIDE_NAME: Final = 4
"""Cells of a seat's sign and of the space around its name."""
LEAST_NAME: Final = 4
NAME: Final = 10
"""Width that names keep while unusual options are shown; below that, the options are left out."""
STATE: Final = 18
"""Least width of the state column, on a narrow screen."""
OTHERS: Final = 59
"""Cells that the rest of a line takes."""


def state_column(matches: Iterable[tuple[MatchSummary, OwnMatch | None]], words: Words, wide: int) -> int:
    """Width of the state column: that of the longest state, as far as names and clock leave room."""
    most = max(STATE, min(wide - OTHERS, wide * 3 // 10))
    said = (standing_of(summary, own, _seating(summary, own, words)[0], most) for summary, own in matches)
    return min(most, max(map(width, said), default=0))


def match_line(summary: MatchSummary, own: OwnMatch | None, words: Words, wide: int, state: int) -> Text:
    """One line with game, state, players and settings; names are as long as the width allows."""
    seating, title, options = _seating(summary, own, words)
    is_called = own is not None and (own.is_on_turn or summary.asks_you)
    line = Text(no_wrap=True, overflow="ellipsis")
    line.append("► " if is_called else "  ", "bold #7ee787")
    line.append(f"{title:<{TITLE - 3}} ", "bold")
    standing = fit(standing_of(summary, own, seating, state), state)
    line.append(f"{pad_text(standing, state)} ", "bold #7ee787" if is_called else "#adbac7")
    clock = clock_name(summary.turn_seconds, words) if summary.turn_seconds else ""
    private = words("lobby.private") if summary.is_private else ""
    agreed = " · ".join(part for part in (clock, private) if part)
    everything = " · ".join(part for part in (agreed, options) if part)
    names = [seating.labelled(seat) if each.taken else words("lobby.free") for seat, each in enumerate(summary.seats)]
    left = wide - TITLE - state - 1 - BESIDE_NAME * len(names)
    longest = _longest(names, left - width(everything), NAME) or _longest(names, left - width(agreed), LEAST_NAME)
    for number, (seat, name) in enumerate(zip(summary.seats, names, strict=True)):
        if seat.taken:
            line.append_text(as_rich([seating.mark(number)], {}))
            line.append(f" {fit(name, longest or LEAST_NAME)}  ", "underline" if number == seating.own else "")
        else:
            line.append(f"{sign(number)} {name}  ", "dim")
    line.append(everything, "dim")
    return line


def _seating(summary: MatchSummary, own: OwnMatch | None, words: Words) -> tuple[Seating, str, str]:
    """The seats with their names, the title of the game, and its unusual options as text."""
    known = known_game(summary.game, summary.ruleset)
    seating = Seating(tuple(seat.name for seat in summary.seats), None if own is None else own.seat, {}, words)
    if known is None:
        return seating, summary.game, ""
    seating = known.seating(summary, seating.own, words)
    return seating, known.rules.title, ", ".join(differing(known.rules, seating.options, seating.words))


def _longest(names: Sequence[str], left: int, least: int) -> int:
    """The length per name with which all names fit into `left` cells; 0 if it would be less than `least`."""
    for longest in range(max(map(width, names), default=0), least - 1, -1):
        if sum(min(width(name), longest) for name in names) <= left:
            return longest
    return least if sum(map(width, names)) <= left else 0


def standing_of(summary: MatchSummary, own: OwnMatch | None, seating: Seating, wide: int) -> str:
    """The state of a match: whose turn it is if the user plays there, else the phase or the result."""
    words = seating.words
    if own is None or summary.state != MATCH_STATE_RUNNING:
        return words("lobby.asks") if summary.asks_you else result_of(summary, seating.own, words)
    if own.has_given_up:
        return words("result.gave_up")
    if own.is_on_turn:
        clock = own.clocks.clock_text()
        if clock is None or clock[0] != own.seat:
            return words("lobby.own_turn")
        return words("lobby.own_turn.clock", left=clock[1].split()[0])
    if summary.HasField("awaited_seat"):
        beside = width(words("turn.of", name=""))
        return words("turn.of", name=fit(seating.name(summary.awaited_seat), wide - beside))
    return words(f"state.{summary.state}")
