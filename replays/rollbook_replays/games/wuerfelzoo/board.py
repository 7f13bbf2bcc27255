"""Würfelzoo's table: the animals in the middle, and before every seat its dice, sorted by species."""

from collections.abc import Sequence
from typing import Final

from rollbook.rules.wuerfelzoo.moves import DOUBLE, NO_FACE, PENALTIES
from rollbook.rules.wuerfelzoo.view import View
from rollbook_replays.games.blocks import Block, Room, beside, boxed, flow
from rollbook_replays.games.seats import Seating
from rollbook_replays.games.words import Words
from rollbook_replays.games.wuerfelzoo.animals import LARGE_TO_SMALL, short, style_of
from rollbook_replays.text import MUTED, STRONG, Text

NAME: Final = 13
MIDDLE_HEIGHT: Final = 5
BESIDE_MIDDLE: Final = 32


def board(view: View, seating: Seating, room: Room) -> Block:
    """The middle above, the seats below; who finds no room for dice with borders gets chips."""
    seats = range(len(view.dice))
    large = [_seat(view, seating, seat, room.width, bordered=True) for seat in seats]
    small = [_seat(view, seating, seat, room.width, bordered=False) for seat in seats]
    chosen = small.copy()
    for seat in sorted(seats, key=lambda seat: (seat != seating.own, seat != view.seat, seat)):
        tried = [large[other] if other == seat else block for other, block in enumerate(chosen)]
        if sum(map(len, tried)) <= room.height - MIDDLE_HEIGHT:
            chosen = tried
    return [*_middle(view, seating, room.width), *(line for block in chosen for line in block)]


def _middle(view: View, seating: Seating, wide: int) -> Block:
    words = seating.words
    title = Text.of((words("board.round", number=view.round), STRONG))
    if seating.options["rounds_to"]:
        title += Text.of((f"  {words('board.up_to', points=seating.options['rounds_to'])}", MUTED))
    waiting = words("board.bag", dice=words.count("die", len(view.bag)))
    title += Text.of((f"  {waiting}" + (f", {words('board.box', count=len(view.box))}" if view.box else ""), MUTED))
    if view.species is None:
        empty = boxed([words("board.middle_empty").center(30)], MUTED)
        return [title, *(Text.of("  ", line) for line in empty), Text()]
    dice = [_die(view.species, words) for _ in view.middle] + [_die(DOUBLE, words) for _ in view.doubles]
    laid = words.count(f"animal.{view.species}", len(view.middle))
    said = [Text.of(words("board.in_the_middle"), " ", (laid, STRONG))]
    if view.owner is not None:
        said.append(Text.of(words("board.laid_by"), " ", seating.mark(view.owner), f" {seating.name(view.owner)}"))
    if view.uses:
        ability = words(f"ability.{view.species}")
        said.append(Text.of((words("board.uses", count=view.uses, ability=ability), "gold strong")))
    return [title, *beside(flow(dice, wide - BESIDE_MIDDLE, gap=0), said, gap=2), Text()]


def _seat(view: View, seating: Seating, seat: int, wide: int, *, bordered: bool) -> Block:
    words = seating.words
    faces = [die.face or NO_FACE for die in view.dice[seat]]
    head = [seating.player(seat, NAME, on_turn=seat == view.seat)]
    if bordered:
        penalty = sum(PENALTIES[face] for face in faces)
        points = words("board.would_cost", points=penalty)
        if seating.options["rounds_to"]:
            points = f"{view.points[seat]} (+{penalty})"
        head += [Text.of((f"    {said}"[:NAME], MUTED)) for said in (words.count("die", len(faces)), points)]
    return beside(head, _sorted_dice(faces, words, wide - NAME - 1, bordered=bordered))


def _sorted_dice(faces: Sequence[str], words: Words, wide: int, *, bordered: bool) -> Block:
    """By species from large to small, the species a little apart."""
    groups = []
    for face in LARGE_TO_SMALL:
        if count := faces.count(face):
            one = _die(face, words) if bordered else _chip(face, words)
            groups.append(beside(*[one] * count, gap=0))
    return flow(groups, wide) if groups else [Text.of((words("board.no_dice"), MUTED))]


def _die(face: str, words: Words) -> Block:
    return boxed([short(face, words)], style_of(face))


def _chip(face: str, words: Words) -> Block:
    style = style_of(face)
    return [Text.of(("▐", style), (short(face, words), f"{style} strong"), ("▌", style))]
