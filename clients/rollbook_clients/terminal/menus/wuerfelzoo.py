"""The uses of Würfelzoo's abilities in words.

Dice that show the same and have the same other faces are alike, so one entry stands for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from rollbook.rules.wuerfelzoo import AXES
from rollbook.v1.games_pb2 import Choice
from rollbook.v1.wuerfelzoo_pb2 import WuerfelzooChoice, WuerfelzooView
from rollbook_clients.terminal.boards.wuerfelzoo import face_name
from rollbook_clients.terminal.menus.entry import Entry, grouped
from rollbook_clients.terminal.seating import Seating

Alike: TypeAlias = tuple[str, tuple[tuple[str, str], ...]]
"""What makes two dice of one seat the same to everybody: the face, and the faces that it could show."""


class Dice:
    """Where every die in front of a seat lies, and what it shows."""

    def __init__(self, view: WuerfelzooView) -> None:
        """Look at the table."""
        self.seats: dict[int, int] = {}
        self._faces: dict[int, str] = {}
        for seat, row in enumerate(view.dice):
            for die in row.dice:
                self.seats[die.die] = seat
                self._faces[die.die] = face_name(die.face)

    def alike(self, die: int) -> Alike:
        """What the die has in common with those that are the same."""
        return self._faces[die], AXES[die]

    def name(self, die: int, seating: Seating) -> str:
        """What it shows."""
        return seating.words(f"face.{self._faces[die]}")

    def others(self, die: int, seating: Seating) -> str:
        """What it could show besides."""
        faces = dict.fromkeys(face for axis in AXES[die] for face in axis if face != self._faces[die])
        return seating.words("wuerfelzoo.also", faces=", ".join(seating.words(f"face.{face}") for face in faces))


def entries(view: WuerfelzooView, legal: Iterable[WuerfelzooChoice], seating: Seating) -> tuple[Entry, ...]:
    """The ability's uses, by seat; those of two steps lead to a second menu."""
    choices = list(legal)
    dice = Dice(view)
    kind = choices[0].WhichOneof("kind") if choices else ""
    if kind == "bear":
        return _by_seat([(choice.bear.die, choice) for choice in choices], "wuerfelzoo.bear", dice, seating)
    if kind == "fox":
        return _by_seat([(choice.fox.die, choice) for choice in choices], "wuerfelzoo.fox", dice, seating)
    if kind == "boar":
        return _boars(choices, dice, seating)
    if kind == "worm":
        return _worms(choices, dice, seating)
    return tuple(
        Entry(
            seating.words("wuerfelzoo.squirrel", name=seating.name(choice.squirrel.target)),
            "",
            Choice(wuerfelzoo=choice),
        )
        for choice in choices
    )


def _by_seat(
    choices: Sequence[tuple[int, WuerfelzooChoice]], key: str, dice: Dice, seating: Seating
) -> tuple[Entry, ...]:
    """One entry for the dice of each seat, behind it the dice."""
    of_seat: dict[int, dict[Alike, Entry]] = {}
    for die, choice in choices:
        seat = dice.seats[die]
        label = seating.words(key, die=dice.name(die, seating), name=seating.name(seat))
        of_seat.setdefault(seat, {}).setdefault(
            dice.alike(die), Entry(label, dice.others(die, seating), Choice(wuerfelzoo=choice))
        )
    return tuple(
        grouped(seating.words(f"{key}.seat", name=seating.name(seat)), "", list(of_seat[seat].values()))
        for seat in sorted(of_seat)
    )


def _boars(choices: Sequence[WuerfelzooChoice], dice: Dice, seating: Seating) -> tuple[Entry, ...]:
    """First the own die, then the one that is got for it."""
    got: dict[Alike, list[tuple[int, WuerfelzooChoice]]] = {}
    given: dict[Alike, int] = {}
    for choice in choices:
        own = given.setdefault(dice.alike(choice.boar.own), choice.boar.own)
        if choice.boar.own == own:
            got.setdefault(dice.alike(own), []).append((choice.boar.other, choice))
    return tuple(
        Entry(
            seating.words("wuerfelzoo.boar", die=dice.name(given[alike], seating)),
            dice.others(given[alike], seating),
            _by_seat(got[alike], "wuerfelzoo.boar.other", dice, seating),
        )
        for alike in got
    )


def _worms(choices: Sequence[WuerfelzooChoice], dice: Dice, seating: Seating) -> tuple[Entry, ...]:
    """First the own die, then who gets it."""
    targets: dict[Alike, list[Entry]] = {}
    given: dict[Alike, int] = {}
    for choice in choices:
        own = given.setdefault(dice.alike(choice.worm.own), choice.worm.own)
        if choice.worm.own == own:
            label = seating.words("wuerfelzoo.worm", die=dice.name(own, seating), name=seating.name(choice.worm.target))
            entry = Entry(label, dice.others(own, seating), Choice(wuerfelzoo=choice))
            targets.setdefault(dice.alike(own), []).append(entry)
    return tuple(
        grouped(
            seating.words("wuerfelzoo.worm.die", die=dice.name(given[alike], seating)),
            dice.others(given[alike], seating),
            targets[alike],
        )
        for alike in targets
    )
