"""Derives a match's index row from its lobby entry: the lists that it is in, and when a timer may be due.

The row depends only on the lobby entry, so any process can rebuild the index from the lobby at any time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from rollbook.identity.names import plain_name
from rollbook.storage.port import IndexRow
from rollbook.v1.match_pb2 import (
    MATCH_STATE_ABORTED,
    MATCH_STATE_FINISHED,
    MATCH_STATE_GETTING_READY,
    MATCH_STATE_OPEN,
    MATCH_STATE_RUNNING,
    MATCH_STATE_UNSPECIFIED,
    MatchState,
    MatchSummary,
)

SWEEP: Final = "sweep"
"""The agenda of matches that are not over: when a turn or a seat's time may run out."""

ARCHIVE: Final = "archive"
"""The agenda of finished matches: when they ended."""

UNHELD: Final = "unheld"
"""The list of matches with a seat whose holder is unknown, as in stores of older versions."""

ASKING: Final = "asking"
"""The list of rematches with free seats; few at a time, so a player's rematches are found by reading all."""

NOT_OVER: Final = (MATCH_STATE_OPEN, MATCH_STATE_GETTING_READY, MATCH_STATE_RUNNING)
OVER: Final = frozenset({MATCH_STATE_FINISHED, MATCH_STATE_ABORTED})

MOST_SPARED_MS: Final = 60_000
"""The most by which a deadline moves because the service was unreachable."""

ALONE_SECONDS: Final = 120
"""How long bots of the service stay at a table with free seats and without a person."""

_SECOND_MS: Final = 1_000
_EVER_MS: Final = 1 << 50
_NAME_DIGITS: Final = 32


def list_of(*, is_private: bool, game: str = "", state: MatchState.ValueType = MATCH_STATE_UNSPECIFIED) -> str:
    """The list of all public or private matches, or of those with a game, a state, or both."""
    return f"{'private' if is_private else 'public'}/{game}/{int(state) or ''}"


def seats_of(holder: str) -> str:
    """The list of matches in which this holder has a seat."""
    return f"seat/{holder}"


def name_list(name: str) -> str:
    """The list of matches in which a player has this name; the list's name contains only a hash."""
    return f"name/{hashlib.sha256(name.encode()).hexdigest()[:_NAME_DIGITS]}"


def row_of(summary: MatchSummary, holders: Sequence[str], *, asks: bool = False) -> IndexRow:
    """The index row of a match; `holders` has an empty text for a seat whose holder is unknown.

    `asks` says whether it is a rematch that asks players of the match before.
    """
    lists: dict[str, None] = {}
    for state in (MATCH_STATE_UNSPECIFIED, *_seen_states(summary)):
        for game in {"": None, summary.game: None}:
            lists[list_of(is_private=summary.is_private, game=game, state=state)] = None
    for seat, holder in zip(summary.seats, holders, strict=True):
        if seat.taken:
            lists[seats_of(holder) if holder else UNHELD] = None
        if seat.taken and seat.name:
            lists[name_list(plain_name(seat.name))] = None
    if asks and summary.state == MATCH_STATE_OPEN:
        lists[ASKING] = None
    due_ms, longest_ms = _due(summary)
    agenda = (ARCHIVE if summary.state in OVER else SWEEP) if longest_ms else ""
    return IndexRow(summary.opened_ms, tuple(lists), agenda, due_ms, longest_ms)


def has_clock(summary: MatchSummary) -> bool:
    """Whether turns are currently timed."""
    return summary.state == MATCH_STATE_RUNNING and summary.turn_seconds > 0


def _seen_states(summary: MatchSummary) -> list[MatchState.ValueType]:
    """The states in which a caller may see the match: a delayed viewer may see an earlier one than the current."""
    if summary.state == MATCH_STATE_RUNNING and summary.spectator_delay_seconds:
        return [MATCH_STATE_RUNNING, MATCH_STATE_GETTING_READY]
    return [summary.state]


def _due(summary: MatchSummary) -> tuple[int, int]:
    """The earliest time of the next timer, and the most by which it can be ahead of now; (0, 0) without timers.

    The log may have later events than the lobby entry, which move the timer. A match that runs is examined at once: its
    log has the timers of turns, and whether a person has made a choice. So is a table where bots may be alone.
    """
    since_ms, seconds = summary.changed_ms, 0
    if summary.state in OVER:
        return since_ms, _EVER_MS
    if has_clock(summary):
        return since_ms, summary.turn_seconds * _SECOND_MS + MOST_SPARED_MS
    if summary.state == MATCH_STATE_RUNNING:
        return since_ms, summary.idle_seconds * _SECOND_MS + MOST_SPARED_MS if summary.idle_seconds else _EVER_MS
    if summary.state == MATCH_STATE_OPEN:
        seconds = summary.open_seconds
        if summary.in_pool:
            # The sweeper looks often at a table of PlayNow, for absent people and for bots.
            return summary.opened_ms, seconds * _SECOND_MS + MOST_SPARED_MS
        if any(seat.taken for seat in summary.seats):
            alone_ms = since_ms + min(ALONE_SECONDS, seconds or ALONE_SECONDS) * _SECOND_MS
            return alone_ms, seconds * _SECOND_MS + MOST_SPARED_MS if seconds else _EVER_MS
    elif summary.state == MATCH_STATE_GETTING_READY:
        since_ms, seconds = summary.opened_ms, summary.ready_seconds
    return (since_ms + seconds * _SECOND_MS, seconds * _SECOND_MS + MOST_SPARED_MS) if seconds else (0, 0)
