"""Würfelzoo's table: the animals in the middle, and the dice of every seat, sorted by species."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from string import ascii_letters
from typing import Final

from rollbook.rules.wuerfelzoo.moves import AXES, DOUBLE, NO_FACE, PENALTIES, Play
from rollbook.rules.wuerfelzoo.view import DieInFront, View
from rollbook_replays.games import blocks
from rollbook_replays.games.blocks import HEAVY, THIN, Block, Room, beside, breadth, draw_box, flow
from rollbook_replays.games.presentation import NOTHING_MARKED, Spotlight
from rollbook_replays.games.seats import BEFORE_NAME, Seating
from rollbook_replays.games.wuerfelzoo.animals import LARGE_TO_SMALL, capital, dice_of, long, short, style_of
from rollbook_replays.text import MUTED, STRONG, Text, width

NAME: Final = 14
LONGEST: Final = 14
"""Cells of the longest name of a species with its sign."""
MIDDLE_HEIGHT: Final = 5
BESIDE_MIDDLE: Final = 32
CHIPS, BORDERS, NAMES, LARGE, LARGEST = range(5)
"""Sizes of dice: one line, with borders, below the names of their species, five rows, or with their own names."""


@dataclass(frozen=True, slots=True)
class Marked:
    """The marked dice, and the seating of the reader."""

    considered: frozenset[int]
    latest: frozenset[int]
    seating: Seating
    letters: Mapping[int, str]
    """The menu letters of the dice that can be picked."""
    name: int = NAME
    """Cells for a player."""

    def rim(self, die: int) -> str:
        """The border of a die."""
        return HEAVY if die in self.considered else blocks.DOUBLE if die in self.latest else THIN

    def edges(self, die: int) -> str:
        """The characters to the left and right of a die without a border."""
        return "[]" if die in self.considered else "‹›" if die in self.latest else "▐▌"


def board(view: View, seating: Seating, room: Room, spotlight: Spotlight = NOTHING_MARKED) -> Block:
    """The middle above, the seats below, with the largest dice that fit."""
    letters = dict(zip(spotlight.pieces, ascii_letters, strict=False))
    marked = Marked(spotlight.picked | dice_of(spotlight.considered), _latest(spotlight), seating, letters)
    chosen = _seats(view, room, marked)
    whole = seating.breadth(NAME, room.width // 2)
    for name in (whole, (whole + NAME) // 2):
        # Use wider names only if all dice keep their sizes and rows.
        if name > NAME and [*map(len, wider := _seats(view, room, replace(marked, name=name)))] == [*map(len, chosen)]:
            chosen = wider
            break
    is_laid = any(isinstance(move, Play) for move in spotlight.moves)
    middle = _middle(view, seating, room.width, blocks.DOUBLE if is_laid else THIN)
    lines = [*middle, *(line for block in chosen for line in block)]
    if not room.has_rows(len(lines) + len(chosen)):
        return lines
    return [*middle, *(line for block in chosen for line in (*block, Text()))]


def _seats(view: View, room: Room, marked: Marked) -> list[Block]:
    """The dice in front of every seat, as large as possible; those of the own seat grow first."""
    seats = range(len(view.dice))
    chosen = [_seat(view, seat, room.width, marked, CHIPS) for seat in seats]
    first = sorted(seats, key=lambda seat: (seat != marked.seating.own, seat != view.seat, seat))
    for size in (BORDERS, NAMES, LARGE, LARGEST):
        if size >= LARGE and not room.has_rows(sum(map(len, chosen))):
            break
        for seat in first:
            larger = _seat(view, seat, room.width, marked, size)
            rows = sum(map(len, chosen)) - len(chosen[seat]) + len(larger)
            if rows <= room.height - MIDDLE_HEIGHT and breadth(larger) <= room.width:
                chosen[seat] = larger
    return chosen


def _latest(spotlight: Spotlight) -> frozenset[int]:
    """The dice that the last choice and the outcomes since then affected."""
    return frozenset(die for move in spotlight.moves for die in dice_of(move))


def _middle(view: View, seating: Seating, wide: int, rim: str) -> Block:
    words = seating.words
    title = Text.of((words("board.round", number=view.round), STRONG))
    if seating.options["rounds_to"]:
        title += Text.of((f"  {words('board.up_to', points=seating.options['rounds_to'])}", MUTED))
    waiting = words("board.bag", dice=words.count("die", len(view.bag)))
    title += Text.of((f"  {waiting}" + (f", {words('board.box', count=len(view.box))}" if view.box else ""), MUTED))
    if view.species is None:
        empty = draw_box([words("board.middle_empty").center(30)], MUTED)
        return [title, *(Text.of("  ", line) for line in empty), Text()]
    faces = [view.species] * len(view.middle) + [DOUBLE] * len(view.doubles)
    large = [draw_box([f" {long(face, words)} "], style_of(face), rim) for face in faces]
    small = [draw_box([short(face, words)], style_of(face), rim) for face in faces]
    dice = large if sum(map(breadth, large)) <= wide - BESIDE_MIDDLE else small
    laid = words.count(f"animal.{view.species}", len(view.middle))
    said = [Text.of(words("board.in_the_middle"), " ", (laid, STRONG))]
    if view.owner is not None:
        said.append(Text.of(words("board.laid_by"), " ", seating.mark(view.owner), f" {seating.name(view.owner)}"))
    if view.uses:
        ability = words(f"ability.{view.species}")
        said.append(Text.of((words("board.uses", count=view.uses, ability=ability), "gold strong")))
    return [title, *beside(flow(dice, wide - BESIDE_MIDDLE, gap=0), said, gap=2), Text()]


def _seat(view: View, seat: int, wide: int, marked: Marked, size: int) -> Block:
    seating = marked.seating
    words = seating.words
    faces = [die.face or NO_FACE for die in view.dice[seat]]
    head = [seating.player(seat, marked.name, on_turn=seat == view.seat)]
    if size > CHIPS:
        penalty = sum(PENALTIES[face] for face in faces)
        points = words("board.would_cost.one" if penalty == 1 else "board.would_cost", points=penalty)
        if seating.options["rounds_to"]:
            points = f"{view.points[seat]} (+{penalty})"
        notes = (words.count("die", len(faces)), points)
        head += [Text.of((f"{' ' * min(BEFORE_NAME, marked.name - len(note))}{note}", MUTED)) for note in notes]
    return beside(head, _sorted_dice(view.dice[seat], wide - marked.name - 1, marked, size))


def _sorted_dice(row: tuple[DieInFront, ...], wide: int, marked: Marked, size: int) -> Block:
    """The dice by species from large to small, in the order of the menu, with gaps between species."""
    words = marked.seating.words
    groups = []
    for face in LARGE_TO_SMALL:
        dice = sorted((AXES[die.die], die.die) for die in row if (die.face or NO_FACE) == face)
        if size == LARGEST:
            groups += [_die(die, face, marked, size) for _, die in dice]
        elif dice:
            group = beside(*(_die(die, face, marked, size) for _, die in dice), gap=0)
            name = Text.of((f" {capital(face, words)}", style_of(face)))
            groups.append([name, *group] if size in {NAMES, LARGE} else group)
    return flow(groups, wide, gap=int(size < LARGEST)) if groups else [Text.of((words("board.no_dice"), MUTED))]


def _die(die: int, face: str, marked: Marked, size: int) -> Block:
    words, style, letter = marked.seating.words, style_of(face), marked.letters.get(die, "")
    shown = short(face, words)
    if size == CHIPS:
        left, right = tuple(marked.edges(die))
        return [Text.of((left, style), (f"{letter}{shown}"[:3], f"{style} strong"), (right, style)).at(die)]
    content = [shown]
    if size == LARGE:
        content = ["", f" {shown} ", ""]
    elif size == LARGEST:
        content = ["", "", long(face, words).center(LONGEST + 2), "", ""]
    wide = width(max(content, key=width))
    box = draw_box([line.ljust(wide) for line in content], style, marked.rim(die))
    if letter:
        edge = box[0].plain
        box[0] = Text.of((edge[0], style), (letter, STRONG), (edge[2:], style))
    return [line.at(die) for line in box]
