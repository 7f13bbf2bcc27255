"""Narrates a match line by line, and draws its table as text, for terminals, pipes and files."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from rollbook.match.codec.moves import is_hidden
from rollbook.match.codec.notation import Header
from rollbook.match.events import (
    Chosen,
    Event,
    Forfeited,
    Happened,
    Opened,
    Ready,
    Resigned,
    Resumed,
    Sealed,
    SeatLeft,
    SeatTaken,
    Started,
    TimedOut,
)
from rollbook.match.fold import MatchFold, Misplaced
from rollbook.rules.chance import Draw, Throw
from rollbook.rules.game import Game, Perspective, ToChoose, Watcher
from rollbook.rules.options import write_value
from rollbook_replays.games import presentation
from rollbook_replays.games.blocks import Block, Room
from rollbook_replays.games.chart import chart_lines
from rollbook_replays.games.presentation import Moment, Sentence, sentence
from rollbook_replays.games.seats import Seating
from rollbook_replays.games.words import Words
from rollbook_replays.text import MUTED, STRONG, WIDTH, Text, printable, seat_names

_OF_NOBODY: Final[dict[type, str]] = {Started: "told.started", Resumed: "told.resumed"}
_OF_A_SEAT: Final[dict[type, str]] = {
    SeatTaken: "told.seat_taken",
    SeatLeft: "told.seat_left",
    TimedOut: "told.timed_out",
    Forfeited: "told.forfeited",
    Resigned: "told.resigned",
}
_NUMBER: Final = 7
"""Columns for the number of an event."""


class Narrator:
    """Narrates the events of one match, which have to come in order, from the second event on.

    The narrator folds the events up to the first hidden value, because only the views before and after a throw show its
    effect.
    """

    def __init__(self, game: Game[Any, Any, Any], opened: Opened) -> None:
        self._story = presentation(game.name).story
        self._match: MatchFold | None = MatchFold(game, opened)
        self.view: Any = game.view(self._match.state, Watcher.JUDGE)
        """The table after the last narrated move; None after an event with a hidden value."""
        self._seat = 0
        """The seat of the last choice."""

    def tell_opening(self, seating: Seating) -> list[Sentence]:
        """The sentence for event 1."""
        return [Sentence(Text.of(seating.words("told.opened")))]

    def tell(self, event: Event, seating: Seating) -> list[Sentence]:
        """The sentences for an event after the first."""
        if isinstance(event, Happened | Chosen):
            return self._move(event, seating)
        if self._match is not None:
            self._match.take(event)
        if isinstance(event, Sealed):
            return list(_tell_seal(event, seating))
        if isinstance(event, Ready):
            return [sentence(event.seat, "told.ready.entropy" if event.entropy else "told.ready", seating)]
        if type(event) in _OF_NOBODY:
            return [Sentence(Text.of(seating.words(_OF_NOBODY[type(event)])))]
        return [sentence(event.seat, _OF_A_SEAT[type(event)], seating)]  # type: ignore[union-attr]  # all others have a seat

    def _move(self, event: Happened[Any] | Chosen[Any], seating: Seating) -> list[Sentence]:
        before = self.view
        after = self._fold_event(event)
        if isinstance(event, Happened):
            on_turn = getattr(before, "seat", None)
            seat = self._seat if on_turn is None else on_turn
            return list(self._story(event.outcome, Moment(seat, before, after), seating))
        self._seat = event.seat
        sentences = list(self._story(event.choice, Moment(event.seat, before, after), seating))
        if event.by_caretaker and sentences:
            caretaker = Text.of((f" {seating.words('told.by_caretaker')}", MUTED))
            sentences[0] = replace(sentences[0], text=sentences[0].text + caretaker)
        return sentences

    def _fold_event(self, event: Happened[Any] | Chosen[Any]) -> Any:
        """The view after the event; None if it or an earlier event has a hidden value."""
        if self._match is not None and isinstance(event, Happened) and is_hidden(event.outcome):
            self._match = None
        if self._match is None:
            self.view = None
            return None
        self._match.take(event)
        self.view = self._match.game.view(self._match.state, Watcher.JUDGE)
        return self.view


def tell(
    header: Header, events: Iterable[tuple[int, Event]], words: Words | None = None, house: Collection[int] = ()
) -> Iterator[Text]:
    """The whole account: game and players, every event with its number, and the places.

    `house` are the seats of the service's own bots. The service knows their entropy, so it does not count.
    """
    game, opened = header.game, header.opened
    options = ", ".join(f"{name} {write_value(value)}" for name, value in opened.options.items())
    agreed = f" ({options})" if options else ""
    yield Text.of((f"{game.title}{agreed}, match {printable(opened.match_id)}", STRONG))
    whole = seating_of(game, opened, words=words, most=WIDTH)
    seats = [Text.of(f"{seat} ", whole.mark(seat), f" {whole.name(seat)}") for seat in range(len(opened.names))]
    yield Text.of("Seats: ", Text.join(", ", seats))
    if not any(brought for seat, brought in enumerate(header.entropy) if seat not in house):
        yield Text.of("No seat added randomness: the dice are fixed by the secret alone.")
    yield Text()
    seating = seating_of(game, opened, words=words)
    narrator = Narrator(game, opened)
    for sequence, event in events:
        try:
            sentences = narrator.tell(event, seating)
        except (LookupError, ValueError):
            # Events after a hidden value are not folded, so their seats and pieces are unchecked.
            raise Misplaced(f"event {sequence} names a seat or a piece that is not there") from None
        if isinstance(event, Sealed):
            yield from (Text(), *(part.text for part in sentences))
        else:
            yield from number_lines(sequence, sentences)


def draw_board(
    match: MatchFold, perspective: Perspective, words: Words | None = None, *, in_words: bool = False
) -> Block:
    """The current table from this perspective, drawn or in words, the standing, and the awaited move."""
    game = match.game
    seating = replace(seating_of(game, match.opened, perspective, words), is_over=match.sealed is not None)
    shown, view = presentation(game.name), game.view(match.state, perspective)
    lines = chart_lines(shown.charts(view, seating), WIDTH) if in_words else shown.board(view, seating, Room())
    if match.started:
        places = sorted((place, seat) for seat, place in enumerate(match.places()))
        said = ", ".join(f"{place}. {seating.name(seat)}" for place, seat in places)
        lines += [Text(), *Text.of(seating.words("standing", places=said)).wrap()]
    if match.started and match.sealed is None:
        awaited = match.awaited
        if isinstance(awaited, ToChoose):
            lines.append(Text.of(seating.words("awaited.choice", name=seating.name(awaited.seat))))
        elif isinstance(awaited, Throw | Draw):
            key = f"awaited.{awaited.name}"
            lines.append(Text.of(seating.words(key if key in seating.words else "awaited.chance")))
    return lines


def seating_of(
    game: Game[Any, Any, Any],
    opened: Opened,
    perspective: Perspective | None = None,
    words: Words | None = None,
    most: int = 24,
) -> Seating:
    """The seats of a match for a reader with this perspective, with names cut to `most` columns."""
    own = perspective if isinstance(perspective, int) else None
    spoken = (words or Words()).also(presentation(game.name).texts)
    options = game.settle(opened.options, len(opened.names))
    return Seating(seat_names(opened.names, most), own, options, spoken)


def number_lines(sequence: int, sentences: Iterable[Sentence]) -> Iterator[Text]:
    """The lines of an event, the first of them behind its number."""
    number = f"{sequence:>{_NUMBER - 2}}  "
    for part in sentences:
        first, *others = part.text.wrap(WIDTH - _NUMBER, indent=2)
        yield Text.of(number, first)
        number = " " * _NUMBER
        yield from (Text.of(number, other) for other in others)


def _tell_seal(event: Sealed, seating: Seating) -> Iterator[Sentence]:
    words = seating.words
    if event.places is None:
        yield Sentence(Text.of((abort_sentence(event.aborted or "", seating), STRONG)), alarm="all")
        return
    yield Sentence(Text.of((words("told.over"), STRONG)), alarm="all")
    for place, seat in sorted((place, seat) for seat, place in enumerate(event.places)):
        yield Sentence(Text.of((f"{place}. ", STRONG), seating.mark(seat), f" {seating.name(seat)}"), alarm="all")


def abort_sentence(reason: str, seating: Seating) -> str:
    """Why a match was aborted, as a sentence; in `reason`, the seats follow a colon.

    >>> abort_sentence("not_ready:0,1", Seating(("Anna", "Tom"), None, {}, Words("en")))
    'Aborted, not ready in time: Anna and Tom.'
    """
    why, _, seats = reason.partition(":")
    names = [seating.name(int(seat)) for seat in seats.split(",") if seat]
    return seating.words(f"told.aborted.{why}", name=seating.words.both(names or [""]))
