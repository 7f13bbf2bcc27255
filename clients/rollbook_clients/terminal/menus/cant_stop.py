"""Can't Stop's choices in words, with the chance to survive the next throw."""

from __future__ import annotations

from collections.abc import Iterable

from rollbook.v1.cant_stop_pb2 import CantStopChoice, CantStopView
from rollbook.v1.games_pb2 import Choice
from rollbook_clients.terminal.menus.entry import Entry
from rollbook_clients.terminal.seating import Seating
from rollbook_clients.terminal.survival import chance, percent


def entries(view: CantStopView, legal: Iterable[CantStopChoice], seating: Seating) -> tuple[Entry, ...]:
    """An entry a choice, in the order of the rules."""
    return tuple(_entry(view, choice, seating) for choice in legal)


def _entry(view: CantStopView, choice: CantStopChoice, seating: Seating) -> Entry:
    words = seating.words
    leads_to = Choice(cant_stop=choice)
    kind = choice.WhichOneof("kind")
    if kind == "roll":
        return Entry(words("cant_stop.roll"), words("cant_stop.roll.note", percent=percent(chance(view))), leads_to)
    if kind == "stop":
        return Entry(words("cant_stop.stop"), _kept(view, seating), leads_to)
    columns = tuple(choice.advance.columns)
    if len(set(columns)) < len(columns):
        label = words("cant_stop.two_steps", column=columns[0])
    else:
        label = words("cant_stop.advance", columns=words.both(map(str, columns)))
    survives = words("cant_stop.advance.note", percent=percent(chance(view, columns)))
    tops = [column for column in sorted(set(columns)) if _reaches_top(view, column, columns.count(column))]
    if tops:
        survives = f"{words('cant_stop.reaches_top', columns=words.both(map(str, tops)))}; {survives}"
    return Entry(label, survives, leads_to)


def _reaches_top(view: CantStopView, number: int, steps: int) -> bool:
    column = view.columns[number - view.columns[0].number]
    return (column.runner or column.markers[view.seat]) + steps == column.length


def _kept(view: CantStopView, seating: Seating) -> str:
    """What stopping now is worth."""
    words = seating.words
    won = [str(column.number) for column in view.columns if column.runner == column.length]
    steps = sum(column.runner - column.markers[view.seat] for column in view.columns if column.runner)
    kept = words("cant_stop.stop.note", steps=words.count("step", steps))
    return f"{words('cant_stop.wins', columns=words.both(won))}; {kept}" if won else kept
