"""Allie Gator's table: two piles with their targets, the chip, the stock, and the hands and penalties of the seats."""

from collections.abc import Sequence
from typing import Any, Final

from rollbook.rules.allie_gator.moves import (
    GIFT,
    RAISE,
    REVERSE,
    SPECIALS,
    STEAL,
    Card,
    Choice,
    Gift,
    Number,
    Raise,
    Reverse,
    Snap,
    Steal,
    Target,
)
from rollbook.rules.allie_gator.view import Pile, Player, View
from rollbook_replays.games.allie_gator.texts import card_name
from rollbook_replays.games.blocks import DOUBLE, HEAVY, THIN, Block, Room, beside, draw_box, flow
from rollbook_replays.games.presentation import NOTHING_MARKED, Spotlight
from rollbook_replays.games.seats import Seating
from rollbook_replays.games.words import Words
from rollbook_replays.text import MUTED, STRONG, Text

PILE: Final = 18
SEATS_FROM: Final = 40
NAME: Final = 15
BEHIND_NAME: Final = 20
HELD: Final = 4
BACK: Final = "▒"
SIGNS: Final = {REVERSE: "⇄", STEAL: "⇐", RAISE: "⇑", GIFT: "♥"}

PALETTE: Final = {
    "target": "#f0883e",
    "card": "#7ee787",
    "chosen": "bold #e3b341",
    "special": "#d2a8ff",
    "chip": "bold reverse #3fb950",
    "back": "#57606a",
    "teeth": "bold #f0f6fc",
}


def board(view: View, seating: Seating, room: Room, spotlight: Spotlight = NOTHING_MARKED) -> Block:
    """Piles to the left, seats to the right, the own hand below; then, if there is room, all open cards."""
    words, considered = seating.words, spotlight.considered
    shown = [_pile(view, words, pile, spotlight) for pile in range(len(view.piles))]
    piles = [_heading(view, words, considered), *beside(*shown, gap=2)]
    above = beside(piles, _seats(view, seating, room.width - SEATS_FROM, considered), gap=2)
    lines = [*above, *_hand(view, seating, room.width, considered)]
    open_cards = _open_cards(view, seating, room.width)
    return [*lines, *open_cards] if len(lines) + len(open_cards) <= room.height else lines


def _heading(view: View, words: Words, considered: Choice | None) -> Text:
    turns = isinstance(considered, Reverse)
    return Text.of(
        (words("board.round", number=view.round), STRONG),
        f"  {words('board.stock', count=view.stock_size)}  ",
        ("↻" if view.clockwise is not turns else "↺", "considered" if turns else "gold strong"),
    )


def _pile(view: View, words: Words, pile: int, spotlight: Spotlight) -> Block:
    """Chip, target and top card, from top to bottom, as they would be after the choice under the cursor."""
    shown, considered = view.piles[pile], spotlight.considered
    targets, cards, rims = shown.targets, shown.cards, _rims(spotlight.moves, view, pile)
    if isinstance(considered, Raise) and considered.pile == pile:
        targets, rims["target"] = (*targets, considered.card), HEAVY
    if isinstance(considered, Number) and considered.pile == pile:
        cards, rims["card"] = (*cards, considered.card), HEAVY
    if isinstance(considered, Gift) and considered.pile == pile:
        rims["card"] = HEAVY
    if isinstance(considered, Snap) and view.chip == pile:
        rims = dict.fromkeys(rims, HEAVY)
    chip = f" {words('board.chip')} " if view.chip == pile else ""
    lines = [
        Text.of((chip, "chip")),
        *_card_above_others(targets, "target", words, rims["target"]),
        *_card_above_others(cards, "card", words, rims["card"]),
        Text.of((_fitting(shown, words), MUTED)),
    ]
    return [line.pad(PILE).at(f"pile{pile}") for line in lines]


def _rims(moves: Sequence[Any], view: View, pile: int) -> dict[str, str]:
    """The borders of target and top card: double if the last moves placed that card."""
    rims = {"target": THIN, "card": THIN}
    for move in moves:
        if isinstance(move, Number) and move.pile == pile and view.piles[pile].cards:
            rims["card"] = DOUBLE
        if isinstance(move, Raise | Target) and move.pile == pile and view.piles[pile].targets:
            rims["target"] = DOUBLE
        if isinstance(move, Snap) and view.piles[pile].targets[-1:] == (move.card,):
            rims["target"] = DOUBLE
    return rims


def _card_above_others(cards: Sequence[Card], kind: str, words: Words, rim: str) -> Block:
    """The top card, its kind, and the number of cards beneath it."""
    style = "chosen" if rim == HEAVY else kind
    box = draw_box([f"{cards[-1]:^4}" if cards else "    "], style if cards else MUTED, rim)
    beneath = words("board.beneath", count=len(cards) - 1) if len(cards) > 1 else ""
    return beside(box, [Text(), Text.of((words(f"board.{kind}"), kind)), Text.of((beneath, MUTED))])


def _fitting(pile: Pile, words: Words) -> str:
    """The numbers that may be played on the pile, in words."""
    if not pile.targets:
        return ""
    lowest = pile.cards[-1] + 1 if pile.cards else 1
    highest = pile.targets[-1] - 1
    if lowest > highest:
        return words("board.nothing_fits")
    return words("board.fits", lowest=lowest, highest=highest)


def _seats(view: View, seating: Seating, wide: int, considered: Choice | None) -> Block:
    target = considered.target if isinstance(considered, Steal | Gift) else None
    name = seating.breadth(NAME, wide - BEHIND_NAME)
    lines = [Text.of((" " * name + seating.words("board.columns"), MUTED))]
    for seat, player in enumerate(view.players):
        specials = sum(card in SPECIALS for card in player.penalties)
        lines += [
            Text.of(
                seating.player(seat, name, on_turn=seat == view.seat).at(f"seat{seat}"),
                ("←" if seat == target else " ", "considered" if seat == target else ""),
                (f"{len(player.penalties):>3}", STRONG),
                (f" ({specials})".ljust(6), MUTED),
                (("▼" * player.teeth).ljust(7), "teeth"),
            ),
            Text.of(" " * HELD, _draw_hand(player, wide - HELD)),
        ]
    return lines


def _draw_hand(player: Player, wide: int) -> Text:
    """The cards of a hand, or their backs."""
    if not player.hand:
        return Text.of((f"{BACK * 2} " * player.hand_size, "back"))
    return Text.of(*((f"{SIGNS.get(card, card)} ", _style(card)) for card in player.hand)).clip(wide)


def _hand(view: View, seating: Seating, wide: int, considered: Choice | None) -> Block:
    """The own cards, large."""
    if seating.own is None:
        return []
    cards = view.players[seating.own].hand
    if not cards:
        return [Text.of((seating.words("board.hand_empty"), MUTED))]
    used = _card_of(considered)
    return flow([_large(card, seating.words, is_used=card == used) for card in cards], wide)


def _card_of(choice: Choice | None) -> Card | None:
    """The card of the hand that the choice plays."""
    specials = {Reverse: REVERSE, Steal: STEAL, Gift: GIFT}
    return specials.get(type(choice), getattr(choice, "card", None))


def _large(card: Card, words: Words, *, is_used: bool) -> Block:
    content = f"{SIGNS[card]} {card_name(card, words)}" if card in SPECIALS else f"  {card:^4}  "
    box = draw_box([content], "chosen" if is_used else _style(card), HEAVY if is_used else THIN)
    return [line.at(f"card{card}") for line in box]


def _style(card: Card) -> str:
    return "special" if card in SPECIALS else "card"


def _names(cards: Sequence[Card], words: Words) -> str:
    return " ".join(card_name(card, words) for card in cards)


def _open_cards(view: View, seating: Seating, wide: int) -> Block:
    """All cards of the piles and all penalties."""
    words, name = seating.words, seating.breadth(NAME, wide // 3)
    lines: Block = [Text(), Text.of((words("board.open_cards"), STRONG))]
    for number, pile in enumerate(view.piles):
        label = Text.of(f"  {words('board.pile', pile=words(f'pile.{number}'))}").pad(name)
        cards = _names(pile.cards, words) or words("board.none")
        if len(pile.targets) > 1:
            cards += f", {words('board.covered', cards=_names(pile.targets[:-1], words))}"
        lines += Text.of(label, " ", cards).wrap(wide, name + 1)
    for seat, player in enumerate(view.players):
        cards = _names(player.penalties, words) or words("board.none")
        lines += Text.of(seating.player(seat, name, on_turn=False), " ", cards).wrap(wide, name + 1)
    return lines
