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
    return [part for shown in _shown(view) for part in shown.wrapped(room.width, 4)]


def menu(_view: Any, legal: Choices[Any], _seating: Seating) -> tuple[MenuEntry, ...]:
    """The first `MOST_ENTRIES` choices; a game with more of them needs its own presentation."""
    return tuple(MenuEntry(_said(choice), choice=choice) for choice in islice(legal, MOST_ENTRIES))


def story(move: Any, moment: Moment, seating: Seating) -> Iterator[Sentence]:
    """The name of the move and its fields."""
    if isinstance(move, FirstSeat):
        yield sentence(move.seat, "told.first_seat", seating)
    else:
        yield sentence(moment.seat, "told.move", seating, move=_said(move))


def _shown(value: Any) -> Iterator[Text]:
    if not is_dataclass(value):
        yield Text.of(_said(value))
        return
    for field in fields(value):
        inner = getattr(value, field.name)
        if isinstance(inner, tuple) and any(map(is_dataclass, inner)):
            yield Text.of((field.name, "strong"))
            yield from (Text.of("  ", _said(item)) for item in inner)
        else:
            yield Text.of((field.name, "strong"), f" {_said(inner)}")


def _said(value: Any) -> str:
    if isinstance(value, tuple | list):
        return "(" + " ".join(map(_said, value)) + ")"
    if is_dataclass(value):
        of = " ".join(f"{field.name}={_said(getattr(value, field.name))}" for field in fields(value))
        return f"{type(value).__name__} {of}".strip()
    return printable(str(value))


PLAIN: Final = Presentation(board, menu, story, {})
