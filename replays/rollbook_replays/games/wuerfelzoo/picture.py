"""Würfelzoo as a picture: the animals in the middle, and the dice in front of every seat."""

from typing import Any, Final

from rollbook.rules.wuerfelzoo.moves import AXES, NO_FACE, Bear, Boar, Fox, Play, Reroll, Squirrel, Worm
from rollbook.rules.wuerfelzoo.view import DieInFront, View
from rollbook_replays.games.picture import Picture, Shape, Zone, die, front, label, place_at, shape, thrown
from rollbook_replays.games.words import Words
from rollbook_replays.games.wuerfelzoo.animals import LARGE_TO_SMALL, count_faces, faces_of, name_of
from rollbook_replays.games.wuerfelzoo.drawings import definitions, stamp

STEP: Final = 64
IN_A_ROW: Final = 7
"""Number of dice in a row in front of a seat."""
MAT: Final = (560.0, 270.0)
SCALE: Final = 1.45
LARGE_STEP: Final = 94
MOST_LARGE: Final = 5
MOST_IN_MIDDLE: Final = 8


def picture(view: View, words: Words) -> Picture:
    """The middle, then the dice of the seats."""
    zones = [Zone("board", *MAT, (definitions(), *_middle(view, words)))]
    zones += [_front(seat, dice, view) for seat, dice in enumerate(view.dice)]
    return Picture(tuple(zones), _sentence(view, words), has_pens=True)


def list_touched(_view: View, choice: Any) -> tuple[str, ...]:
    """The dice that are played, thrown, moved or lost, and the seat that gets a die."""
    match choice:
        case Play() | Reroll():
            return tuple(f"die-{die}" for die in choice.dice)
        case Bear() | Fox():
            return (f"die-{choice.die}",)
        case Boar():
            return (f"die-{choice.own}", f"die-{choice.other}")
        case Worm():
            return (f"die-{choice.own}", f"seat-{choice.target}")
        case Squirrel():
            return (f"seat-{choice.target}",)
    return ()


def alike(view: View) -> tuple[tuple[str, ...], ...]:
    """The dice of a seat that show the same face and have the same other faces."""
    groups: dict[Any, list[str]] = {}
    for seat, row in enumerate(view.dice):
        for one in row:
            groups.setdefault((seat, one.face, AXES[one.die]), []).append(f"die-{one.die}")
    return tuple(map(tuple, groups.values()))


def _front(seat: int, dice: tuple[DieInFront, ...], view: View) -> Zone:
    """The dice of a seat from large to small."""
    shapes = []
    ordered = sorted(dice, key=lambda one: (LARGE_TO_SMALL.index(one.face or NO_FACE), one.die))
    for place, one in enumerate(ordered):
        x, y = STEP / 2 + place % IN_A_ROW * STEP, STEP / 2 - 1 + place // IN_A_ROW * STEP
        classes = f"{one.face or NO_FACE}{' thrown' if one.die in view.thrown else ''}"
        shapes.append(die(one.die, x, y, stamp(one.face or NO_FACE), classes.strip()))
    lines = max(1, -(-len(dice) // IN_A_ROW))
    return front(seat, IN_A_ROW * STEP, lines * STEP + 2, shapes)


def _middle(view: View, words: Words) -> list[Shape]:
    width, height = MAT
    mat = shape("rect", x=2, y=2, width=width - 4, height=height - 4, rx=height / 2, classes="mat")
    if view.species is None:
        return [mat, label(words("board.middle_empty"), width / 2, height / 2, 24, "dim")]
    faces = [(die, view.species) for die in view.middle] + [(die, "x2") for die in view.doubles]
    is_large = len(faces) <= MOST_LARGE
    scale, step = (SCALE, LARGE_STEP) if is_large else (1, STEP)
    drawn = faces[:MOST_IN_MIDDLE]
    left = width / 2 - (len(drawn) - 1) * step / 2
    shapes = [
        place_at(left + place * step, height / 2 - 22, _scaled(number, name, scale), id=f"laid-{number}")
        for place, (number, name) in enumerate(drawn)
    ]
    more = f" (+{len(faces) - len(drawn)})" if len(faces) > len(drawn) else ""
    said = words("picture.in_the_middle", animals=count_faces([view.species] * len(view.middle), words))
    return [mat, *shapes, label(said + more, width / 2, height - 66, 24), *_ability(view, words)]


def _ability(view: View, words: Words) -> list[Shape]:
    if view.species is None or not view.uses:
        return []
    said = words("board.uses", ability=words(f"ability.{view.species}"), count=view.uses)
    return [label(said, MAT[0] / 2, MAT[1] - 34, 22, "dim")]


def _scaled(number: int, name: str, scale: float) -> Shape:
    return shape("g", thrown(number, 0, 0, stamp(name), name), transform=f"scale({scale})")


def _sentence(view: View, words: Words) -> str:
    faces = faces_of(view)
    middle = words("board.middle_empty")
    if view.species is not None:
        middle = words("picture.in_the_middle", animals=count_faces([view.species] * len(view.middle), words))
    seats = (
        words("picture.in_front", seat=seat + 1, animals=count_faces([faces[one.die] for one in dice], words))
        for seat, dice in enumerate(view.dice)
        if dice
    )
    thrown = [name_of(faces[die], words) for die in view.thrown if faces.get(die)]
    throws = [words("picture.thrown", animals=", ".join(thrown))] if thrown else []
    return " ".join((middle + ".", *seats, *throws))
