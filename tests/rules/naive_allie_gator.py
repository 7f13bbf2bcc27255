"""A slow second implementation of Allie Gator: every conceivable choice is checked against the rules page.

It uses only the judge's view, and no function under test.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from rollbook.rules.allie_gator.moves import Card, Choice, Gift, Number, Raise, Reverse, Snap, Steal
from rollbook.rules.allie_gator.view import View

SPECIAL_CARDS = {Reverse: 71, Steal: 72, Raise: 73, Gift: 74}


def conceivable() -> Iterator[Choice]:
    """Yield every choice with cards, piles and seats in and slightly out of range, in the order of legal choices."""
    cards = [Card(card) for card in range(-1, 76)]
    piles = range(-1, 3)
    seats = range(-1, 6)
    yield from (Number(card, pile) for card, pile in product(cards, piles))
    yield Reverse()
    yield from (Steal(seat) for seat in (None, *seats))
    yield from (Raise(card, pile) for card, pile in product(cards, piles))
    yield from (Gift(pile, seat) for pile, seat in product((None, *piles), (None, *seats)))
    yield from (Snap(card) for card in (None, *cards))


CONCEIVABLE = tuple(conceivable())


def legal(table: View) -> list[Choice]:
    """Return the legal choices of the seat whose turn it is."""
    return [choice for choice in CONCEIVABLE if is_legal(table, choice)]


def is_legal(table: View, choice: Choice) -> bool:
    """Whether the choice is legal for the seat whose turn it is."""
    assert table.seat is not None
    hand = hand_of(table, table.seat)
    if type(choice) in SPECIAL_CARDS and SPECIAL_CARDS[type(choice)] not in hand:
        return False
    match choice:
        case Number(card, pile):
            return holds_number(hand, card) and pile in {0, 1} and lies_well(table, card, pile)
        case Raise(card, pile):
            return holds_number(hand, card) and pile in {0, 1} and card > max(table.piles[pile].targets)
        case Reverse():
            return True
        case Steal(None):
            return all(not player.hand for seat, player in enumerate(table.players) if seat != table.seat)
        case Steal(seat):
            return seat in others(table) and len(hand_of(table, seat)) > 0
        case Gift(None, None):
            return True
        case Gift(pile, seat):
            return pile in {0, 1} and seat in others(table) and table.piles[pile].cards != ()
        case Snap(card):
            gives = any(holds_number(hand, held) for held in hand) and table.stock_size > 0
            return card is not None and holds_number(hand, card) if gives else card is None


def hand_of(table: View, seat: int) -> tuple[Card, ...]:
    """Return the hand of a seat, from a judge's view."""
    hand = table.players[seat].hand
    assert hand is not None
    return hand


def holds_number(hand: tuple[Card, ...], card: Card) -> bool:
    """Whether the card is a number card of the hand."""
    return 1 <= card <= 70 and card in hand


def others(table: View) -> list[int]:
    """Return the other seats."""
    return [seat for seat in range(len(table.players)) if seat != table.seat]


def lies_well(table: View, card: Card, pile: int) -> bool:
    """Whether the card is between the top card and the target of the pile."""
    lying = table.piles[pile]
    return card < max(lying.targets) and all(card > covered for covered in lying.cards)


def caretaker(table: View) -> Choice:
    """Return the lowest fitting card, by most room, then pile 0; else snap with the highest number card."""
    assert table.seat is not None
    laying = [choice for choice in legal(table) if isinstance(choice, Number)]
    if laying:
        return min(
            laying, key=lambda choice: (choice.card, choice.card - max(table.piles[choice.pile].targets), choice.pile)
        )
    snaps = [choice for choice in legal(table) if isinstance(choice, Snap)]
    return max(snaps, key=lambda choice: choice.card or 0)
