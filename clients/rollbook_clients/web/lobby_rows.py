"""What the lobby shows of matches, as values for the templates: tables now, the visitor's own, and finished ones."""

from __future__ import annotations

import time  # noqa: TID251 - the page shows dates and durations
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta  # noqa: TID251 - the page shows dates
from typing import Any, Final

from markupsafe import Markup

from rollbook.v1.match_pb2 import MATCH_STATE_GETTING_READY, MATCH_STATE_OPEN, MATCH_STATE_RUNNING, MatchSummary
from rollbook.v1.table_pb2 import PERSPECTIVE_KIND_SEAT
from rollbook_clients.sdk.frames import State
from rollbook_clients.sdk.lobby import OVER
from rollbook_clients.terminal.clocks import TickingClocks, clock_name, delay_name
from rollbook_clients.terminal.known_game import bot_mark, known_game
from rollbook_clients.web.live import MOST, TableLook, is_among_people, mix
from rollbook_clients.web.surface import score_of, sign_of
from rollbook_replays.games.words import Words

MOST_OPEN: Final = 8
"""Most rows of tables with free seats, so that there is room for those that can be watched."""

MINUTE_MS: Final = 60_000


@dataclass(frozen=True, slots=True)
class RowSeat:
    """A seat in a row of the lobby."""

    seat: int
    sign: Markup
    name: str
    """Empty for a free seat, or if the name was erased."""
    is_taken: bool
    bot: str
    score: str
    is_awaited: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A match in a list."""

    match_id: str
    title: str
    seats: tuple[RowSeat, ...]
    note: str
    thumb: str = ""
    """The small drawing as SVG; empty for a game without one."""
    state: str = ""
    """What the match waits for, in words."""
    is_open: bool = False
    awaits_visitor: bool = False
    left_ms: int | None = None
    """Milliseconds left on the clock of the awaited seat; None without a clock."""
    ended: datetime | None = None
    result: str = ""
    """Who won; empty if the visitor does not want to know."""


def title_of(match: MatchSummary) -> str:
    """The title of the game, or its name if this page does not know it."""
    known = known_game(match.game)
    return match.game if known is None else known.rules.title


def list_tables(
    matches: Iterable[MatchSummary], looks: Mapping[str, TableLook], words: Words, *, game: str, people_only: bool
) -> list[Row]:
    """The rows of "At the tables now": tables with free seats, then running matches."""
    found = select(matches, game=game, people_only=people_only)
    waiting = [match for match in found if match.state != MATCH_STATE_RUNNING][:MOST_OPEN]
    running = mix([match for match in found if match.state == MATCH_STATE_RUNNING], MOST - len(waiting))
    return [_table(match, looks.get(match.match_id), words) for match in (*waiting, *running)]


def select(matches: Iterable[MatchSummary], *, game: str, people_only: bool) -> list[MatchSummary]:
    """The matches of this game (empty: of all), without those of bots if asked for."""
    return [
        match for match in matches if (not game or match.game == game) and (not people_only or is_among_people(match))
    ]


def note_of(match: MatchSummary, look: TableLook | None, words: Words) -> str:
    """The line below the players: since when, how many watch, and how late."""
    if match.state == MATCH_STATE_OPEN:
        return clock_name(match.turn_seconds, words)
    parts = [duration(round(time.time() * 1_000) - match.opened_ms, words)]
    if look is not None and look.watchers > 0:
        parts.append(words("lobby.watching", count=look.watchers))
    if match.spectator_delay_seconds:
        parts.append(words("lobby.late", delay=delay_name(match.spectator_delay_seconds, words)))
    return " · ".join(parts)


def _table(match: MatchSummary, look: TableLook | None, words: Words) -> Row:
    known = known_game(match.game)
    thumb = None if known is None else known.shown.thumb
    drawn = look.thumb if look is not None else "" if thumb is None else thumb.draw(None, f"thumb-{match.match_id}")
    is_open = match.state == MATCH_STATE_OPEN
    scores, awaited = (look.scores, look.on_turn) if look is not None else ((), None)
    return Row(
        match.match_id,
        title_of(match),
        _seats(match, words, scores, awaited),
        note_of(match, look, words),
        Markup(drawn),  # noqa: S704 - shapes escape what is in them
        "" if match.state == MATCH_STATE_RUNNING else words(f"state.{match.state}"),
        is_open,
    )


def _seats(match: MatchSummary, words: Words, scores: tuple[str, ...], awaited: int | None) -> tuple[RowSeat, ...]:
    return tuple(
        RowSeat(
            number,
            sign_of(number),
            seat.name or (words("seat.number", number=number + 1) if seat.taken else ""),
            seat.taken,
            bot_mark(seat, words),
            scores[number] if number < len(scores) else "",
            number == awaited,
        )
        for number, seat in enumerate(match.seats)
    )


def own_row(match: MatchSummary, state: State | None, words: Words) -> Row:
    """A match of the visitor that is not over, from its current state, None if that is unknown."""
    awaited = match.awaited_seat if match.HasField("awaited_seat") else None
    own, scores, left = None, tuple[str, ...](), None
    if state is not None:
        is_seat = state.perspective.kind == PERSPECTIVE_KIND_SEAT
        match, own = state.summary, state.perspective.seat if is_seat else None
        awaited = match.awaited_seat if match.HasField("awaited_seat") else None
        scores = _scores(match, state.view, own, words)
        clocks = TickingClocks()
        clocks.take(state.clocks, is_now=True)
        left = clocks.time_left()
    is_own_turn = awaited is not None and awaited == own
    said = words(f"state.{match.state}")
    if match.asks_you:
        said = words("lobby.asks")
    elif is_own_turn:
        said = words("lobby.your_turn")
    elif awaited is not None:
        said = words("lobby.mine_turn", name=match.seats[awaited].name or "?")
    return Row(
        match.match_id,
        title_of(match),
        _seats(match, words, scores, awaited),
        "",
        state=said,
        is_open=match.state == MATCH_STATE_OPEN,
        awaits_visitor=match.asks_you or is_own_turn or match.state == MATCH_STATE_GETTING_READY,
        left_ms=None if left is None or left[0] != awaited else left[1] + left[2],
    )


def _scores(match: MatchSummary, message: Any, own: int | None, words: Words) -> tuple[str, ...]:
    known = known_game(match.game, match.ruleset)
    if known is None or match.state != MATCH_STATE_RUNNING:
        return ()
    view, seating = known.view(message), known.seating(match, own, words)
    return tuple(score_of(known, view, seat, seating)[0] for seat in range(len(match.seats)))


def past_row(match: MatchSummary, words: Words, *, spoilers: bool) -> Row:
    """A match that is over; names its winners only if the visitor wants to know."""
    result = ""
    if match.state in OVER and spoilers:
        places = list(match.places.places)
        won = [seat.name or "?" for seat, place in zip(match.seats, places, strict=False) if place == 1]
        result = words("table.wins", names=words.both(won)) if won else words(f"state.{match.state}")
    return Row(
        match.match_id,
        title_of(match),
        _seats(match, words, (), None),
        duration(match.changed_ms - match.opened_ms, words),
        state=words(f"state.{match.state}"),
        ended=datetime.fromtimestamp(match.changed_ms / 1_000).astimezone(),
        result=result,
    )


def duration(milliseconds: int, words: Words) -> str:
    """A duration in full minutes, from an hour on in hours, from two days on in days."""
    minutes = max(0, milliseconds) // MINUTE_MS
    if minutes < 60:  # noqa: PLR2004 - minutes of an hour
        return words("lobby.minutes", number=minutes)
    hours = minutes // 60
    return words("lobby.hours", number=hours) if hours < 48 else words("lobby.days", number=hours // 24)  # noqa: PLR2004


def date_text(at: datetime, words: Words) -> str:
    """The date and time as text; the two last days by name."""
    days = (datetime.now(at.tzinfo).date() - at.date()) // timedelta(days=1)
    day = words(("date.today", "date.yesterday")[days]) if days in {0, 1} else f"{at:%Y-%m-%d}"
    return f"{day} {at:%H:%M}"
