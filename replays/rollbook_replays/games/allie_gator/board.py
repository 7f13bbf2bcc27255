"""Allie Gator's table: two piles with their targets, the chip, the stock, and what the seats hold and have taken."""

from collections.abc import Sequence
from typing import Final

from rollbook.rules.allie_gator.moves import GIFT, RAISE, REVERSE, SPECIALS, STEAL, Card
from rollbook.rules.allie_gator.view import Pile, Player, View
from rollbook_replays.games.allie_gator.texts import card_name
from rollbook_replays.games.blocks import Block, Room, beside, boxed, flow
from rollbook_replays.games.seats import Seating
from rollbook_replays.games.words import Words
from rollbook_replays.text import MUTED, STRONG, Text

PILE: Final = 18
SEATS_FROM: Final = 40
NAME: Final = 15
HELD: Final = 4
BACK: Final = "▒"
SIGNS: Final = {REVERSE: "⇄", STEAL: "⇐", RAISE: "⇑", GIFT: "♥"}

PALETTE: Final = {
    "target": "#f0883e",
    "card": "#7ee787",
    "special": "#d2a8ff",
    "chip": "bold reverse #3fb950",
    "back": "#57606a",
    "teeth": "bold #f0f6fc",
}


def board(view: View, seating: Seating, room: Room) -> Block:
    """Piles to the left, seats to the right, the own hand below; all cards that lie open where there is room."""
    words = seating.words
    piles = [_heading(view, words), *beside(*(_pile(view, words, pile) for pile in range(len(view.piles))), gap=2)]
    above = beside(piles, _seats(view, seating, room.width - SEATS_FROM), gap=2)
    lines = [*above, *_hand(view, seating, room.width)]
    open_cards = _open_cards(view, seating, room.width)
    return [*lines, *open_cards] if len(lines) + len(open_cards) <= room.height else lines


def _heading(view: View, words: Words) -> Text:
    return Text.of(
        (words("board.round", number=view.round), STRONG),
        f"  {words('board.stock', count=view.stock_size)}  ",
        ("↻" if view.clockwise else "↺", "gold strong"),
    )


def _pile(view: View, words: Words, pile: int) -> Block:
    """Chip, target and top card, from above."""
    shown = view.piles[pile]
    chip = f" {words('board.chip')} " if view.chip == pile else ""
    lines = [
        Text.of((chip, "chip")),
        *_card_above_others(shown.targets, "target", words),
        *_card_above_others(shown.cards, "card", words),
        Text.of((_fitting(shown, words), MUTED)),
    ]
    return [line.padded(PILE) for line in lines]


def _card_above_others(cards: Sequence[Card], kind: str, words: Words) -> Block:
    """The card that counts, what it is, and how many lie beneath."""
    box = boxed([f"{cards[-1]:^4}" if cards else "    "], kind if cards else MUTED)
    beneath = words("board.beneath", count=len(cards) - 1) if len(cards) > 1 else ""
    return beside(box, [Text(), Text.of((words(f"board.{kind}"), kind)), Text.of((beneath, MUTED))])


def _fitting(pile: Pile, words: Words) -> str:
    """Which numbers may be laid."""
    if not pile.targets:
        return ""
    lowest = pile.cards[-1] + 1 if pile.cards else 1
    highest = pile.targets[-1] - 1
    if lowest > highest:
        return words("board.nothing_fits")
    return words("board.fits", lowest=lowest, highest=highest)


def _seats(view: View, seating: Seating, wide: int) -> Block:
    lines = [Text.of((" " * NAME + seating.words("board.columns"), MUTED))]
    for seat, player in enumerate(view.players):
        specials = sum(card in SPECIALS for card in player.penalties)
        lines += [
            Text.of(
                seating.player(seat, NAME, on_turn=seat == view.seat),
                (f"{len(player.penalties):>4}", STRONG),
                (f" ({specials})".ljust(6), MUTED),
                (("▼" * player.teeth).ljust(7), "teeth"),
            ),
            Text.of(" " * HELD, _held(player, wide - HELD)),
        ]
    return lines


def _held(player: Player, wide: int) -> Text:
    """The cards of a hand, or their backs."""
    if not player.hand:
        return Text.of((f"{BACK * 2} " * player.hand_size, "back"))
    return Text.of(*((f"{SIGNS.get(card, card)} ", _style(card)) for card in player.hand)).cut(wide)


def _hand(view: View, seating: Seating, wide: int) -> Block:
    """The own cards, large."""
    if seating.own is None:
        return []
    cards = view.players[seating.own].hand
    if not cards:
        return [Text.of((seating.words("board.hand_empty"), MUTED))]
    return flow([_large(card, seating.words) for card in cards], wide)


def _large(card: Card, words: Words) -> Block:
    content = f"{SIGNS[card]} {card_name(card, words)}" if card in SPECIALS else f"  {card:^4}  "
    return boxed([content], _style(card))


def _style(card: Card) -> str:
    return "special" if card in SPECIALS else "card"


def _names(cards: Sequence[Card], words: Words) -> str:
    return " ".join(card_name(card, words) for card in cards)


def _open_cards(view: View, seating: Seating, wide: int) -> Block:
    """All cards of the piles and all penalties."""
    words = seating.words
    lines: Block = [Text(), Text.of((words("board.open_cards"), STRONG))]
    for number, pile in enumerate(view.piles):
        label = Text.of(f"  {words('board.pile', pile=words(f'pile.{number}'))}").padded(NAME)
        cards = _names(pile.cards, words) or words("board.none")
        if len(pile.targets) > 1:
            cards += f", {words('board.covered', cards=_names(pile.targets[:-1], words))}"
        lines += Text.of(label, " ", cards).wrapped(wide, NAME + 1)
    for seat, player in enumerate(view.players):
        cards = _names(player.penalties, words) or words("board.none")
        lines += Text.of(seating.player(seat, NAME, on_turn=False), " ", cards).wrapped(wide, NAME + 1)
    return lines
