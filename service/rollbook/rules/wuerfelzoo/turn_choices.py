"""The legal choices at the start of a turn of Würfelzoo, described instead of listed.

A seat may throw any of its dice again, so a turn can begin with thousands of legal choices. `TurnChoices` keeps only
what they are made of, and makes the choices themselves during iteration.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

from rollbook.rules.game import Uniform
from rollbook.rules.wuerfelzoo.moves import Choice, Play, Reroll


@dataclass(frozen=True, slots=True)
class PlayOffer:
    """One species that may be laid: `fewest` to `most` of these dice."""

    species: str
    dice: tuple[int, ...]
    fewest: int
    most: int


@dataclass(frozen=True, slots=True)
class TurnChoices:
    """Everything a seat may choose when its turn has begun.

    In order: plays by species from small to large, then by number of animals, then by the animals' dice, then by the
    number of x2 dice, then by these; after all plays the rerolls, by number of dice, then by the dice. Inside a choice
    dice ascend; a choice that names the same dice in another order is legal as well and therefore contained.
    """

    plays: tuple[PlayOffer, ...]
    doubles: tuple[int, ...]
    """The x2 dice; a play may include any number of them."""
    rerolls: tuple[int, ...]
    """All dice in front of the seat; a reroll throws one or more of them again."""

    def __iter__(self) -> Iterator[Choice]:
        """Every legal choice once, in the order of the class's docstring."""
        for offer in self.plays:
            for number in range(offer.fewest, offer.most + 1):
                for animals in combinations(offer.dice, number):
                    for doubles in _subsets(self.doubles, fewest=0):
                        yield Play(tuple(sorted(animals + doubles)))
        for dice in _subsets(self.rerolls, fewest=1):
            yield Reroll(dice)

    def __contains__(self, choice: object, /) -> bool:
        """Whether the choice is legal."""
        if isinstance(choice, Reroll):
            return len(choice.dice) > 0 and _each_once(choice.dice, self.rerolls)
        if not isinstance(choice, Play):
            return False
        animals = [die for die in choice.dice if die not in self.doubles]
        return _each_once(choice.dice, self.rerolls) and any(
            offer.fewest <= len(animals) <= offer.most and _each_once(animals, offer.dice) for offer in self.plays
        )

    def __len__(self) -> int:
        """The number of choices, computed without iterating."""
        plays = sum(
            comb(len(offer.dice), number) for offer in self.plays for number in range(offer.fewest, offer.most + 1)
        )
        return (plays << len(self.doubles)) + (1 << len(self.rerolls)) - 1

    def sample(self, uniform: Uniform) -> Choice:
        """A random legal choice; if a play is legal, three of four choices are plays, so that matches end."""
        if not self.plays or uniform(4) == 0:
            thrown = tuple(die for die in self.rerolls if uniform(2))
            return Reroll(thrown or (self.rerolls[uniform(len(self.rerolls))],))
        offer = self.plays[uniform(len(self.plays))]
        left = list(offer.dice)
        number = offer.fewest + uniform(offer.most - offer.fewest + 1)
        animals = [left.pop(uniform(len(left))) for _ in range(number)]
        doubles = [die for die in self.doubles if uniform(2)]
        return Play(tuple(sorted(animals + doubles)))


def _subsets(dice: tuple[int, ...], *, fewest: int) -> Iterator[tuple[int, ...]]:
    """All subsets of the dice with at least `fewest` of them, smaller subsets first."""
    for number in range(fewest, len(dice) + 1):
        yield from combinations(dice, number)


def _each_once(named: tuple[int, ...] | list[int], dice: tuple[int, ...]) -> bool:
    """Whether every named die is one of `dice`, and none is named twice."""
    # In Python True equals 1, so the type is checked too.
    return all(type(die) is int and die in dice for die in named) and len(set(named)) == len(named)
