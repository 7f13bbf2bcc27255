"""Allie Gator as a picture: both piles with their targets, the own hand, and what each seat has."""

from collections.abc import Iterator
from typing import Any, Final

from rollbook.rules.allie_gator.moves import (
    GIFT,
    HAND,
    HIGHEST_NUMBER,
    MOST_TEETH,
    RAISE,
    REVERSE,
    SPECIALS,
    STEAL,
    Card,
    Gift,
    Number,
    Raise,
    Reverse,
    Snap,
    Steal,
)
from rollbook.rules.allie_gator.view import Pile, Player, View
from rollbook_replays.games.picture import Picture, Shape, Zone, box, front, label, mark, place_at, shape, solid, tooth
from rollbook_replays.games.words import Words

CARD: Final = 72
TALL: Final = 102
HAND_STEP: Final = 88
BOARD: Final = (560.0, 412.0)
LANE: Final = (552.0, 182.0)
LANE_STEP: Final = 222
BAR: Final = (152.0, 260.0)
"""Left end and length of the bar that shows which numbers fit."""
TOP: Final = 24

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


GATOR: Final = (
    "M2 44C0 20 18 11 33 13C38 1 54 2 57 14L110 23C121 25 121 38 111 39L62 42 30 47z",
    "M4 50L34 54 60 52 103 60C112 62 109 71 100 71L28 72C10 71 2 62 4 50z",
)
FANGS: Final = "M60 42l5 8 5-9zM74 41l5 8 5-9zM88 40l5 8 5-9zM66 53l5-7 5 8zM80 56l5-8 5 10zM94 58l4-8 5 10z"


def picture(view: View, words: Words) -> Picture:
    """The piles, the hands as this perspective sees them, and what is in front of each seat."""
    hands = [(seat, player.hand) for seat, player in enumerate(view.players) if player.hand]
    own = hands[0][1] if len(hands) == 1 else ()
    shapes = [each for pile in (0, 1) for each in _pile(pile, view, own or (), words)]
    stock = (box(23, 32, "back", 5), label(view.stock_size, 34, 0, 20, "on-cloth strong"))
    shapes.append(place_at(262, 206, *stock, id="stock"))
    hit = box(40, 36, "hit", 8)
    turns = place_at(
        336, 206, hit, shape("path", d=_TURNS[view.clockwise], classes="face outline turns"), id="direction"
    )
    zones = [Zone("board", *BOARD, (*shapes, turns))]
    if hands:
        zones.append(_hands(hands))
    zones += [_front(seat, player) for seat, player in enumerate(view.players)]
    return Picture(tuple(zones), _sentence(view, words))


def list_touched(view: View, choice: Any) -> tuple[str, ...]:
    """The cards of the hand, and the pile, target, chip or seat that the choice affects."""
    things: tuple[str, ...] = ()
    match choice:
        case Number():
            things = (*_in_hand(view, choice.card), f"pile-{choice.pile}")
        case Raise():
            things = (*_in_hand(view, choice.card), *_in_hand(view, RAISE), f"target-{choice.pile}")
        case Steal():
            things = (*_in_hand(view, STEAL), *_seat(choice.target))
        case Gift():
            pile = () if choice.pile is None else (f"pile-{choice.pile}",)
            things = (*_in_hand(view, GIFT), *pile, *_seat(choice.target))
        case Snap():
            # A `+` means that this thing is pressed after the others: pressing the card first does not choose a snap.
            things = ("chip", *(f"+{card}" for card in _in_hand(view, choice.card)))
        case Reverse():
            things = (*_in_hand(view, REVERSE), "direction")
    return things


def _seat(seat: int | None) -> tuple[str, ...]:
    return () if seat is None else (f"seat-{seat}",)


def _in_hand(view: View, card: Card | None) -> tuple[str, ...]:
    hand = () if view.seat is None else view.players[view.seat].hand or ()
    return (f"hand-{view.seat}-{hand.index(card)}",) if card in hand else ()


def _pile(pile: int, view: View, own: tuple[Card, ...], words: Words) -> Iterator[Shape]:
    """A lane with the pile on the left, the target on the right, and the room between them."""
    shown: Pile = view.piles[pile]
    y = 4 + pile * LANE_STEP + LANE[1] / 2
    beneath = range(min(3, len(shown.cards) - 1), 0, -1)
    cards = [place_at(-206 - 4 * n, 3 * n, box(CARD, TALL, "under", 10)) for n in beneath]
    cards.append(place_at(-206, 0, *_card(shown.cards[-1] if shown.cards else None)))
    number = label(words.count("card", len(shown.cards)), -206, TALL / 2 + 23, 20)
    lane = place_at(280, y, box(*LANE, "face lane", 22), *cards, number, *_room(shown, own), id=f"pile-{pile}")
    yield lane
    target = shown.targets[-1] if shown.targets else None
    yield place_at(490, y, *_card(target), id=f"target-{pile}", classes="target")
    covered = f" +{len(shown.targets) - 1}" if len(shown.targets) > 1 else ""
    yield label(words("board.target") + covered, 490, y + TALL / 2 + 23, 20)
    if pile == view.chip:
        jaws = [shape("path", d=path, classes="face gator") for path in GATOR]
        face = (shape("path", d=FANGS, classes="fang"), shape("circle", cx=44, cy=13, r=7, classes="fang"))
        eye = shape("circle", cx=46, cy=13, r=3.4, classes="eye")
        drawn = shape("g", *jaws, *face, eye, transform="scale(.72)")
        yield place_at(128, y - LANE[1] / 2 - 2, drawn, id="chip")


def _room(pile: Pile, own: tuple[Card, ...]) -> Iterator[Shape]:
    """The numbers between top card and target as a bar, with the number cards of the own hand on it."""
    left, length = BAR[0] - 280, BAR[1]
    step = length / HIGHEST_NUMBER
    yield shape("rect", x=left, y=-9, width=length, height=18, rx=9, classes="bar")
    yield label("", left + length / 2, 66, 21, "says on-cloth strong")
    if not pile.targets:
        return
    low, high = pile.cards[-1] if pile.cards else 0, pile.targets[-1]
    if high - low > 1:
        yield shape("rect", x=left + low * step, y=-9, width=(high - low) * step, height=18, rx=9, classes="gap")
    lower = 1
    for card in own:
        if card in SPECIALS:
            continue
        x, fits = left + card * step, low < card < high
        yield shape("circle", cx=x, cy=0, r=8 if fits else 4, classes="fits" if fits else "fits-not")
        if fits:
            yield label(card, x, 28 if lower else -26, 20, "on-cloth strong")
            lower = 1 - lower


def _card(card: Card | None) -> tuple[Shape, ...]:
    """The face of a card around 0, 0; only its outline if there is none."""
    if card is None:
        return (box(CARD, TALL, "face cell", 10),)
    if card in SPECIALS:
        sign = shape("path", d=_SIGNS[SPECIALS[card]], classes="outline special")
        return (*solid(CARD, TALL), place_at(0, 0, sign))
    return (*solid(CARD, TALL), label(card, 0, 0, 42, "ink carved"))


def _hands(hands: list[tuple[int, tuple[Card, ...]]]) -> Zone:
    """The hands that may be seen, a row each, with the sign of the seat if there are several."""
    shapes: list[Shape] = []
    side = 30 if len(hands) > 1 else 0
    for row, (seat, hand) in enumerate(hands):
        y = TALL / 2 + 8 + row * (TALL + 18)
        if side:
            shapes.append(mark(seat, 14, y, 11))
        for place, card in enumerate(hand):
            x = side + HAND_STEP / 2 + place * HAND_STEP
            shapes.append(place_at(x, y, *_card(card), id=f"hand-{seat}-{place}"))
    most = max(HAND, *(len(hand) for _, hand in hands))
    return Zone("hand", side + most * HAND_STEP, len(hands) * (TALL + 18) + 4, tuple(shapes))


def _front(seat: int, player: Player) -> Zone:
    """The teeth, the number of cards in the hand, and the number of penalty cards."""
    shapes = [
        tooth(11 + number * 19, 16, "tooth" if number < player.teeth else "missing") for number in range(MOST_TEETH)
    ]
    shapes.append(place_at(136, 16, box(17, 26, "back", 4), id=f"cards-{seat}"))
    shapes.append(label(player.hand_size, 154, 16, 19, "count strong"))
    rim = (box(34, 27, "rim", 5), label(len(player.penalties), 0, 0, 18, "count strong"))
    shapes.append(place_at(188, 16, *rim, id=f"penalties-{seat}"))
    return front(seat, 208, 32, shapes)


def _sentence(view: View, words: Words) -> str:
    piles = []
    for number, pile in enumerate(view.piles):
        target = words("picture.target", card=pile.targets[-1]) if pile.targets else words("board.none")
        card = _name(pile.cards[-1], words) if pile.cards else words("board.none")
        piles.append(words("picture.pile", pile=words(f"pile.{number}"), target=target, card=card))
    return " ".join((*piles, words("picture.stock", count=view.stock_size)))


def _name(card: Card, words: Words) -> str:
    return words(f"special.{SPECIALS[card]}") if card in SPECIALS else str(card)
