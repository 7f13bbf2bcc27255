"""Würfelzoo's table: the animals in the middle, and before every seat its dice, sorted by species."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rich.text import Text

from rollbook.rules.wuerfelzoo import PENALTIES, SPECIES
from rollbook.v1.wuerfelzoo_pb2 import WuerfelzooFace, WuerfelzooView
from rollbook_clients.terminal.blocks import Block, Room, beside, boxed, flow
from rollbook_clients.terminal.language import Words
from rollbook_clients.terminal.seating import Seating

LARGE_TO_SMALL: Final = (*reversed(SPECIES), "x2", "trap", "")
COLOURS: Final = {
    "elephant": "#adbac7",
    "bear": "#c69026",
    "boar": "#f69d50",
    "fox": "#ff7b72",
    "squirrel": "#e09b13",
    "worm": "#f778ba",
    "trap": "#768390",
    "x2": "#7ee787",
    "": "#57606a",
}
NAME: Final = 13
MIDDLE_HEIGHT: Final = 5
DIE_HEIGHT: Final = 3


def face_name(face: int) -> str:
    """As the rules call it; empty for a die that has not been thrown.

    >>> face_name(5), face_name(0)
    ('bear', '')
    """
    return WuerfelzooFace.Name(WuerfelzooFace.ValueType(face)).removeprefix("WUERFELZOO_FACE_").lower() if face else ""


def drawn_die(face: str, words: Words) -> Block:
    """One die with a border."""
    return boxed([words(f"short.{face}") if face else "   "], COLOURS[face], f"bold {COLOURS[face]}")


def draw(view: WuerfelzooView, seating: Seating, room: Room) -> Block:
    """The middle above, the seats below; who finds no room for dice with borders gets chips."""
    seats = range(len(view.dice))
    left = room.height - MIDDLE_HEIGHT
    large = [_seat(view, seating, seat, room.width, bordered=True) for seat in seats]
    small = [_seat(view, seating, seat, room.width, bordered=False) for seat in seats]
    lines = _middle(view, seating, room.width)
    chosen = small.copy()
    for seat in sorted(seats, key=lambda seat: (seat != seating.own, seat != view.seat, seat)):
        tried = [large[other] if other == seat else block for other, block in enumerate(chosen)]
        if sum(map(len, tried)) <= left:
            chosen = tried
    for block in chosen:
        lines += block
    return lines


def _middle(view: WuerfelzooView, seating: Seating, wide: int) -> Block:
    words = seating.words
    title = Text(words("wuerfelzoo.round", number=view.round), "bold")
    if seating.options.rounds_to:
        title.append(f"  {words('wuerfelzoo.up_to', points=seating.options.rounds_to)}", "dim")
    species = face_name(view.species)
    if not species:
        empty = boxed([words("wuerfelzoo.middle_empty").center(30)], "dim", "dim")
        return [title, *(Text("  ").append_text(line) for line in empty), Text()]
    dice = [drawn_die(species, words) for _ in view.middle] + [drawn_die("x2", words) for _ in view.doubles]
    said = [
        Text.assemble(
            words("wuerfelzoo.in_the_middle"), " ", (words.count(f"animal.{species}", len(view.middle)), "bold")
        )
    ]
    if view.HasField("owner"):
        said.append(
            Text.assemble(words("wuerfelzoo.laid_by"), " ", seating.mark(view.owner), f" {seating.name(view.owner)}")
        )
    if view.uses:
        said.append(
            Text(words("wuerfelzoo.uses", count=view.uses, ability=words(f"ability.{species}")), "bold #e3b341")
        )
    laid = flow(dice, wide - 32, gap=0)
    return [title, *beside([Text(), *laid][1:], said, gap=2), Text()]


def _seat(view: WuerfelzooView, seating: Seating, seat: int, wide: int, *, bordered: bool) -> Block:
    words = seating.words
    in_front = view.dice[seat].dice
    faces = [face_name(die.face) for die in in_front]
    head = [seating.player(seat, NAME, on_turn=view.HasField("seat") and seat == view.seat)]
    penalty = sum(PENALTIES[face] for face in faces)
    head.append(Text(f"    {words.count('die', len(faces))}"[:NAME], "dim"))
    points = words("wuerfelzoo.would_cost", points=penalty)
    if seating.options.rounds_to:
        points = f"{view.points[seat]} (+{penalty})"
    head.append(Text(f"    {points}"[:NAME], "dim"))
    if not bordered:
        head = head[:1]
    return beside(head, _sorted_dice(faces, words, wide - NAME - 1, bordered=bordered))


def _sorted_dice(faces: Iterable[str], words: Words, wide: int, *, bordered: bool) -> Block:
    """By species from large to small, the species a little apart."""
    among = list(faces)
    groups = []
    for face in LARGE_TO_SMALL:
        if count := among.count(face):
            one = drawn_die(face, words) if bordered else _chip(face, words)
            groups.append(beside(*[one] * count, gap=0))
    return flow(groups, wide) if groups else [Text(words("wuerfelzoo.no_dice"), "dim")]


def _chip(face: str, words: Words) -> Block:
    short = words(f"short.{face}") if face else "   "
    return [Text.assemble(("▐", COLOURS[face]), (short, f"bold {COLOURS[face]}"), ("▌", COLOURS[face]))]
