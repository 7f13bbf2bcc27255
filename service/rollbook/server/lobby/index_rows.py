"""Where the store's index has a match: in which lists, and when something may be due in it, by its line in the lobby.

Nothing else goes into it, so that the index can be made anew from the lobby at any time, by any process.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

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
"""The agenda of matches that are not over: when a turn, or somebody's time, may be out."""

ARCHIVE: Final = "archive"
"""The agenda of matches that are over: since when."""

UNHELD: Final = "unheld"
"""The list of matches with a seat of which the lobby does not say whose it is, as in stores that are older."""

NOT_OVER: Final = (MATCH_STATE_OPEN, MATCH_STATE_GETTING_READY, MATCH_STATE_RUNNING)
OVER: Final = frozenset({MATCH_STATE_FINISHED, MATCH_STATE_ABORTED})

MOST_SPARED_MS: Final = 60_000
"""By how much later something may be due than the terms of a match say, because nobody could reach the service."""

_SECOND_MS: Final = 1_000
_EVER_MS: Final = 1 << 50
_NAME_DIGITS: Final = 32


def list_of(*, is_private: bool, game: str = "", state: MatchState.ValueType = MATCH_STATE_UNSPECIFIED) -> str:
    """The list of all public or private matches, or those of a game, of a state, or both."""
    return f"{'private' if is_private else 'public'}/{game}/{int(state) or ''}"


def seats_of(holder: str) -> str:
    """The list of matches in which this holder has a seat."""
    return f"seat/{holder}"


def named(name: str) -> str:
    """The list of matches in which somebody sits by this name, which it does not tell."""
    return f"name/{hashlib.sha256(name.encode()).hexdigest()[:_NAME_DIGITS]}"


def row_of(summary: MatchSummary, holders: Sequence[str]) -> IndexRow:
    """Where a match stands that the lobby lists so; of each seat the holder, or nothing where nobody knows."""
    lists: dict[str, None] = {}
    for state in (MATCH_STATE_UNSPECIFIED, *_seen_states(summary)):
        for game in {"": None, summary.game: None}:
            lists[list_of(is_private=summary.is_private, game=game, state=state)] = None
    for seat, holder in zip(summary.seats, holders, strict=True):
        if seat.taken:
            lists[seats_of(holder) if holder else UNHELD] = None
        if seat.taken and seat.name:
            lists[named(seat.name)] = None
    due_ms, longest_ms = _due(summary)
    agenda = (ARCHIVE if summary.state in OVER else SWEEP) if longest_ms else ""
    return IndexRow(summary.opened_ms, tuple(lists), agenda, due_ms, longest_ms)


def has_clock(summary: MatchSummary) -> bool:
    """Whether turns are timed in it now."""
    return summary.state == MATCH_STATE_RUNNING and summary.turn_seconds > 0


def _seen_states(summary: MatchSummary) -> list[MatchState.ValueType]:
    """The states that it may be in for anybody: whoever sees it late may see that it gets ready when it runs."""
    if summary.state == MATCH_STATE_RUNNING and summary.spectator_delay_seconds:
        return [MATCH_STATE_RUNNING, MATCH_STATE_GETTING_READY]
    return [summary.state]


def _due(summary: MatchSummary) -> tuple[int, int]:
    """From when on something may be due, as far as the lobby knows, and how far ahead at most; 0: nothing ever is.

    The last event is the one that the lobby knows, or a later one. Of a match with a clock the log has to be looked at.
    """
    since_ms, seconds = summary.changed_ms, 0
    if summary.state in OVER:
        return since_ms, _EVER_MS
    if has_clock(summary):
        return since_ms, summary.turn_seconds * _SECOND_MS + MOST_SPARED_MS
    if summary.state == MATCH_STATE_OPEN:
        seconds = summary.open_seconds
    elif summary.state == MATCH_STATE_GETTING_READY:
        since_ms, seconds = summary.opened_ms, summary.ready_seconds
    elif summary.state == MATCH_STATE_RUNNING:
        seconds = summary.idle_seconds
    return (since_ms + seconds * _SECOND_MS, seconds * _SECOND_MS + MOST_SPARED_MS) if seconds else (0, 0)
