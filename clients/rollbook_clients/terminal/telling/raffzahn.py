"""Raffzahn, told: who owns which tile tells an own hit from a loss."""

from __future__ import annotations

from typing import Final

from rich.text import Text

from rollbook.v1 import raffzahn_pb2
from rollbook.v1.raffzahn_pb2 import RaffzahnChoice, RaffzahnOutcome
from rollbook_clients.terminal.seating import Seating
from rollbook_clients.terminal.telling.lines import line

STAR: Final = "★"


def face(number: int, seating: Seating) -> str:
    """What a die shows, in a line."""
    if number == raffzahn_pb2.RAFFZAHN_FACE_STAR:
        return STAR
    return seating.words("told.rotten_tooth") if number == raffzahn_pb2.RAFFZAHN_FACE_ROTTEN else str(number)


class RaffzahnTeller:
    """Knows whose throw the next one is, and where the tiles are that have left the middle."""

    def __init__(self) -> None:
        """All tiles lie in the middle."""
        self._seat = 0
        self._dice: tuple[int, ...] = ()
        """The throw that nobody has answered."""
        self._announced: int | None = None
        self._open: dict[int, int] = {}
        self._safe: dict[int, int] = {}
        """By tile, whose it is."""

    def happened(self, outcome: RaffzahnOutcome, _hidden: object, seating: Seating) -> list[Text]:
        """A throw, and before it how the throw before ended its turn by itself."""
        if outcome.WhichOneof("kind") == "first_seat":
            self._seat = outcome.first_seat.seat
            return [line(self._seat, "told.first_seat", seating)]
        lines = []
        if self._dice:
            if ended := self._ended(seating):
                lines.append(ended)
            self._pass_on(seating)
        self._dice = tuple(outcome.roll.dice)
        said = " + ".join(face(number, seating) for number in self._dice)
        numbers = [number for number in self._dice if number < raffzahn_pb2.RAFFZAHN_FACE_STAR]
        if raffzahn_pb2.RAFFZAHN_FACE_ROTTEN in self._dice:
            return [*lines, line(self._seat, "told.throws_rotten", seating, dice=said)]
        return [*lines, line(self._seat, "told.throws_sum", seating, dice=said, sum=sum(numbers))]

    def _ended(self, seating: Seating) -> Text | None:
        """What a throw came to that left nothing to choose."""
        if raffzahn_pb2.RAFFZAHN_FACE_ROTTEN in self._dice:
            return None
        tile = sum(number for number in self._dice if number < raffzahn_pb2.RAFFZAHN_FACE_STAR)
        if self._safe.get(tile) == self._seat:
            self._open[tile] = self._safe.pop(tile)
            return line(self._seat, "told.own_hit_safe", seating, tile=tile)
        if self._open.get(tile) == self._seat:
            del self._open[tile]
            return line(self._seat, "told.own_hit_open", seating, tile=tile)
        for tiles in (self._open, self._safe):
            for lost in [lost for lost, owner in tiles.items() if owner == self._seat]:
                del tiles[lost]
        return line(self._seat, "told.loses_all", seating)

    def chosen(self, seat: int, choice: RaffzahnChoice, seating: Seating) -> list[Text]:
        """What the seat does with its throw."""
        self._seat = seat
        dice, self._dice = self._dice, ()
        kind = choice.WhichOneof("kind")
        if kind == "roll":
            self._announced = choice.roll.announce if choice.roll.HasField("announce") else None
            return [] if self._announced is None else [line(seat, "told.announces", seating, tile=self._announced)]
        if kind == "take":
            tile = choice.take.tile
            robbed = self._open.pop(tile, None)
            (self._safe if choice.take.safe else self._open)[tile] = seat
            lines = [self._taken(seat, tile, robbed, seating, safe=choice.take.safe)]
            if not self._wins_extra_turn(tile, dice, seating):
                self._pass_on(seating)
            self._announced = None
            return lines
        if kind == "surrender":
            for tile in choice.surrender.tiles:
                self._open.pop(tile, None)
                self._safe.pop(tile, None)
        self._pass_on(seating)
        tiles = seating.words.both(map(str, choice.surrender.tiles))
        return [line(seat, f"told.{kind}", seating, tiles=tiles)]

    def _taken(self, seat: int, tile: int, robbed: int | None, seating: Seating, *, safe: bool) -> Text:
        how = seating.words("told.face_down") if safe else ""
        if robbed is None:
            return line(seat, "told.takes", seating, tile=tile, how=how)
        return line(seat, "told.robs", seating, tile=tile, how=how, robbed=seating.name(robbed))

    def _wins_extra_turn(self, tile: int, dice: tuple[int, ...], seating: Seating) -> bool:
        """An announced tile was taken; in the revised edition not by a star throw."""
        stars = dice.count(raffzahn_pb2.RAFFZAHN_FACE_STAR)
        by_stars = stars > 1 and seating.options.edition != raffzahn_pb2.RAFFZAHN_EDITION_ORIGINAL
        return tile == self._announced and not by_stars

    def _pass_on(self, seating: Seating) -> None:
        self._dice = ()
        self._announced = None
        self._seat = (self._seat + 1) % len(seating.names)
