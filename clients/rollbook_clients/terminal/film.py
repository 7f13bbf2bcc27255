"""A match from a file, with the table after every event, forwards and backwards."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rollbook.match.codec.envelope import Logged, read_bytes
from rollbook.match.codec.moves import Unreadable, is_hidden
from rollbook.match.events import Chosen, Event, Happened, Opened, Ready, SeatTaken
from rollbook.match.fold import MatchFold, Misplaced
from rollbook.replay_file.container import Replay
from rollbook.rules.catalogue import find
from rollbook.rules.game import Perspective, ToChoose, Watcher
from rollbook.rules.options import Options
from rollbook.rules.refusals import RefusedByRules
from rollbook_replays.games.presentation import Sentence, Spotlight
from rollbook_replays.games.seats import Seating, strength_mark
from rollbook_replays.games.words import Words
from rollbook_replays.narration import Narrator

BETWEEN_COPIES: Final = 32
"""Number of events between two kept copies of the state: a step back folds at most this many events."""


class NotShown(Exception):
    """The file cannot be played; the message is the reason."""


class StillHidden(NotShown):
    """The match was running when the file was made, and the file hides some events."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One event of the film."""

    event: Event
    time_ms: int
    begins_turn: bool
    """Whether a seat is awaited after this event that was not awaited before."""


class Film:
    """A replay file whose events have all been folded, and thereby checked against the rules."""

    def __init__(self, replay: Replay) -> None:
        """Fold the replay; raises NotShown if it breaks the rules or the format."""
        self.replay = replay
        try:
            self._logged = _read(replay)
            opened = self._logged[0].event
            assert isinstance(opened, Opened)  # noqa: S101 - `read_bytes` accepts only Opened as event 1
            self.opened = opened
            _check_seats(replay, len(opened.names))
            self.game: Any = find(opened.game, opened.ruleset)
            self.options: Options = self.game.settle(opened.options, len(opened.names))
            self._kept = [MatchFold(self.game, opened)]
            self.frames = self._fold()
        except (Unreadable, Misplaced, RefusedByRules, LookupError) as wrong:
            raise NotShown(str(wrong)) from None

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def perspectives(self) -> Sequence[Perspective]:
        """The perspectives that the file can show: all if it holds everything, else its own and the public one."""
        seats = range(len(self.opened.names))
        seen = self.replay.perspective
        if seen is None or seen is Watcher.JUDGE:
            return (Watcher.JUDGE, Watcher.PUBLIC, *seats)
        return (Watcher.PUBLIC,) if seen is Watcher.PUBLIC else (seen, Watcher.PUBLIC)

    @property
    def dice_fixed(self) -> bool:
        """Whether all dice come from the service alone: no seat added entropy in this file."""
        return not any(isinstance(frame.event, Ready) and frame.event.entropy for frame in self.frames)

    def bots(self, words: Words) -> tuple[str, ...]:
        """By seat: the words that mark a bot of the house, empty for a person; files do not record strengths."""
        taken = [frame.event for frame in self.frames if isinstance(frame.event, SeatTaken)]
        house = {event.seat: event.house for event in taken}
        return tuple(strength_mark(0, words) * house.get(seat, False) for seat in range(len(self.opened.names)))

    @property
    def turns(self) -> list[int]:
        """The positions at which a turn begins."""
        return [position for position, frame in enumerate(self.frames, 1) if frame.begins_turn]

    def turn_at(self, position: int) -> int:
        """The number of the turn at this position; 0 before the first turn."""
        return sum(turn <= position for turn in self.turns)

    def view(self, position: int, perspective: Perspective) -> Any:
        """The table after `position` events, as seen from this perspective."""
        return self.game.view(self._match(position).state, perspective)

    def walk(self) -> Iterator[tuple[Any, Any, tuple[int, ...]]]:
        """Yield for every event the move (None without one), the judge's view after it, and the place of every seat."""
        match = self._kept[0].copy()
        for frame in self.frames:
            event = frame.event
            if not isinstance(event, Opened):
                match.take(event)
            move = event.choice if isinstance(event, Chosen) else event.outcome if isinstance(event, Happened) else None
            yield move, self.game.view(match.state, Watcher.JUDGE), match.places()

    def scene(self, position: int, perspective: Perspective) -> tuple[Any, Spotlight]:
        """The view at this position, and a spotlight on what the last choice and its outcomes changed."""
        moves: list[Any] = []
        first = position
        while first > 1:
            event = self.event_at(first, perspective)
            if isinstance(event, Chosen | Happened):
                moves.append(event.choice if isinstance(event, Chosen) else event.outcome)
            if not isinstance(event, Happened):
                break
            first -= 1
        since, before = (self.view(max(1, at - 1), perspective) for at in (first, position))
        return self.view(position, perspective), Spotlight(moves=tuple(reversed(moves)), since=since, before=before)

    def event_at(self, position: int, perspective: Perspective) -> Event:
        """The event at this position as seen from this perspective."""
        logged = self._logged[position - 1]
        return self._match(position - 1).as_seen(logged.event, perspective) if logged.private else logged.event

    def _fold(self) -> list[Frame]:
        match = self._kept[0].copy()
        frames = [Frame(self.opened, self._logged[0].time_ms, begins_turn=False)]
        on_turn: int | None = None
        for logged in self._logged[1:]:
            if isinstance(logged.event, Happened) and is_hidden(logged.event.outcome):
                raise StillHidden(
                    f"event {logged.sequence} is hidden in this file; it can be shown when the match is over"
                )
            match.take(logged.event)
            if logged.sequence % BETWEEN_COPIES == 0:
                self._kept.append(match.copy())
            awaited = match.awaited if match.started and match.sealed is None else None
            begins = isinstance(awaited, ToChoose) and awaited.seat != on_turn
            if isinstance(awaited, ToChoose):
                on_turn = awaited.seat
            frames.append(Frame(logged.event, logged.time_ms, begins))
        return frames

    def _match(self, position: int) -> MatchFold:
        kept = self._kept[position // BETWEEN_COPIES].copy()
        for logged in self._logged[kept.sequence : position]:
            kept.take(logged.event)
        return kept


def _read(replay: Replay) -> list[Logged]:
    first = read_bytes(replay.events[0], match_id=replay.match_id)
    opened = first.event
    game = find(opened.game, opened.ruleset) if isinstance(opened, Opened) else None
    private = replay.private
    logged = [first] + [
        read_bytes(data, private.get(sequence, b""), game) for sequence, data in enumerate(replay.events[1:], 2)
    ]
    for sequence, each in enumerate(logged, 1):
        if each.sequence != sequence:
            raise NotShown(f"event {sequence} calls itself event {each.sequence}")
    return logged


def _check_seats(replay: Replay, seats: int) -> None:
    if replay.names and len(replay.names) != seats:
        raise NotShown(f"the file names {len(replay.names)} players, but the match has {seats} seats")
    if type(replay.perspective) is int and replay.perspective not in range(seats):
        raise NotShown(f"the file was made for seat {replay.perspective} of {seats}")


class Account:
    """The sentences about a film from one perspective, generated up to the position that was asked for."""

    def __init__(self, film: Film, perspective: Perspective) -> None:
        self._film = film
        self._perspective = perspective
        self._narrator = Narrator(film.game, film.opened)
        self._told: list[list[Sentence]] = []
        """Sentences by event, event 1 first."""

    def until(self, position: int, seating: Seating) -> list[Sentence]:
        """The sentences of all events up to this position."""
        self.of(position, seating)
        return [line for told in self._told[:position] for line in told]

    def of(self, position: int, seating: Seating) -> list[Sentence]:
        """The sentences of the event at this position."""
        for at in range(len(self._told) + 1, position + 1):
            if at == 1:
                self._told.append(self._narrator.tell_opening(seating))
            else:
                self._told.append(self._narrator.tell(self._film.event_at(at, self._perspective), seating))
        return self._told[position - 1]
