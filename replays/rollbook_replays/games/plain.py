"""The presentation of games without one of their own: shows values by the names of their fields."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any, Final

from rollbook.rules.chance import FirstSeat
from rollbook.rules.game import Choices
from rollbook_replays.games.blocks import Block, Room
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
from rollbook_replays.text import Text, printable

MOST_ENTRIES: Final = 100


def board(view: Any, _seating: Seating, room: Room, _spotlight: Spotlight = NOTHING_MARKED) -> Block:
    """A line for each field; nested values have lines of their own below."""
    return [part for shown in _value_lines(view) for part in shown.wrap(room.width, 4)]


def menu(_view: Any, legal: Choices[Any], _seating: Seating) -> tuple[MenuEntry, ...]:
    """The first `MOST_ENTRIES` choices; a game with more of them needs its own presentation."""
    return tuple(MenuEntry(_value_text(choice), choice=choice) for choice in islice(legal, MOST_ENTRIES))


def story(move: Any, moment: Moment, seating: Seating) -> Iterator[Sentence]:
    """The name of the move and its fields."""
    if isinstance(move, FirstSeat):
        yield sentence(move.seat, "told.first_seat", seating)
    else:
        yield sentence(moment.seat, "told.move", seating, move=_value_text(move))


def _value_lines(value: Any) -> Iterator[Text]:
    if not is_dataclass(value):
        yield Text.of(_value_text(value))
        return
    for field in fields(value):
        inner = getattr(value, field.name)
        if isinstance(inner, tuple) and any(map(is_dataclass, inner)):
            yield Text.of((field.name, "strong"))
            yield from (Text.of("  ", _value_text(item)) for item in inner)
        else:
            yield Text.of((field.name, "strong"), f" {_value_text(inner)}")


def _value_text(value: Any) -> str:
    if isinstance(value, tuple | list):
        return "(" + " ".join(map(_value_text, value)) + ")"
    if is_dataclass(value):
        of = " ".join(f"{field.name}={_value_text(getattr(value, field.name))}" for field in fields(value))
        return f"{type(value).__name__} {of}".strip()
    return printable(str(value))


PLAIN: Final = Presentation(board, menu, story, {})
