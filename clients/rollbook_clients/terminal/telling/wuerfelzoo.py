"""Würfelzoo, told: what the named dice show."""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text

from rollbook.rules.wuerfelzoo import DOUBLE, SPECIES
from rollbook.v1.wuerfelzoo_pb2 import WuerfelzooChoice, WuerfelzooOutcome
from rollbook_clients.terminal.boards.wuerfelzoo import LARGE_TO_SMALL, face_name
from rollbook_clients.terminal.seating import Seating
from rollbook_clients.terminal.telling.lines import line


class WuerfelzooTeller:
    """Knows what every die shows."""

    def __init__(self) -> None:
        """Before any die is thrown."""
        self._faces: dict[int, str] = {}
        self._seat = 0
        """Whose dice are thrown next."""

    def happened(self, outcome: WuerfelzooOutcome, _hidden: object, seating: Seating) -> list[Text]:
        """Dice drawn and thrown; a draw is told with the throw that follows it."""
        kind = outcome.WhichOneof("kind")
        if kind == "first_seat":
            self._seat = outcome.first_seat.seat
            return [line(self._seat, "told.first_seat", seating)]
        if kind == "draw":
            self._seat = outcome.draw.seat
            return []
        faces = [face_name(face) for face in outcome.roll.faces]
        self._faces.update(zip(outcome.roll.dice, faces, strict=True))
        return [line(self._seat, "told.throws", seating, dice=_counted(faces, seating))]

    def chosen(self, seat: int, choice: WuerfelzooChoice, seating: Seating) -> list[Text]:
        """What the seat lays, throws again, or does with an ability."""
        self._seat = seat
        kind = choice.WhichOneof("kind")
        if kind == "play":
            return [line(seat, "told.lays", seating, dice=_counted(map(self._face, choice.play.dice), seating))]
        if kind == "reroll":
            return [line(seat, "told.rerolls", seating, dice=seating.words.count("die", len(choice.reroll.dice)))]
        if kind == "squirrel":
            return [line(seat, "told.squirrel", seating, other=seating.name(choice.squirrel.target))]
        if kind == "worm":
            facts = {"die": self._named(choice.worm.own, seating), "other": seating.name(choice.worm.target)}
            return [line(seat, "told.worm", seating, **facts)]
        if kind == "boar":
            facts = {"die": self._named(choice.boar.own, seating), "other": self._named(choice.boar.other, seating)}
            return [line(seat, "told.boar", seating, **facts)]
        die = choice.bear.die if kind == "bear" else choice.fox.die
        return [line(seat, f"told.{kind}", seating, die=self._named(die, seating))]

    def _face(self, die: int) -> str:
        return self._faces.get(die, "")

    def _named(self, die: int, seating: Seating) -> str:
        return seating.words(f"face.{self._face(die)}")


def _counted(faces: Iterable[str], seating: Seating) -> str:
    """Sorted from large to small."""
    among = list(faces)
    said = []
    for face in LARGE_TO_SMALL:
        if count := among.count(face):
            animal = face in SPECIES or face == DOUBLE
            said.append(
                seating.words.count(f"animal.{face}", count) if animal else seating.words.count("animal.trap", count)
            )
    return ", ".join(said)
