"""`lightest_zoo`: plays Würfelzoo to have the fewest dice in front of its own seat.

It lays the play that gets rid of most dice, counting the effect of the ability as part of a die. All x2 dice go with
it, because they cost most at the end. Of equal plays, larger animals go first, because fewer species can replace them.
If it cannot lay any dice, it throws all dice again except x2 dice and its most frequent species. It uses abilities
against the seat nearest to its last die, but never takes that die.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from rollbook.rules import wuerfelzoo
from rollbook.rules.game import Choices
from rollbook.rules.wuerfelzoo.moves import DOUBLE, SIZES, TRAP, Bear, Boar, Choice, Fox, Play, Reroll, Squirrel, Worm
from rollbook.rules.wuerfelzoo.turn_choices import PlayOffer, TurnChoices
from rollbook.rules.wuerfelzoo.view import View
from rollbook_clients.bots.bot import Seat, must_play

ABILITY: Final = {"elephant": 0.0, "bear": 0.2, "boar": 0.3, "fox": 0.4, "squirrel": 0.5, "worm": 1.3}
"""The value of one use of an ability, in own dice."""


class LightestZoo:
    """Counts dice."""

    def __init__(self, seat: Seat) -> None:
        must_play(seat, wuerfelzoo.GAME, "lightest_zoo")
        self._seat = seat.number

    def choose(self, view: View, legal: Choices[Choice], /) -> Choice:
        """Return a play, a reroll, or the use of an ability."""
        table = _Zoos(view, self._seat)
        if isinstance(legal, TurnChoices):
            return _play(legal) if legal.plays else _reroll(legal, table)
        uses = list(legal)
        return max(uses, key=partial(USES[type(uses[0])], table))


def _play(turn: TurnChoices) -> Play:
    def rid_of(offer: PlayOffer) -> tuple[float, int]:
        laid = offer.most + len(turn.doubles)
        uses = (
            min(1 + len(turn.doubles), len(turn.rerolls) - laid) if offer.species == "worm" else 1 + len(turn.doubles)
        )
        return laid + ABILITY[offer.species] * uses, SIZES[offer.species]

    best = max(turn.plays, key=rid_of)
    return Play(tuple(sorted(best.dice[: best.most] + turn.doubles)))


def _reroll(turn: TurnChoices, table: _Zoos) -> Reroll:
    kept = {die for die in turn.rerolls if table.face[die] in {table.collected, DOUBLE}}
    return Reroll(tuple(die for die in turn.rerolls if die not in kept) or turn.rerolls)


class _Zoos:
    """The contents of the view, by die."""

    def __init__(self, view: View, seat: int) -> None:
        self.seat = seat
        self.owner = {lying.die: owner for owner, row in enumerate(view.dice) for lying in row}
        self.face = {lying.die: lying.face or "" for row in view.dice for lying in row}
        self.counts = [len(row) for row in view.dice]
        self.own = Counter(self.face[die] for die, owner in self.owner.items() if owner == seat)
        animals = [face for face in self.own if face in SIZES]
        self.collected = max(animals, key=lambda face: (self.own[face], SIZES[face]), default="")
        """The species that the seat has most of."""

    def is_mine(self, die: int) -> bool:
        return self.owner[die] == self.seat

    def nearness(self, seat: int) -> int:
        """Nearness of a seat to its last die: the negative number of its dice."""
        return -self.counts[seat]

    def burden(self, die: int) -> float:
        """How hard an own die is to get rid of: a trap is hard, a collected animal and x2 are easy."""
        face = self.face[die]
        if face == TRAP:
            return 3
        if face in {self.collected, DOUBLE}:
            return 0
        return 2 - self.own[face] / 20

    def use(self, die: int) -> float:
        """How useful a die in front of another seat is: more if that seat has many alike, or if it is x2."""
        face = self.face[die]
        if face == TRAP:
            return 0
        alike = sum(self.face[other] == face and owner == self.owner[die] for other, owner in self.owner.items())
        return 2 + alike / 20 if face == DOUBLE else 1 + alike / 20


def _bear(table: _Zoos, use: Bear) -> float:
    return table.burden(use.die) - 1 if table.is_mine(use.die) else table.use(use.die) - 0.5


def _boar(table: _Zoos, use: Boar) -> tuple[bool, float]:
    wanted = 2 if table.face[use.other] == table.collected else table.use(use.other) - 1
    return table.face[use.other] != TRAP, table.burden(use.own) + wanted


def _fox(table: _Zoos, use: Fox) -> tuple[bool, int, float]:
    owner = table.owner[use.die]
    return table.counts[owner] > 1, table.nearness(owner), table.use(use.die)


def _squirrel(table: _Zoos, use: Squirrel) -> int:
    return table.nearness(use.target)


def _worm(table: _Zoos, use: Worm) -> tuple[float, int]:
    return table.burden(use.own), table.nearness(use.target)


USES: Final[dict[type, Callable[[_Zoos, Any], Any]]] = {
    Bear: _bear,
    Boar: _boar,
    Fox: _fox,
    Squirrel: _squirrel,
    Worm: _worm,
}
"""For each kind of use, a function that rates it at a table."""
