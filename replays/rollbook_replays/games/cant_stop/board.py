"""Can't Stop's board: eleven columns in the shape of a stop sign, markers and runners on their fields, the dice."""

from itertools import zip_longest
from typing import Final

from rollbook.rules.cant_stop.moves import RUNNERS, Advance, Rolled, Stop
from rollbook.rules.cant_stop.view import Column, View
from rollbook_replays.games.blocks import BLANK, PIPS, Block, Room, beside, draw_dice
from rollbook_replays.games.cant_stop.odds import chance, percent
from rollbook_replays.games.presentation import NOTHING_MARKED, Spotlight
from rollbook_replays.games.seats import Seating, seat_style, sign
from rollbook_replays.text import MUTED, SPOT, STRONG, Text

RUNNER: Final = "●"
MOVED: Final = "◉"
"""A runner that the last move moved."""
CONSIDERED: Final = "○"
"""The position of a runner after the choice under the cursor."""
LOST: Final = "✗"
"""A runner that a bust takes off the board."""
CELL: Final = 4
"""Cells of a field: room for a runner and the markers of three other seats."""
WIDEST_CELL: Final = 7
HIGHEST: Final = 13
DICE: Final = 4
DIE: Final = 5
PANEL: Final = 24
HELD: Final = 4
PAIRINGS: Final = ((0, 1, 2, 3), (0, 2, 1, 3), (0, 3, 1, 2))
"""Every way to make two pairs of four dice: the first two and the last two belong together."""

GROUNDS: Final = {"field", "number"}
"""Styles of the ground below the signs."""

PALETTE: Final = {
    "field": "on #2d333b",
    "empty": "#768390",
    "number": "bold #f0f6fc on #57606a",
    "runner": "bold #ffffff on #b62324",
    "placed": "bold #ff7b72",
    "die": "#f0f6fc",
    "pair0": "#7ee787",
    "pair1": "#79c0ff",
}


def board(view: View, seating: Seating, room: Room, spotlight: Spotlight = NOTHING_MARKED) -> Block:
    """The board, and to its right the panel of players and dice; the fields grow with the room."""
    cell = max(CELL, min((room.width - PANEL) // len(view.columns) - 1, WIDEST_CELL))
    panel = HELD + seating.breadth(PANEL - HELD, room.width - (cell + 1) * len(view.columns) - HELD)
    rows = 2 if room.has_rows(2 * HIGHEST) else 1
    shown = _before_a_bust(view, spotlight) or view
    return beside(_columns(shown, cell, rows, spotlight, view), _panel(view, seating, spotlight, panel), gap=1)


def _before_a_bust(view: View, spotlight: Spotlight) -> View | None:
    """The view before a throw that was a bust, which the board shows again to mark the lost runners; else None."""
    before: View | None = spotlight.before
    is_lost = isinstance(spotlight.last, Rolled) and before is not None and before.seat != view.seat
    return before if is_lost else None


def _columns(view: View, cell: int, rows: int, spotlight: Spotlight, now: View) -> Block:
    lines = []
    for row in range(HIGHEST):
        fields = [
            _field(column, HIGHEST - row - (HIGHEST - column.length) // 2, cell, _signs(view, column, spotlight, now))
            for column in view.columns
        ]
        lines.append(Text.join(" ", fields))
        if rows > 1:
            lines.append(Text.join(" ", [_ground(field, cell) for field in fields]))
    return lines


def _ground(field: Text, cell: int) -> Text:
    """The second line of a field, which has no signs."""
    words = field.spans[-1][1].split()
    return Text.of((" " * cell, " ".join(word for word in words if word in GROUNDS or word.startswith(SPOT))))


def _signs(view: View, column: Column, spotlight: Spotlight, now: View) -> dict[int, Text]:
    """The signs on the fields of a column, by height."""
    signs: dict[int, Text] = {}
    if column.runner:
        signs[column.runner] = _runner(view, column, spotlight, now)
    for seat, marker in enumerate(column.markers):
        if marker:
            moved = _has(Stop, spotlight) and _had_runner(spotlight.since, column.number, seat)
            style = f"{seat_style(seat)} {'latest' if moved else STRONG}"
            signs[marker] = signs.get(marker, Text()) + Text.of((sign(seat), style))
    if isinstance(spotlight.considered, Advance) and column.number in spotlight.considered.columns:
        own = column.runner or column.markers[view.seat or 0]
        target = min(own + spotlight.considered.columns.count(column.number), column.length)
        signs[target] = Text.of((CONSIDERED, "considered")) + signs.get(target, Text())
    return signs


def _runner(view: View, column: Column, spotlight: Spotlight, now: View) -> Text:
    if view is not now:
        return Text.of((LOST, "runner"))
    if isinstance(spotlight.considered, Stop) and view.seat is not None:
        return Text.of((sign(view.seat), "considered"))
    moved = any(isinstance(move, Advance) and column.number in move.columns for move in spotlight.moves)
    return Text.of((MOVED if moved else RUNNER, "runner"))


def _has(kind: type, spotlight: Spotlight) -> bool:
    return any(isinstance(move, kind) for move in spotlight.moves)


def _had_runner(before: View | None, number: int, seat: int) -> bool:
    return before is not None and before.seat == seat and before.columns[number - before.columns[0].number].runner > 0


def _field(column: Column, height: int, cell: int, signs: dict[int, Text]) -> Text:
    """One field of a column; blank if the column has no field at this height."""
    if not 1 <= height <= column.length:
        return Text.of(" " * cell)
    if column.winner is not None:
        return _draw_won(column, column.winner, height, cell)
    here = signs.get(height, Text())
    if height == column.length:
        return _on("number", here + Text.of(str(column.number)), cell).at(column.number)
    return _on("field", here if here.spans else Text.of(("·", "empty")), cell).at(column.number)


def _on(style: str, signs: Text, cell: int) -> Text:
    """Signs on their ground, cut to the width of a cell; the last span is always ground."""
    return Text.of(signs.clip(cell).centre(cell)).with_style(style)


def _draw_won(column: Column, seat: int, height: int, cell: int) -> Text:
    """A field of a won column: the number field with the winner's signs, and the closed fields below."""
    if height == column.length:
        return Text.of((f"{sign(seat)}{column.number}{sign(seat)}".center(cell), f"{seat_style(seat)} strong filled"))
    return Text.of((sign(seat).center(cell), f"{seat_style(seat)} {MUTED}"))


# Panel


def _panel(view: View, seating: Seating, spotlight: Spotlight, wide: int) -> Block:
    words = seating.words
    seats = range(len(view.places))
    lines = [Text.of((words("board.columns_held").rjust(wide), MUTED))]
    for seat in seats:
        held = sum(column.winner == seat for column in view.columns)
        needed = f"{held}/{seating.options['columns_to_win']}".rjust(HELD)
        lines.append(seating.player(seat, wide - HELD, on_turn=seat == view.seat) + Text.of((needed, STRONG)))
    lines += [Text()] * (5 - len(lines) + 1)
    before = _before_a_bust(view, spotlight)
    if before is not None and before.seat is not None:
        lines.append(Text.of(seating.mark(before.seat), " ", (words("board.bust"), "placed")))
        return [*lines, *draw_dice([PIPS[face] for face in spotlight.last.dice], ["placed"] * DICE)]
    lines.append(_runners(view, seating))
    faces = [PIPS[face] for face in view.dice] or [BLANK] * DICE
    styles, sums = _pairs(view, spotlight)
    return [*lines, *draw_dice(faces, styles), sums]


def _pairs(view: View, spotlight: Spotlight) -> tuple[list[str], Text]:
    """The styles of the dice, and a line below them with the sum of each die in the choice under the cursor."""
    styles = ["die" if view.dice else MUTED] * DICE
    if not view.dice or not isinstance(spotlight.considered, Advance):
        return styles, Text()
    steps = spotlight.considered.columns
    for a, b, c, d in PAIRINGS:
        sums = view.dice[a] + view.dice[b], view.dice[c] + view.dice[d]
        used = [total in steps for total in sums]
        if set(steps) <= set(sums) and (len(steps) < 2 or sorted(sums) == sorted(steps)):  # noqa: PLR2004 - two pairs
            break
    of_die: dict[int, str] = {}
    for pair, dice in enumerate(((a, b), (c, d))):
        if used[pair] and (len(steps) == 2 or not of_die):  # noqa: PLR2004 - a single step uses one pair
            of_die |= dict.fromkeys(dice, f"{sums[pair]}")
            styles = [f"pair{pair} {STRONG}" if die in dice else style for die, style in enumerate(styles)]
        else:
            styles = [MUTED if die in dice else style for die, style in enumerate(styles)]
    below = (f"{f'={of_die[die]}' if die in of_die else '':^{DIE}}" for die in range(DICE))
    return styles, Text.join(" ", [Text.of((said, style)) for said, style in zip_longest(below, styles)])


def _runners(view: View, seating: Seating) -> Text:
    """The number of runners on the board, and the probability that the next throw is usable."""
    words = seating.words
    placed = sum(column.runner > 0 for column in view.columns)
    risk = words("board.survival", percent=percent(chance(view))) if placed and not view.dice else ""
    return Text.of(
        f"{words('board.runners')} ",
        (f"{RUNNER} " * placed, "placed"),
        ("○ " * (RUNNERS - placed), MUTED),
        (risk, MUTED),
    )
