"""The faces of Würfelzoo's dice: their order, signs, styles, names and counts."""

from collections.abc import Iterable
from typing import Any, Final

from rollbook.rules.wuerfelzoo.moves import DOUBLE, NO_FACE, SIZES, SPECIES, TRAP
from rollbook.rules.wuerfelzoo.view import View
from rollbook_replays.games.words import Words

LARGE_TO_SMALL: Final = (*reversed(SPECIES), DOUBLE, TRAP, NO_FACE)

SIGNS: Final = {species: str(size + 1) for species, size in SIZES.items()} | {DOUBLE: "×2", TRAP: "✗", NO_FACE: "?"}
"""An animal's sign is its size, which is also its penalty at the end: 6 for the elephant, 1 for the worm."""

PALETTE: Final = {
    "elephant": "#79c0ff",
    "bear": "#c08552",
    "boar": "#d2a8ff",
    "fox": "#ff7b72",
    "squirrel": "#f2cc60",
    "worm": "#f778ba",
    "trap": "#8b949e",
    "x2": "#7ee787",
    "unthrown": "#6e7681",
}
"""The palette; the style of a face has the name of the face."""


def faces_of(view: View) -> dict[int, str]:
    """The face of every die in front of a seat."""
    return {die.die: die.face or NO_FACE for row in view.dice for die in row}


def dice_of(move: Any) -> frozenset[int]:
    """The dice that a choice or an outcome names."""
    named = [getattr(move, field, None) for field in ("die", "own", "other")]
    return frozenset((*getattr(move, "dice", ()), *(die for die in named if die is not None)))


def style_of(face: str) -> str:
    """The style of a die with this face."""
    return face or "unthrown"


def name_of(face: str, words: Words) -> str:
    """The name of one die with this face."""
    return words(f"animal.{face}.one")


def capital(face: str, words: Words) -> str:
    """The name with a capital letter, for a label."""
    name = name_of(face, words)
    return name[:1].upper() + name[1:]


def short(face: str, words: Words) -> str:
    """Three cells: the sign and the first letters of the name."""
    return f"{SIGNS[face]}{capital(face, words) if face not in {DOUBLE, NO_FACE} else '':<2}"[:3].ljust(3)


def long(face: str, words: Words) -> str:
    """Sign and name."""
    return SIGNS[face] if face == DOUBLE else f"{SIGNS[face]} {capital(face, words)}"


def count_faces(faces: Iterable[str], words: Words) -> str:
    """The number of dice of each face, from large to small, in words."""
    among = list(faces)
    return ", ".join(words.count(f"animal.{face}", among.count(face)) for face in LARGE_TO_SMALL if face in among)
