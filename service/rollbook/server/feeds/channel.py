"""A match that somebody watches, folded and projected once for all its watchers, and the frames that they get of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from rollbook.match.chain import Entry, Position, genesis
from rollbook.match.codec.envelope import Logged, read_bytes
from rollbook.match.codec.moves import Unreadable
from rollbook.match.decide import Declined, Why
from rollbook.match.events import LOG_LOST
from rollbook.match.fold import Misplaced
from rollbook.match.ledger import Ledger
from rollbook.rules.game import Perspective
from rollbook.rules.refusals import Refused
from rollbook.server.feeds.wakeups import Bell
from rollbook.server.out.projection import Projected, Projector
from rollbook.server.play.matches import LogLost

FELL_BEHIND: Final = 50
"""A watcher that had caught up and is so many events behind is told so."""


class End(Enum):
    """Why a feed ends."""

    MATCH_OVER = "match_over"
    TOKEN_EXPIRED = "token_expired"  # noqa: S105 - a reason
    DRAINING = "draining"
    PERSPECTIVE_CHANGED = "perspective_changed"


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The first frame: with whose eyes, and from where the feed goes on."""

    perspective: Perspective
    position: Position
    ledger: Ledger | None
    """The match as far as it may be seen; none as long as nothing of it may."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Events:
    """What has happened since the frame before; the ledger is the match after the last of them.

    One of these is shared by all who are told the same, so that whoever writes it down need do so only once.
    """

    events: Sequence[Projected]
    perspective: Perspective
    ledger: Ledger


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """There is nothing more at this moment."""

    position: Position


@dataclass(frozen=True, slots=True)
class FellBehind:
    """The watcher had caught up, and was too slow to stay so."""

    position: Position


@dataclass(frozen=True, slots=True)
class Revealed:
    """Everything that the sealed match hid."""

    log: Sequence[Logged]


@dataclass(frozen=True, slots=True)
class Beat:
    """Nothing has happened for a while."""

    ledger: Ledger
    delay_ms: int
    """By how much the watcher's now is in the past."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The last frame."""

    reason: End
    position: Position


Frame: TypeAlias = Confirmed | Events | CaughtUp | FellBehind | Revealed | Beat | Ended


class Channel:
    """A match that is watched: folded, projected, and known up to where it may be seen."""

    def __init__(self, match_id: str, bell: Bell, delay_ms: int = 0) -> None:
        """Begin before event 1; the bell rings whenever something changes."""
        self.match_id = match_id
        self.bell = bell
        self.delay_ms = delay_ms
        self.watchers = 0
        self.projector = Projector()
        self.logged: list[Logged] = []
        self.projected: list[Projected] = []
        self.followed = False
        """Whether it has been read to the end once, so that only what is new has to be waited for."""
        self.failure: Exception | None = None
        """Why nothing more will come, if the log cannot be followed any more."""
        self.lost: LogLost | None = None
        """That the log is not what was told; watchers hear of it as a failure once the match is sealed."""
        self.reading = asyncio.Lock()
        self.reads_begun = 0
        self.last_done = 0
        """The number of the last read of the log that came to its end."""
        self._snapshot: Ledger | None = None
        self._frames: dict[tuple[Perspective, int], Events] = {}

    @property
    def head(self) -> Position:
        """Behind the last event that may be seen; before event 1 as long as none may."""
        if not self.logged:
            return Position(0, genesis(self.match_id))
        return self.projector.ledger.head

    @property
    def sealed(self) -> bool:
        """Whether the seal may be seen."""
        return bool(self.logged) and self.projector.ledger.match.sealed is not None

    def extend(self, events: Sequence[Logged]) -> None:
        """Take the next events."""
        for logged in events:
            self.projected.append(self.projector.take(logged))
            self.logged.append(logged)
        if events:
            self._grown()

    def _grown(self) -> None:
        self._frames.clear()
        self._snapshot = None
        self.bell.ring()

    def read(self, after: int, entries: Sequence[Entry]) -> None:
        """Take entries of the log that stand behind `after`; those that are known already are passed over."""
        known = len(self.logged)
        if after > known or self.lost is not None:
            return  # they were asked for by a channel that was let go of meanwhile
        for logged, entry in zip(self.logged[after:], entries, strict=False):
            if logged.data != entry.event:
                self.lost = LogLost(self.match_id, known, logged.sequence - 1)
                return
        try:
            for entry in entries[known - after :]:
                game = self.projector.ledger.game if self.logged else None
                logged = read_bytes(entry.event, entry.private, game, self.match_id)
                self.projected.append(self.projector.take(logged))
                self.logged.append(logged)
        except (Misplaced, Refused):
            self.lost = LogLost(self.match_id, len(self.logged), len(self.logged))
        except Unreadable as unreadable:
            self.fail(unreadable)
        if len(self.logged) > known:
            self._grown()

    def fail(self, failure: Exception) -> None:
        """Nothing more will come."""
        self.failure = failure
        self.bell.ring()

    def snapshot(self) -> Ledger:
        """The match at the head, made once for everybody."""
        if self._snapshot is None:
            self._snapshot = self.projector.ledger.copy()
        return self._snapshot

    def frame(self, perspective: Perspective, after: int) -> Events:
        """All events behind this one, made once for everybody who sees the same and is at the same place.

        What is made for somebody who is far behind is not kept: hardly anybody else is at the same place.
        """
        frame = self._frames.get((perspective, after))
        if frame is None:
            frame = Events(tuple(self.projected[after:]), perspective, self.snapshot())
            if len(frame.events) < FELL_BEHIND:
                self._frames[perspective, after] = frame
        return frame

    def holds(self, position: Position) -> bool:
        """Whether the position is on this log."""
        if position.sequence > len(self.logged):
            return False
        link = self.logged[position.sequence - 1].link if position.sequence else genesis(self.match_id)
        return position.link == link

    def check(self, position: Position) -> None:
        """Decline a position that is not on this log, or ahead of it."""
        if self.holds(position):
            return
        head = self.head
        sealed = self.projector.ledger.match.sealed if self.logged else None
        if sealed is not None and sealed.aborted == LOG_LOST:
            raise LogLost(self.match_id, position.sequence, head.sequence)
        if position.sequence > head.sequence:
            raise Declined(
                Why.POSITION_AHEAD,
                f"the log ends at event {head.sequence}, before event {position.sequence}",
                head=head.sequence,
            )
        raise Declined(Why.POSITION_OTHER_LINK, f"event {position.sequence} has another link", head=head.sequence)
