"""Allie Gator as a picture: both piles with their targets, the hands, and the penalties and teeth of every seat."""

from collections.abc import Iterator
from typing import Any, Final

from rollbook.rules.allie_gator.moves import (
    MOST_TEETH,
    SPECIALS,
    Card,
    Gift,
    Number,
    Raise,
    Reverse,
    Snap,
    Steal,
)
from rollbook.rules.allie_gator.view import Pile, Player, View
from rollbook_replays.games.picture import WIDE, Picture, Shape, box, label, placed, polygon, seat_row, shape
from rollbook_replays.games.words import Words

CARD: Final = 78
TALL: Final = 108
HAND_GAP: Final = 10
PILE_TOP: Final = 34
SEATS_TOP: Final = PILE_TOP + TALL + 40
ROW: Final = 44
SMALL: Final = 40
TOOTH: Final = "-.9,-.8 .9,-.8 0,1"

_SIGNS: Final = {
    "reverse": "M-16 -4 A16 16 0 0 1 14 -8 M15 -16 L14 -7 L5 -8 M16 6 A16 16 0 0 1 -14 9 M-15 17 L-14 8 L-5 9",
    "steal": "M-12 14 L-12 -2 M-6 14 L-6 -12 M0 14 L0 -15 M6 14 L6 -12 M-12 14 C-10 22 6 22 9 12 L15 2",
    "raise": "M0 16 L0 -14 M-12 -3 L0 -15 L12 -3",
    "gift": "M-15 -5 L15 -5 L15 16 L-15 16 Z M0 -5 L0 16 M0 -5 C-16 -8 -10 -19 0 -5 C10 -19 16 -8 0 -5",
}
"""The signs on the special cards, drawn around 0, 0."""

_TURNS: Final = {
    True: "M-9 -3 A9 9 0 1 1 -8 5 M-15 -6 L-9 -2 L-4 -7",
    False: "M9 -3 A9 9 0 1 0 8 5 M15 -6 L9 -2 L4 -7",
}
"""The order of play."""


def picture(view: View, words: Words) -> Picture:
    """The piles above, then the seats, and below them every hand as this perspective sees it."""
    shapes = [*_pile(0, view, words), *_pile(1, view, words)]
    shapes.append(placed(WIDE / 2 - SMALL / 2, PILE_TOP + 20, _back(SMALL, 56), id="stock"))
    shapes.append(label(view.stock_size, WIDE / 2, PILE_TOP + 96, 20, "strong"))
    shapes.append(placed(WIDE / 2, 16, shape("path", d=_TURNS[view.clockwise], classes="outline"), id="direction"))
    y = float(SEATS_TOP)
    for seat, player in enumerate(view.players):
        shapes += seat_row(seat, y + ROW / 2, on_turn=seat == view.seat)
        shapes += _player(player, seat, y + ROW / 2)
        y += ROW
    for seat, player in enumerate(view.players):
        if player.hand:
            y += 12
            shapes += _hand(player.hand, seat, y)
            y += TALL
    return Picture(y + 10, tuple(shapes), _sentence(view, words))


def touched(view: View, choice: Any) -> tuple[str, ...]:
    """The card of the hand, and the pile or seat that the choice affects."""
    things: tuple[str, ...] = ()
    match choice:
        case Number():
            things = (*_in_hand(view, choice.card), f"pile-{choice.pile}")
        case Raise():
            things = (*_in_hand(view, choice.card), f"target-{choice.pile}")
        case Steal() if choice.target is not None:
            things = (f"seat-{choice.target}",)
        case Gift() if choice.pile is not None:
            things = (f"pile-{choice.pile}", f"seat-{choice.target}")
        case Snap():
            things = (f"pile-{view.chip}", f"target-{view.chip}", *_in_hand(view, choice.card))
        case Reverse():
            things = ("direction",)
    return things


def _in_hand(view: View, card: Card | None) -> tuple[str, ...]:
    hand = () if view.seat is None else view.players[view.seat].hand or ()
    return (f"hand-{view.seat}-{hand.index(card)}",) if card in hand else ()


def _pile(pile: int, view: View, words: Words) -> Iterator[Shape]:
    """The target outside and the pile inside, with the chip beneath if this pile has it."""
    shown: Pile = view.piles[pile]
    left = 12 if pile == 0 else WIDE - 12 - CARD
    inner = left + (CARD + 14 if pile == 0 else -CARD - 14)
    yield label(words("board.target"), left + CARD / 2, 16, 18, "faint")
    yield placed(left, PILE_TOP, *_target(shown), id=f"target-{pile}", classes="target")
    top = _card(shown.cards[-1]) if shown.cards else (box(CARD, TALL, "gone", 10),)
    yield placed(inner, PILE_TOP, *top, id=f"pile-{pile}", classes=_class_of(shown.cards[-1]) if shown.cards else "")
    if len(shown.cards) > 1:
        yield label(f"+{len(shown.cards) - 1}", inner + CARD / 2, 16, 18, "faint")
    if pile == view.chip:
        yield placed(84 if pile == 0 else WIDE - 84, PILE_TOP + TALL + 18, *_chip(words), id="chip")


def _target(pile: Pile) -> tuple[Shape, ...]:
    return _card(pile.targets[-1]) if pile.targets else (box(CARD, TALL, "gone", 10),)


def _chip(words: Words) -> tuple[Shape, ...]:
    teeth = (polygon(TOOTH, -62 + 10 * n, -1, 5, "tooth") for n in range(3))
    return (*teeth, label(words("board.chip"), 12, 0, 18, "strong"))


def _card(card: Card) -> tuple[Shape, ...]:
    """The face of a card, drawn from its corner."""
    rim = box(CARD, TALL, "field", 10)
    if card in SPECIALS:
        sign = shape("path", d=_SIGNS[SPECIALS[card]], classes="outline")
        return rim, placed(CARD / 2, TALL / 2, sign)
    return rim, label(card, CARD / 2, TALL / 2, 40, "strong")


def _class_of(card: Card) -> str:
    return f"card {SPECIALS[card]}" if card in SPECIALS else "card"


def _back(wide: float, tall: float) -> Shape:
    return box(wide, tall, "back", 6)


def _player(player: Player, seat: int, y: float) -> Iterator[Shape]:
    """The number of cards in the hand, the number of penalty cards, and the teeth of a seat."""
    yield placed(62, y - 15, _back(20, 30), id=f"cards-{seat}")
    yield label(player.hand_size, 98, y, 20, "strong")
    yield placed(138, y - 15, box(22, 30, "field", 4), id=f"penalties-{seat}")
    yield label(len(player.penalties), 176, y, 20)
    for number in range(MOST_TEETH):
        filled = number < player.teeth
        yield polygon(TOOTH, 236 + number * 26, y, 10, "tooth" if filled else "gone")


def _hand(hand: tuple[Card, ...], seat: int, y: float) -> Iterator[Shape]:
    for place, card in enumerate(hand):
        x = 12 + place * (CARD + HAND_GAP)
        yield placed(x, y, *_card(card), id=f"hand-{seat}-{place}", classes=_class_of(card))


def _sentence(view: View, words: Words) -> str:
    piles = []
    for number, pile in enumerate(view.piles):
        target = words("picture.target", card=pile.targets[-1]) if pile.targets else words("board.none")
        card = _name(pile.cards[-1], words) if pile.cards else words("board.none")
        piles.append(words("picture.pile", pile=words(f"pile.{number}"), target=target, card=card))
    return " ".join((*piles, words("picture.stock", count=view.stock_size)))


def _name(card: Card, words: Words) -> str:
    return words(f"special.{SPECIALS[card]}") if card in SPECIALS else str(card)
