"""Würfelzoo's table: the animals in the middle, and before every seat its dice, sorted by species."""

from dataclasses import dataclass, replace
from typing import Final

from rollbook.rules.wuerfelzoo.moves import DOUBLE, NO_FACE, PENALTIES, Play
from rollbook.rules.wuerfelzoo.view import DieInFront, View
from rollbook_replays.games import blocks
from rollbook_replays.games.blocks import HEAVY, THIN, Block, Room, beside, boxed, breadth, flow
from rollbook_replays.games.presentation import NOTHING_MARKED, Spotlight
from rollbook_replays.games.seats import BEFORE_NAME, Seating
from rollbook_replays.games.wuerfelzoo.animals import LARGE_TO_SMALL, capital, dice_of, long, short, style_of
from rollbook_replays.text import MUTED, STRONG, Text

NAME: Final = 14
MIDDLE_HEIGHT: Final = 5
BESIDE_MIDDLE: Final = 32
CHIPS: Final = 0
BORDERS: Final = 1
NAMES: Final = 2
"""How large dice are: in one line, with borders, or with borders below the names of their species."""


@dataclass(frozen=True, slots=True)
class Marked:
    """The dice that are marked, and who looks at them."""

    considered: frozenset[int]
    latest: frozenset[int]
    seating: Seating
    name: int = NAME
    """Cells for a player."""

    def rim(self, die: int) -> str:
        """The border of a die."""
        return HEAVY if die in self.considered else blocks.DOUBLE if die in self.latest else THIN

    def edges(self, die: int) -> str:
        """What stands beside a die without a border."""
        return "[]" if die in self.considered else "‹›" if die in self.latest else "▐▌"


def board(view: View, seating: Seating, room: Room, spotlight: Spotlight = NOTHING_MARKED) -> Block:
    """The middle above, the seats below, with dice as large as there is room for."""
    marked = Marked(spotlight.picked | dice_of(spotlight.considered), _latest(spotlight), seating)
    chosen = _seats(view, room, marked)
    whole = seating.breadth(NAME, room.width // 2)
    for name in (whole, (whole + NAME) // 2):
        # Names are whole where no die is smaller for that, or in another row.
        if name > NAME and [*map(len, wider := _seats(view, room, replace(marked, name=name)))] == [*map(len, chosen)]:
            chosen = wider
            break
    is_laid = any(isinstance(move, Play) for move in spotlight.moves)
    middle = _middle(view, seating, room.width, blocks.DOUBLE if is_laid else THIN)
    return [*middle, *(line for block in chosen for line in block)]


def _seats(view: View, room: Room, marked: Marked) -> list[Block]:
    """What lies before every seat, with dice as large as there is room for."""
    seats = range(len(view.dice))
    chosen = [_seat(view, seat, room.width, marked, CHIPS) for seat in seats]
    first = sorted(seats, key=lambda seat: (seat != marked.seating.own, seat != view.seat, seat))
    for size in (BORDERS, NAMES):
        for seat in first:
            larger = _seat(view, seat, room.width, marked, size)
            if sum(map(len, chosen)) - len(chosen[seat]) + len(larger) <= room.height - MIDDLE_HEIGHT:
                chosen[seat] = larger
    return chosen


def _latest(spotlight: Spotlight) -> frozenset[int]:
    """The dice that the last choice and what followed from it were about."""
    return frozenset(die for move in spotlight.moves for die in dice_of(move))


def _middle(view: View, seating: Seating, wide: int, rim: str) -> Block:
    words = seating.words
    title = Text.of((words("board.round", number=view.round), STRONG))
    if seating.options["rounds_to"]:
        title += Text.of((f"  {words('board.up_to', points=seating.options['rounds_to'])}", MUTED))
    waiting = words("board.bag", dice=words.count("die", len(view.bag)))
    title += Text.of((f"  {waiting}" + (f", {words('board.box', count=len(view.box))}" if view.box else ""), MUTED))
    if view.species is None:
        empty = boxed([words("board.middle_empty").center(30)], MUTED)
        return [title, *(Text.of("  ", line) for line in empty), Text()]
    faces = [view.species] * len(view.middle) + [DOUBLE] * len(view.doubles)
    large = [boxed([f" {long(face, words)} "], style_of(face), rim) for face in faces]
    small = [boxed([short(face, words)], style_of(face), rim) for face in faces]
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
    """By species from large to small, the species a little apart."""
    words = marked.seating.words
    groups = []
    for face in LARGE_TO_SMALL:
        dice = sorted(die.die for die in row if (die.face or NO_FACE) == face)
        if dice:
            group = beside(*(_die(die, face, marked, size) for die in dice), gap=0)
            name = Text.of((f" {capital(face, words)}", style_of(face)))
            groups.append([name, *group] if size == NAMES else group)
    return flow(groups, wide) if groups else [Text.of((words("board.no_dice"), MUTED))]


def _die(die: int, face: str, marked: Marked, size: int) -> Block:
    style, shown = style_of(face), short(face, marked.seating.words)
    if size == CHIPS:
        left, right = tuple(marked.edges(die))
        return [Text.of((left, style), (shown, f"{style} strong"), (right, style)).at(die)]
    return [line.at(die) for line in boxed([shown], style, marked.rim(die))]
