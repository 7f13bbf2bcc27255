"""A match told line by line, for people on a terminal or in a pipe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from rollbook.match.codec.moves import is_hidden
from rollbook.match.codec.notation import Header
from rollbook.match.events import (
    Chosen,
    Event,
    Forfeited,
    Happened,
    Ready,
    Resigned,
    Resumed,
    Sealed,
    SeatLeft,
    SeatTaken,
    Started,
    TimedOut,
)
from rollbook.match.fold import Match, Misplaced
from rollbook.rules.chance import Draw, Throw
from rollbook.rules.game import Perspective, ToChoose
from rollbook.rules.options import written
from rollbook_replays.boards import TELLINGS
from rollbook_replays.text import (
    FAINT,
    HEADING,
    WIDTH,
    Pen,
    called,
    name_width,
    padded,
    plain,
    printable,
    seat_style,
    wrapped,
)

_OF_A_SEAT: Final[dict[type, str]] = {
    SeatTaken: "takes a seat",
    SeatLeft: "leaves the seat",
    TimedOut: "runs out of time; the caretaker plays this turn",
    Forfeited: "forfeits; the caretaker plays on",
    Resigned: "resigns; the caretaker plays on",
}


def tell(header: Header, events: Iterable[tuple[int, Event]], pen: Pen = plain) -> Iterator[str]:
    """What was played by whom, every event, and the places, a line each."""
    opened = header.opened
    names = called(opened.names)
    whole = called(opened.names, most=WIDTH)
    options = ", ".join(f"{name} {written(value)}" for name, value in opened.options.items())
    yield pen(f"{header.game.title} ({options}), match {printable(opened.match_id)}", HEADING) + "\n"
    yield f"Seats: {', '.join(f'{seat} {pen(name, seat_style(seat))}' for seat, name in enumerate(whole))}\n"
    if not any(header.entropy):
        yield "No seat brought entropy of its own: the dice are fixed by the secret alone.\n"
    yield "\n"
    follower = _Follower(header, names, pen)
    for sequence, event in events:
        try:
            lines = list(_end(event, names, pen)) if isinstance(event, Sealed) else follower.lines(sequence, event)
        except (LookupError, ValueError):
            # What hides something cannot be folded, so nobody has looked at it before.
            raise Misplaced(f"event {sequence} names a seat or a piece that is not there") from None
        yield from lines


def draw_board(match: Match, eyes: Perspective, pen: Pen = plain) -> Iterator[str]:
    """The table as these eyes see it after what the match has taken so far."""
    names = called(match.opened.names)
    view = match.game.view(match.state, eyes)
    for line in TELLINGS[match.game.name].board(view, names, pen):
        yield f"{line}\n"
    if match.started and match.sealed is None:
        awaited = match.awaited
        if isinstance(awaited, ToChoose):
            yield f"\nAwaited: a choice of {pen(names[awaited.seat], seat_style(awaited.seat))}\n"
        elif isinstance(awaited, Throw | Draw):
            yield f"\nAwaited: chance, {awaited.name.replace('_', ' ')}\n"


class _Follower:
    """Says of every event who did what.

    Whose throw it was, and what the dice showed that are named, stands only in the state, so the events are folded as
    far as they hide nothing; games that hide something have no throws.
    """

    def __init__(self, header: Header, names: tuple[str, ...], pen: Pen) -> None:
        self._telling = TELLINGS[header.opened.game]
        self._match = Match(header.game, header.opened)
        self._names = names
        self._pen = pen
        self._folds = True

    def lines(self, sequence: int, event: Event) -> list[str]:
        """The event's line, or as many as it needs."""
        columns = name_width(self._names)
        who, what = self._said(event)
        name = " " * columns if who is None else self._pen(padded(self._names[who], columns), seat_style(who))
        return [f"{line}\n" for line in wrapped(what.split(" "), columns + 9, f"{sequence:>5}  {name}")]

    def _said(self, event: Event) -> tuple[int | None, str]:
        """The seat that did it, if one did, and what."""
        match = self._match
        is_throw = isinstance(event, Happened) and isinstance(match.awaited, Throw)
        turn_of = match.state.seat
        thrower = self._telling.thrower(match.state) if is_throw else None
        who, what = self._sentence(event)
        self._folds = self._folds and not (isinstance(event, Happened) and is_hidden(event.outcome))
        if self._folds:
            match.take(event)
        if is_throw and self._telling.turn_lost and match.state.seat != turn_of:
            what += f"   {self._pen(self._telling.turn_lost, FAINT)}"
        return thrower if is_throw else who, what

    def _sentence(self, event: Event) -> tuple[int | None, str]:
        match event:
            case Happened(outcome):
                return None, self._telling.happened(outcome, self._names, self._pen)
            case Chosen(seat, choice, by_caretaker):
                what = self._telling.chosen(choice, self._names, self._match.state)
                return seat, what + (" (caretaker)" if by_caretaker else "")
            case Ready(seat, entropy):
                return seat, "is ready" + (" and reveals its entropy" if entropy else "")
            case Started():
                return None, "the match starts"
            case Resumed():
                return None, "the service is back; nobody is charged for its absence"
            case SeatTaken() | SeatLeft() | TimedOut() | Forfeited() | Resigned():
                return event.seat, _OF_A_SEAT[type(event)]
            case _:
                raise TypeError("event 1 and the seal have no sentence of their own")


def _end(event: Sealed, names: tuple[str, ...], pen: Pen) -> Iterator[str]:
    yield "\n"
    if event.places is None:
        yield f"Aborted: {event.aborted}\n"
        return
    for place, seat in sorted((place, seat) for seat, place in enumerate(event.places)):
        yield f"{place}. {pen(names[seat], seat_style(seat))}\n"
