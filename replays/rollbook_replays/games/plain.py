"""The presentation of games without one of their own: shows values by the names of their fields."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from rollbook.rules.chance import FirstSeat
from rollbook.rules.game import Choices
from rollbook_replays.games.blocks import Block, Room
from rollbook_replays.games.chart import field_rows, value_text
from rollbook_replays.games.presentation import (
    NOTHING_MARKED,
    MenuEntry,
    Moment,
    Presentation,
    Sentence,
    Spotlight,
    sentence,
)
from rollbook_replays.games.seats import Seating
from rollbook_replays.text import Text

MOST_ENTRIES: Final = 100


def board(view: Any, _seating: Seating, room: Room, _spotlight: Spotlight = NOTHING_MARKED) -> Block:
    """A line for each field, and for each value of a field with nested values."""
    lines = (Text.of((name, "strong"), f" {value}") for name, value in field_rows(view))
    return [part for line in lines for part in line.wrap(room.width, 4)]


def menu(_view: Any, legal: Choices[Any], _seating: Seating) -> tuple[MenuEntry, ...]:
    """The first `MOST_ENTRIES` choices; a game with more of them needs its own presentation."""
    return tuple(MenuEntry(value_text(choice), choice=choice) for choice in islice(legal, MOST_ENTRIES))


def story(move: Any, moment: Moment, seating: Seating) -> Iterator[Sentence]:
    """The name of the move and its fields."""
    if isinstance(move, FirstSeat):
        yield sentence(move.seat, "told.first_seat", seating)
    else:
        yield sentence(moment.seat, "told.move", seating, move=value_text(move))


PLAIN: Final = Presentation(board, menu, story, {})
