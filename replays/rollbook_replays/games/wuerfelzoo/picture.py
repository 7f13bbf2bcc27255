"""Würfelzoo as a picture: the animals in the middle, and the dice in front of every seat."""

from typing import Any, Final

from rollbook.rules.wuerfelzoo.moves import NO_FACE, Bear, Boar, Fox, Play, Reroll, Squirrel, Worm
from rollbook.rules.wuerfelzoo.view import View
from rollbook_replays.games.picture import WIDE, Picture, Shape, box, label, placed, seat_row
from rollbook_replays.games.words import Words
from rollbook_replays.games.wuerfelzoo.animals import LARGE_TO_SMALL, counted, faces_of, name_of
from rollbook_replays.games.wuerfelzoo.drawings import face

SIDE: Final = 44
STEP: Final = 48
LEFT: Final = 90
AS_MANY: Final = (WIDE - LEFT) // STEP
MIDDLE: Final = 84


def picture(view: View, words: Words) -> Picture:
    """The middle above, then the seats."""
    shapes = [placed(8, 8, box(WIDE - 16, MIDDLE, "felt", 14), id="middle"), *_middle(view, words)]
    y = MIDDLE + 22.0
    for seat, dice in enumerate(view.dice):
        shapes += seat_row(seat, y + SIDE / 2, on_turn=seat == view.seat)
        shapes.append(label(view.points[seat], 68, y + SIDE / 2, 20, "strong"))
        ordered = sorted(dice, key=lambda one: (LARGE_TO_SMALL.index(one.face or NO_FACE), one.die))
        for place, one in enumerate(ordered):
            x = LEFT + place % AS_MANY * STEP
            classes = "thrown" if one.die in view.thrown else ""
            shapes.append(_die(one.die, one.face or NO_FACE, x, y + place // AS_MANY * STEP, classes))
        y += max(1, -(-len(dice) // AS_MANY)) * STEP + 10
    return Picture(y, tuple(shapes), _sentence(view, words))


def touched(_view: View, choice: Any) -> tuple[str, ...]:
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


def _middle(view: View, words: Words) -> list[Shape]:
    y = 8 + MIDDLE / 2
    if view.species is None:
        return [label(words("board.middle_empty"), WIDE / 2, y, 20, "faint")]
    faces = [(die, view.species) for die in view.middle] + [(die, "x2") for die in view.doubles]
    shown = [_die(die, name, 18 + place * STEP, y - SIDE / 2) for place, (die, name) in enumerate(faces[:9])]
    if len(faces) > len(shown):
        shown.append(label(f"+{len(faces) - len(shown)}", WIDE - 30, y, 20, "strong"))
    return shown


def _die(die: int, name: str, x: float, y: float, classes: str = "") -> Shape:
    drawn = placed(SIDE / 2, SIDE / 2, *face(name))
    return placed(x, y, box(SIDE, SIDE, "cube", 9), drawn, id=f"die-{die}", classes=f"die {name} {classes}".strip())


def _sentence(view: View, words: Words) -> str:
    faces = faces_of(view)
    middle = words("board.middle_empty")
    if view.species is not None:
        middle = words("picture.in_the_middle", animals=counted([view.species] * len(view.middle), words))
    seats = (
        words("picture.in_front", seat=seat + 1, animals=counted([faces[one.die] for one in dice], words))
        for seat, dice in enumerate(view.dice)
        if dice
    )
    thrown = [name_of(faces[die], words) for die in view.thrown if faces.get(die)]
    throws = [words("picture.thrown", animals=", ".join(thrown))] if thrown else []
    return " ".join((middle + ".", *seats, *throws))
