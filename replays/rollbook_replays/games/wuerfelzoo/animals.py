"""The faces of Würfelzoo's dice: their order, their styles, and how they are named and counted."""

from collections.abc import Iterable
from typing import Final

from rollbook.rules.wuerfelzoo.moves import DOUBLE, NO_FACE, SPECIES, TRAP
from rollbook.rules.wuerfelzoo.view import View
from rollbook_replays.games.words import Words

LARGE_TO_SMALL: Final = (*reversed(SPECIES), DOUBLE, TRAP, NO_FACE)

PALETTE: Final = {
    "elephant": "#adbac7",
    "bear": "#c69026",
    "boar": "#f69d50",
    "fox": "#ff7b72",
    "squirrel": "#e09b13",
    "worm": "#f778ba",
    "trap": "#768390",
    "x2": "#7ee787",
    "unthrown": "#57606a",
}
"""The style of a face is its name."""


def faces_of(view: View) -> dict[int, str]:
    """What every die in front of a seat shows."""
    return {die.die: die.face or NO_FACE for row in view.dice for die in row}


def style_of(face: str) -> str:
    """That of a die that shows this."""
    return face or "unthrown"


def name_of(face: str, words: Words) -> str:
    """What one die is called that shows this."""
    return words(f"animal.{face}.one")


def short(face: str, words: Words) -> str:
    """Three letters."""
    return f"{name_of(face, words).title() if face else '':>3.3}"


def counted(faces: Iterable[str], words: Words) -> str:
    """How many of which, from large to small."""
    among = list(faces)
    return ", ".join(words.count(f"animal.{face}", among.count(face)) for face in LARGE_TO_SMALL if face in among)
