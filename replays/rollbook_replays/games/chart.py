"""The board in words: tables of text, one for each zone, complete for the seat that looks.

They contain everything that the view contains, so that the position can be rebuilt from them. A row begins with its
heading. Seats are written as sign and name, because names alone may be equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from rollbook_replays.games.blocks import Block
from rollbook_replays.games.seats import Seating, sign
from rollbook_replays.games.words import Words
from rollbook_replays.text import STRONG, Text, printable


@dataclass(frozen=True, slots=True)
class Chart:
    """One table of words."""

    name: str
    """The name of the zone, part of the ids of the table and its rows."""
    title: str
    head: tuple[str, ...]
    """The headings of the columns; empty for a list of facts."""
    rows: tuple[tuple[str, ...], ...]


def facts(name: str, title: str, rows: Iterable[tuple[str, object]]) -> Chart:
    """A chart without column headings: the names of facts, and the facts."""
    return Chart(name, title, (), tuple((fact, str(value)) for fact, value in rows))


def seat_name(seat: int | None, seating: Seating) -> str:
    """Sign and name of a seat; the word for none."""
    return seating.words("chart.no_seat") if seat is None else f"{sign(seat)} {seating.name(seat)}"


def enumerate_items(items: Iterable[object], words: Words) -> str:
    """The items with commas; the word for none if there are none."""
    return ", ".join(map(str, items)) or words("chart.none")


def yes_or_no(is_so: object, words: Words) -> str:
    """The word for yes or no."""
    return words("chart.yes" if is_so else "chart.no")


def seats_chart(view: Any, seating: Seating, columns: Mapping[str, Sequence[object]]) -> Chart:
    """A row for each seat: whether it is on turn, these columns, and its place."""
    words = seating.words
    head = (words("chart.seat"), words("chart.turn"), *columns, words("chart.place"))
    rows = (
        (
            seat_name(seat, seating),
            yes_or_no(seat == view.seat, words),
            *(str(cells[seat]) for cells in columns.values()),
            str(place),
        )
        for seat, place in enumerate(view.places)
    )
    return Chart("seats", words("chart.seats"), head, tuple(rows))


def plain_charts(view: Any, seating: Seating) -> tuple[Chart, ...]:
    """The fields of a view by their names, for games without charts of their own; nested values have rows below."""
    return (facts("view", seating.words("chart.table"), field_rows(view)),)


def field_rows(view: Any) -> Iterator[tuple[str, str]]:
    """The names of the fields of a view, each with its value."""
    if not is_dataclass(view):
        yield "", value_text(view)
        return
    for field in fields(view):
        inner = getattr(view, field.name)
        if isinstance(inner, tuple) and any(map(is_dataclass, inner)):
            yield from ((f"{field.name} {number}", value_text(item)) for number, item in enumerate(inner, 1))
        else:
            yield field.name, value_text(inner)


def value_text(value: Any) -> str:
    """A value of the rules by the names of its fields."""
    if isinstance(value, tuple | list):
        return "(" + " ".join(map(value_text, value)) + ")"
    if is_dataclass(value):
        of = " ".join(f"{field.name}={value_text(getattr(value, field.name))}" for field in fields(value))
        return f"{type(value).__name__} {of}".strip()
    return printable(str(value))


def chart_lines(charts: Iterable[Chart], wide: int) -> Block:
    """The charts as lines: each row as its heading and its cells with the headings of their columns."""
    lines: Block = []
    for chart in charts:
        lines += [Text(), Text.of((chart.title, STRONG))]
        for row, *cells in chart.rows:
            named = zip(chart.head[1:] or ("",) * len(cells), cells, strict=True)
            said = "; ".join(f"{name} {cell}".strip() for name, cell in named)
            lines += Text.of(f"{row}: {said}").wrap(wide, 2)
    return lines[1:]
