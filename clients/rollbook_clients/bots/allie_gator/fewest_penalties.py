"""`fewest_penalties`: plays Allie Gator by the penalty cards that a choice costs its own seat and the next one.

The weight of a choice has four parts: the penalty cards taken at once; how many number cards in the hand remain
playable; the probability that the next seat has no playable card and must snap; and the size of the pile at the chip,
which is the cost of a snap. The next seat's hand is unknown: any of the unseen cards.
"""

from collections import Counter
from dataclasses import dataclass, replace
from math import comb
from typing import Final

from rollbook.rules import allie_gator
from rollbook.rules.allie_gator.moves import (
    DECK,
    GIFT,
    HAND,
    HIGHEST_NUMBER,
    RAISE,
    REVERSE,
    STEAL,
    Card,
    Choice,
    Gift,
    Number,
    Raise,
    Reverse,
    Snap,
    Steal,
)
from rollbook.rules.allie_gator.view import View
from rollbook.rules.game import Choices
from rollbook_clients.bots.bot import Seat, must_play

SPECIAL: Final = {Reverse: REVERSE, Steal: STEAL, Raise: RAISE, Gift: GIFT}
OWN_RISK: Final = 0.6
"""Weight of the risk that the own seat must snap; less than 1, as much changes until its next turn."""


@dataclass(frozen=True, slots=True)
class _Piles:
    """The piles and the bot's hand right after a choice."""

    targets: tuple[int, int]
    tops: tuple[int, int]
    """The top cards; 0 for an empty pile."""
    beneath: tuple[int, int]
    """The cards below the top cards, which a gift uncovers."""
    sizes: tuple[int, int]
    """Number of penalty cards for a snap of the pile."""
    chip: int
    hand: tuple[int, ...]

    def room(self) -> set[int]:
        """The number cards that can be laid."""
        return {card for target, top in zip(self.targets, self.tops, strict=True) for card in range(top + 1, target)}


class FewestPenalties:
    """Weighs every choice by its consequences."""

    def __init__(self, seat: Seat) -> None:
        must_play(seat, allie_gator.GAME, "fewest_penalties")
        self._seat = seat.number

    def choose(self, view: View, legal: Choices[Choice], /) -> Choice:
        """The choice with the highest weight; the first one if several are equal."""
        before = _table(view, self._seat)
        unseen = {card for card in unseen_cards(view) if card <= HIGHEST_NUMBER}
        return max(legal, key=lambda choice: self._weight(view, choice, before, unseen))

    def _weight(self, view: View, choice: Choice, before: _Piles, unseen: set[Card]) -> float:
        after, penalties, gift = _after(before, choice)
        hidden = view.stock_size + sum(
            player.hand_size for seat, player in enumerate(view.players) if seat != self._seat
        )
        next_seat = self._next(view, choice)
        room = after.room()
        next_stuck = _none_of(len(unseen & room), hidden, view.players[next_seat].hand_size)
        rivals = len(view.players) - 1
        held = sum(card in room for card in after.hand)
        drawn = min(HAND - len(after.hand), view.stock_size)
        own_stuck = _none_of(len(unseen & room), hidden, drawn) / (1 + held) ** 2
        cost = after.sizes[after.chip]
        return -penalties + (gift + next_stuck * cost) / rivals - OWN_RISK * own_stuck * cost

    def _next(self, view: View, choice: Choice) -> int:
        direction = 1 if view.clockwise else -1
        seats = len(view.players)
        if isinstance(choice, Reverse) and seats > 2:  # noqa: PLR2004 - two seats
            direction = -direction
        return (self._seat + direction) % seats


def _table(view: View, seat: int) -> _Piles:
    one, two = view.piles
    return _Piles(
        targets=(one.targets[-1], two.targets[-1]),
        tops=(one.cards[-1] if one.cards else 0, two.cards[-1] if two.cards else 0),
        beneath=(one.cards[-2] if len(one.cards) > 1 else 0, two.cards[-2] if len(two.cards) > 1 else 0),
        sizes=(len(one.targets) + len(one.cards), len(two.targets) + len(two.cards)),
        chip=view.chip,
        hand=view.players[seat].hand or (),
    )


def unseen_cards(view: View) -> list[Card]:
    """The cards that the seat cannot see, ascending."""
    seen = Counter(card for pile in view.piles for card in (*pile.targets, *pile.cards))
    for player in view.players:
        seen.update(player.penalties)
        seen.update(player.hand or ())
    return sorted((Counter(DECK) - seen).elements())


def _none_of(fitting: int, hidden: int, cards: int) -> float:
    """Probability that `cards` of the hidden cards include none of the fitting ones."""
    return comb(hidden - fitting, cards) / comb(hidden, cards) if cards <= hidden else 1.0


def _after(before: _Piles, choice: Choice) -> tuple[_Piles, int, int]:
    """The table after the choice, the penalty cards taken for it, and those given away."""
    if isinstance(choice, Number):
        return _lay(before, choice.card, choice.pile), 0, 0
    if isinstance(choice, Snap):
        return _snap(before, choice.card), before.sizes[before.chip], 0
    after = replace(before, hand=_without(before.hand, SPECIAL[type(choice)]))
    if isinstance(choice, Raise):
        targets = _with(after.targets, choice.pile, choice.card)
        sizes = _with(after.sizes, choice.pile, after.sizes[choice.pile] + 1)
        return replace(after, targets=targets, sizes=sizes, hand=_without(after.hand, choice.card)), 1, 0
    if isinstance(choice, Gift) and choice.pile is not None:
        sizes = _with(after.sizes, choice.pile, after.sizes[choice.pile] - 1)
        return replace(after, tops=_with(after.tops, choice.pile, after.beneath[choice.pile]), sizes=sizes), 1, 1
    return after, 1, 0


def _lay(before: _Piles, card: int, pile: int) -> _Piles:
    return replace(
        before,
        tops=_with(before.tops, pile, card),
        sizes=_with(before.sizes, pile, before.sizes[pile] + 1),
        hand=_without(before.hand, card),
    )


def _snap(before: _Piles, card: int | None) -> _Piles:
    """If no card of the hand becomes the target, the stock gives one: assume a middle one."""
    pile = before.chip
    return replace(
        before,
        targets=_with(before.targets, pile, HIGHEST_NUMBER // 2 if card is None else card),
        tops=_with(before.tops, pile, 0),
        sizes=_with(before.sizes, pile, 1),
        chip=1 - pile,
        hand=before.hand if card is None else _without(before.hand, card),
    )


def _with(pair: tuple[int, int], index: int, value: int) -> tuple[int, int]:
    return (value, pair[1]) if index == 0 else (pair[0], value)


def _without(hand: tuple[int, ...], card: int) -> tuple[int, ...]:
    index = hand.index(card)
    return hand[:index] + hand[index + 1 :]
