"""Can't Stop's choices in words, with the chance to survive the next throw."""

from rollbook.rules.cant_stop.moves import Choice, Roll, Stop
from rollbook.rules.cant_stop.view import View
from rollbook.rules.game import Choices
from rollbook_replays.games.cant_stop.odds import chance, percent
from rollbook_replays.games.presentation import MenuEntry
from rollbook_replays.games.seats import Seating


def menu(view: View, legal: Choices[Choice], seating: Seating) -> tuple[MenuEntry, ...]:
    """One entry for each choice, in the order of the rules."""
    return tuple(_entry(view, choice, seating) for choice in legal)


def _entry(view: View, choice: Choice, seating: Seating) -> MenuEntry:
    words = seating.words
    if isinstance(choice, Roll):
        note = words("menu.roll.note", percent=percent(chance(view)))
        return MenuEntry(words("menu.roll"), note, choice, about=words("menu.roll.about"))
    if isinstance(choice, Stop):
        return MenuEntry(words("menu.stop"), _describe_kept(view, seating), choice, about=words("menu.stop.about"))
    columns = choice.columns
    if len(set(columns)) < len(columns):
        label = words("menu.two_steps", column=columns[0])
    else:
        label = words("menu.advance", columns=words.both(columns))
    note = words("menu.advance.note", percent=percent(chance(view, columns)))
    tops = [column for column in sorted(set(columns)) if _reaches_top(view, column, columns.count(column))]
    if tops:
        note = f"{words('menu.reaches_top', columns=words.both(tops))}; {note}"
    brief, about = " + ".join(map(str, columns)), words("menu.advance.about")
    return MenuEntry(label, note, choice, brief=brief, about=about, spots=tuple(map(str, columns)))


def _reaches_top(view: View, number: int, steps: int) -> bool:
    column = view.columns[number - view.columns[0].number]
    return (column.runner or column.markers[view.seat or 0]) + steps == column.length


def _describe_kept(view: View, seating: Seating) -> str:
    """The steps and columns that a stop now would keep, in words."""
    words = seating.words
    won = [column.number for column in view.columns if column.runner == column.length]
    steps = sum(column.runner - column.markers[view.seat or 0] for column in view.columns if column.runner)
    kept = words("menu.stop.note", steps=words.count("step", steps))
    return f"{words('menu.wins', columns=words.both(won))}; {kept}" if won else kept
