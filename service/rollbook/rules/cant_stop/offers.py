"""What a throw of Can't Stop offers: the pairings of four dice, and which columns they let a seat advance in.

Sets of columns are bit masks (bit 7 is column 7). The offer of each distinct situation is computed once, because audits
fold millions of these throws.
"""

from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations_with_replacement, permutations
from typing import Any, Final, TypeAlias

from rollbook.rules.cant_stop.moves import FACES, Advance
from rollbook.rules.game import Listed

# Pairings

Pairing: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Combinations:
    """The pairings of four dice: pairs of sums (ascending), their columns as a mask, the double sums.

    There is one instance for each throw of unordered dice, so identity is equality, and lookups are cheap.
    """

    pairings: tuple[Pairing, ...]
    columns: int
    doubles: tuple[int, ...]


def _combinations(dice: tuple[int, ...]) -> Combinations:
    """The combinations of one throw."""
    a, b, c, d = dice
    sums = ((a + b, c + d), (a + c, b + d), (a + d, b + c))
    pairings = tuple(sorted({(min(pair), max(pair)) for pair in sums}))
    return Combinations(
        pairings,
        columns=_mask(*(column for pairing in pairings for column in pairing)),
        doubles=tuple(low for low, high in pairings if low == high),
    )


def _mask(*columns: int) -> int:
    """Columns as a mask."""
    mask = 0
    for column in columns:
        mask |= 1 << column
    return mask


ROLLS = {
    dice: combined
    for ascending in combinations_with_replacement(FACES, 4)
    for combined in (_combinations(ascending),)
    for dice in permutations(ascending)
}
"""The combinations by throw; throws of the same dice in another order share one value."""

# Offers


@dataclass(frozen=True, slots=True)
class Offer:
    """The legal advances after a throw, ascending by their columns."""

    columns: frozenset[tuple[int, ...]]
    advances: Listed[Any]
    """The same advances as a list of choices, the form that all games use for legal choices."""


@cache
def _offer(columns: frozenset[tuple[int, ...]]) -> Offer:
    """Return the offer of these advances; equal sets of columns share one offer."""
    return Offer(columns, Listed(map(Advance, sorted(columns))))


def basic_advances(combined: Combinations, runners: int, free: int, closed: int, last_step: int) -> Offer:
    """The basic game ("Das Einsetzen", "Das Vorankommen"): any pairing of which at least one pair can be used."""
    named: set[tuple[int, ...]] = set()
    for low, high in combined.pairings:
        low_usable = not closed >> low & 1 and (runners >> low & 1 or free > 0)
        high_usable = not closed >> high & 1 and (runners >> high & 1 or free > 0)
        if low == high:
            if low_usable:
                # Ruling: if only one step is left to the number field, the second step lapses.
                named.add((low,) if last_step >> low & 1 else (low, low))
        elif low_usable and high_usable:
            placed = (not runners >> low & 1) + (not runners >> high & 1)
            # Rulebook, "Achtung": a pairing that can place two runners has to place both; if one runner is free for two
            # columns, the seat chooses one, and the other pair lapses.
            named.update([(low, high)] if placed <= free else [(low,), (high,)])
        elif low_usable or high_usable:
            named.add((low,) if low_usable else (high,))
    return _offer(frozenset(named))


def hasty_advances(combined: Combinations, runners: int, free: int, closed: int, last_step: int) -> Offer:
    """Variant 2: only what places the most new runners, and of that only what uses the most different runners.

    Ruling: placing goes before moving two as long as a runner is off the board, also after the second throw.
    """

    def haste(columns: tuple[int, ...]) -> tuple[int, int]:
        """How many new runners the advance places, then how many it uses."""
        used = set(columns)
        return sum(not runners >> column & 1 for column in used), len(used)

    offer = basic_advances(combined, runners, free, closed, last_step)
    hastiest = max(map(haste, offer.columns), default=None)
    return _offer(frozenset(columns for columns in offer.columns if haste(columns) == hastiest))


SITUATIONS_REMEMBERED: Final = 1 << 15
"""The most offers that are kept; nearly every throw of a long series of matches finds its own among them."""

BASIC_OFFER = lru_cache(SITUATIONS_REMEMBERED)(basic_advances)
HASTY_OFFER = lru_cache(SITUATIONS_REMEMBERED)(hasty_advances)

NO_OFFER = _offer(frozenset())
