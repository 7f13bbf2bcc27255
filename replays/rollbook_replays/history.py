"""A replay from one perspective: header, events, and the board after any event.

The bytes of an event contain no hidden values, and the public sees only them. The hidden parts beside the events are
for the perspective that the file was made for. Only a file without missing hidden values can show other seats' views.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from rollbook.match.codec.envelope import read_bytes
from rollbook.match.codec.moves import is_hidden
from rollbook.match.codec.notation import Header
from rollbook.match.events import Event, Happened, Opened, Ready, Sealed, SeatTaken
from rollbook.match.fold import MatchFold, Misplaced
from rollbook.replay_file.container import Replay
from rollbook.rules.game import Perspective, Watcher
from rollbook.rules.refusals import RefusedByRules
from rollbook_replays.text import printable

OPEN_TO: Final = (None, Watcher.JUDGE)
"""Files for these perspectives contain all hidden values of past events."""


class Broken(Exception):
    """The events do not form a match; `rollbook audit` names the check that fails."""


class NotToBeSeen(Exception):
    """The file has the match, but not the requested event or perspective."""


@dataclass(frozen=True, slots=True)
class Look:
    """A match as one perspective sees it."""

    header: Header
    events: tuple[tuple[int, Event], ...]
    """All events except the first, with their numbers."""
    perspective: Perspective
    folded: tuple[Event, ...]
    """The events as the file has them, for the fold."""

    @property
    def count(self) -> int:
        """The number of the last event."""
        return len(self.events) + 1

    @property
    def is_over(self) -> bool:
        """Whether the match was sealed."""
        return bool(self.folded) and isinstance(self.folded[-1], Sealed)

    @property
    def house(self) -> frozenset[int]:
        """The seats that the service's own bots (the house) took last, as the log names them."""
        last = {event.seat: event.house for event in self.folded if isinstance(event, SeatTaken)}
        return frozenset(seat for seat, house in last.items() if house)

    def at(self, sequence: int) -> MatchFold:
        """The match after this event; raises `NotToBeSeen` if the event is missing or hidden values are."""
        if not 1 <= sequence <= self.count:
            raise NotToBeSeen(f"there is no event {sequence}: the file has 1 to {self.count}")
        match = _begin_fold(self.header.opened)
        for _ in _fold(match, self.folded[: sequence - 1]):
            pass
        return match


def look(replay: Replay, perspective: Perspective | None = None) -> Look:
    """The match from this perspective; None means the perspective that the file was made for.

    Raises `Unreadable`, `Broken`, or `NotToBeSeen` if the file does not have this perspective.
    """
    opened, events = _read(replay, replay.private)
    _may_see(replay.perspective, perspective, len(opened.names))
    if perspective is Watcher.PUBLIC:
        _, seen = _read(replay, {})
    elif perspective in {None, replay.perspective}:
        seen = events
    else:
        match = _begin_fold(opened)
        seen = tuple(match.as_seen(event, perspective) for event in _fold(match, events))
    if perspective is None:
        perspective = Watcher.JUDGE if replay.perspective is None else replay.perspective
    return Look(Header(opened, _entropy(opened, events)), tuple(enumerate(seen, start=2)), perspective, events)


def _may_see(made_for: Perspective | None, perspective: Perspective | None, seats: int) -> None:
    if type(made_for) is int and made_for not in range(seats):
        raise Broken(f"the file was made for seat {made_for} of {seats}")
    if type(perspective) is int and perspective not in range(seats):
        raise NotToBeSeen(f"there is no seat {perspective}: the match has seats 0 to {seats - 1}")
    if perspective not in {None, Watcher.PUBLIC, made_for} and made_for not in OPEN_TO:
        whose = f"seat {made_for}" if type(made_for) is int else "the public"
        raise NotToBeSeen(f"the file holds only what {whose} saw of the running match")


def _read(replay: Replay, private: Mapping[int, bytes]) -> tuple[Opened, tuple[Event, ...]]:
    first, *others = replay.events
    opened = read_bytes(first, match_id=replay.match_id).event
    if not isinstance(opened, Opened):
        raise Broken("event 1 does not open the match")
    if replay.names:
        if len(replay.names) != len(opened.names):
            raise Broken(f"the file names {len(replay.names)} players, but the match has {len(opened.names)} seats")
        opened = replace(opened, names=tuple(map(printable, replay.names)))
    game = Header(opened, ()).game
    events = []
    for sequence, data in enumerate(others, start=2):
        logged = read_bytes(data, private.get(sequence, b""), game)
        if logged.sequence != sequence:
            raise Broken(f"event {sequence} calls itself event {logged.sequence}")
        events.append(logged.event)
    return opened, tuple(events)


def _entropy(opened: Opened, events: tuple[Event, ...]) -> tuple[bytes, ...]:
    entropy = [b""] * len(opened.names)
    for event in events:
        if isinstance(event, Ready) and event.seat in range(len(entropy)):
            entropy[event.seat] = event.entropy
    return tuple(entropy)


def _begin_fold(opened: Opened) -> MatchFold:
    return MatchFold(Header(opened, ()).game, opened)


def _fold(match: MatchFold, events: tuple[Event, ...]) -> Iterator[Event]:
    """Yield every event before the match takes it; raises `NotToBeSeen` at a hidden value, `Broken` at a refusal."""
    for event in events:
        if isinstance(event, Happened) and is_hidden(event.outcome):
            raise NotToBeSeen(f"event {match.sequence + 1} hides something, so the board after it is not known")
        yield event
        try:
            match.take(event)
        except (Misplaced, RefusedByRules) as wrong:
            raise Broken(f"event {match.sequence + 1} cannot stand there: {wrong}") from None
