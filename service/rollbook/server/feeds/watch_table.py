"""The state machine of one feed: (state, input) -> (action, next state).

`Feeds.watch` observes one input at a time, looks the cell up in TABLE, and carries out its action.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from types import MappingProxyType
from typing import Final

from rollbook.v1.feed_pb2 import (
    END_REASON_DRAINING,
    END_REASON_MATCH_OVER,
    END_REASON_PERSPECTIVE_CHANGED,
    END_REASON_TOKEN_EXPIRED,
    EndReason,
)


class WatchState(Enum):
    """Where a watcher is."""

    CATCHING_UP = auto()
    """It has not received `caught_up` since it began or fell behind."""
    FOLLOWING = auto()
    """It has caught up, and waits for the next event."""
    ENDED = auto()
    """It has received its last frame."""


class WatchInput(Enum):
    """What a feed observes; if several apply, the first counts."""

    DRAINING = auto()
    """The process drains."""
    EXPIRED = auto()
    """The watcher's token has expired."""
    PERSPECTIVE_CHANGED = auto()
    """The watcher has taken or left a seat."""
    FAR_BEHIND = auto()
    """At least FELL_BEHIND events are behind the watcher's position."""
    BEHIND = auto()
    """Fewer events are behind the watcher's position."""
    SEALED = auto()
    """The watcher has every event, and the last one is the seal."""
    SILENT = auto()
    """The watcher has every visible event, and has waited for a heartbeat's time, or another player came or left."""
    IDLE = auto()
    """None of these."""


class WatchAction(Enum):
    """What a feed does."""

    SEND_EVENTS = auto()
    """Send all events behind the watcher's position in one frame."""
    SEND_CAUGHT_UP = auto()
    SEND_FELL_BEHIND = auto()
    SEND_HEARTBEAT = auto()
    REVEAL = auto()
    """Send the hidden parts of all events, then the last frame."""
    END = auto()
    """Send the last frame."""
    WAIT = auto()
    """Send nothing."""


END_REASONS: Final[Mapping[WatchInput, EndReason.ValueType]] = MappingProxyType(
    {
        WatchInput.DRAINING: END_REASON_DRAINING,
        WatchInput.EXPIRED: END_REASON_TOKEN_EXPIRED,
        WatchInput.PERSPECTIVE_CHANGED: END_REASON_PERSPECTIVE_CHANGED,
        WatchInput.SEALED: END_REASON_MATCH_OVER,
    }
)
"""The reason in the last frame, by the input that ends the feed."""

TABLE: Final[Mapping[tuple[WatchState, WatchInput], tuple[WatchAction, WatchState]]] = MappingProxyType(
    {
        (WatchState.CATCHING_UP, WatchInput.DRAINING): (WatchAction.END, WatchState.ENDED),
        (WatchState.CATCHING_UP, WatchInput.EXPIRED): (WatchAction.END, WatchState.ENDED),
        (WatchState.CATCHING_UP, WatchInput.PERSPECTIVE_CHANGED): (WatchAction.END, WatchState.ENDED),
        (WatchState.CATCHING_UP, WatchInput.FAR_BEHIND): (WatchAction.SEND_EVENTS, WatchState.CATCHING_UP),
        (WatchState.CATCHING_UP, WatchInput.BEHIND): (WatchAction.SEND_EVENTS, WatchState.CATCHING_UP),
        (WatchState.CATCHING_UP, WatchInput.SEALED): (WatchAction.SEND_CAUGHT_UP, WatchState.FOLLOWING),
        (WatchState.CATCHING_UP, WatchInput.IDLE): (WatchAction.SEND_CAUGHT_UP, WatchState.FOLLOWING),
        (WatchState.FOLLOWING, WatchInput.DRAINING): (WatchAction.END, WatchState.ENDED),
        (WatchState.FOLLOWING, WatchInput.EXPIRED): (WatchAction.END, WatchState.ENDED),
        (WatchState.FOLLOWING, WatchInput.PERSPECTIVE_CHANGED): (WatchAction.END, WatchState.ENDED),
        (WatchState.FOLLOWING, WatchInput.FAR_BEHIND): (WatchAction.SEND_FELL_BEHIND, WatchState.CATCHING_UP),
        (WatchState.FOLLOWING, WatchInput.BEHIND): (WatchAction.SEND_EVENTS, WatchState.FOLLOWING),
        (WatchState.FOLLOWING, WatchInput.SEALED): (WatchAction.REVEAL, WatchState.ENDED),
        (WatchState.FOLLOWING, WatchInput.SILENT): (WatchAction.SEND_HEARTBEAT, WatchState.FOLLOWING),
        (WatchState.FOLLOWING, WatchInput.IDLE): (WatchAction.WAIT, WatchState.FOLLOWING),
    }
)
"""Every cell that can occur. Only a watcher that follows waits, so SILENT never occurs while one catches up."""
