"""A slow second implementation of Würfelzoo, from the rules page: every subset of the dice is tried.

It uses no code of the game. Dice are a mapping from identity to face, one mapping a seat.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

Hand = Mapping[int, str]

FROM_LARGE_TO_SMALL = ["elephant", "bear", "boar", "fox", "squirrel", "worm"]


def subsets(hand: Hand) -> Iterator[tuple[int, ...]]:
    """Yield every non-empty set of dice, small sets first, then ascending."""
    for size in range(1, len(hand) + 1):
        yield from combinations(sorted(hand), size)


def may_be_played(hand: Hand, dice: Sequence[int], middle: Sequence[str]) -> bool:
    """Whether these dice of the hand may be laid onto the middle."""
    shown = [hand[die] for die in dice]
    if "trap" in shown:
        return False
    animals = [face for face in shown if face != "x2"]
    if len(animals) == 0 or len(set(animals)) > 1:
        return False
    if len(middle) == 0:
        return True
    if animals[0] == middle[0]:
        return len(animals) > len(middle)
    is_larger = FROM_LARGE_TO_SMALL.index(animals[0]) < FROM_LARGE_TO_SMALL.index(middle[0])
    return is_larger and len(animals) == len(middle)


def plays(hand: Hand, middle: Sequence[str]) -> list[tuple[int, ...]]:
    """Return every legal play, in the order that the game promises."""

    def key(dice: tuple[int, ...]) -> tuple[int, int, list[int], int, list[int]]:
        animals = [die for die in dice if hand[die] != "x2"]
        doubles = [die for die in dice if hand[die] == "x2"]
        smallness = -FROM_LARGE_TO_SMALL.index(hand[animals[0]])
        return smallness, len(animals), animals, len(doubles), doubles

    return sorted((dice for dice in subsets(hand) if may_be_played(hand, dice, middle)), key=key)


def rerolls(hand: Hand) -> list[tuple[int, ...]]:
    """Return every legal reroll, in the order that the game promises."""
    return list(subsets(hand))


def uses(species: str, seat: int, hands: Sequence[Hand], undrawn: int) -> list[tuple[int, ...]]:
    """Return every use of an ability as the numbers it names, ascending; `undrawn` dice are in bag and box."""
    seats = range(len(hands))
    mine: list[tuple[int, ...]] = [(die,) for die in hands[seat]]
    theirs: list[tuple[int, ...]] = [(die,) for other in seats if other != seat for die in hands[other]]
    targets: list[tuple[int, ...]] = [(other,) for other in seats if other != seat]
    found: list[tuple[int, ...]] = []
    if species == "bear":
        found = mine + theirs
    elif species == "boar":
        found = [own + other for own in mine for other in theirs]
    elif species == "fox":
        found = theirs
    elif species == "squirrel" and undrawn > 0:
        found = targets
    elif species == "worm":
        found = [own + target for own in mine for target in targets]
    return sorted(found)


PENALTIES = {"elephant": 6, "bear": 5, "boar": 4, "fox": 3, "squirrel": 2, "worm": 1, "trap": 0, "x2": 7}


def penalty(hand: Hand) -> int:
    """Return the penalty points of the dice in front of a seat."""
    return sum(PENALTIES[face] for face in hand.values())


def cheapest_play(hand: Hand, middle: Sequence[str]) -> tuple[int, ...] | None:
    """Return the caretaker's play: smallest species, fewest dice, lowest dice, no x2."""
    without_doubles = {die: face for die, face in hand.items() if face != "x2"}
    legal = plays(without_doubles, middle)
    return legal[0] if legal else None
