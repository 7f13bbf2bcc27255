"""Allie Gator's table: two piles with their targets, the chip, the stock, and what the seats hold and have taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from rollbook.v1.allie_gator_pb2 import AllieGatorSpecial, AllieGatorView
from rollbook_clients.terminal.blocks import Block, Room, beside, boxed, fitted, flow
from rollbook_clients.terminal.language import Words
from rollbook_clients.terminal.seating import Seating

NUMBERS: Final = 70
PILE: Final = 18
SEATS_FROM: Final = 40
HAND: Final = 5

TARGET: Final = "#f0883e"
CARD: Final = "#7ee787"
SPECIAL: Final = "#d2a8ff"
CHIP: Final = "bold reverse #3fb950"
BACK: Final = "▒"
NAME: Final = 15
SIGNS: Final = {71: "⇄", 72: "⇐", 73: "⇑", 74: "♥"}


def special_name(card: int) -> str:
    """As the rules call it.

    >>> special_name(71)
    'reverse'
    """
    return AllieGatorSpecial.Name(AllieGatorSpecial.ValueType(card)).removeprefix("ALLIE_GATOR_SPECIAL_").lower()


def card_name(card: int, words: Words) -> str:
    """Its number, or what it is called."""
    return str(card) if card <= NUMBERS else words(f"special.{special_name(card)}")


def draw(view: AllieGatorView, seating: Seating, room: Room) -> Block:
    """Piles to the left, seats to the right, the own hand below."""
    piles = [_heading(view, seating), *beside(*(_pile(view, seating, pile) for pile in range(len(view.piles))), gap=2)]
    above = beside(piles, _seats(view, seating, room.width - SEATS_FROM), gap=2)
    hand = _hand(view, seating, room.width)
    return [*above, *hand]


def _heading(view: AllieGatorView, seating: Seating) -> Text:
    words = seating.words
    line = Text(words("allie_gator.round", number=view.round), "bold")
    line.append(f"  {words('allie_gator.stock', count=view.stock_size)}  ")
    line.append("↻" if view.clockwise else "↺", "bold #e3b341")
    return line


def _pile(view: AllieGatorView, seating: Seating, pile: int) -> Block:
    """Chip, target and top card, from above."""
    words = seating.words
    shown = view.piles[pile]
    chip = f" {words('allie_gator.chip')} " if view.chip == pile else ""
    lines = [Text.assemble((chip, CHIP) if chip else "")]
    lines += _card_above_others(shown.targets, "target", words)
    lines += _card_above_others(shown.cards, "card", words)
    room = _room(shown, words)
    lines.append(Text(room, "dim"))
    for line in lines:
        line.append(" " * (PILE - line.cell_len))
    return lines


def _card_above_others(cards: Sequence[int], kind: str, words: Words) -> Block:
    """The card that counts, what it is, and how many lie beneath."""
    style = TARGET if kind == "target" else CARD
    box = boxed([f"{cards[-1]:^4}" if cards else "    "], style if cards else "dim", f"bold {style}")
    beneath = words("allie_gator.beneath", count=len(cards) - 1) if len(cards) > 1 else ""
    return beside(box, [Text(), Text(words(f"allie_gator.{kind}"), style), Text(beneath, "dim")])


def _room(pile: AllieGatorView.Pile, words: Words) -> str:
    """Which numbers may be laid."""
    if not pile.targets:
        return ""
    lowest = pile.cards[-1] + 1 if pile.cards else 1
    highest = pile.targets[-1] - 1
    if lowest > highest:
        return words("allie_gator.nothing_fits")
    return words("allie_gator.fits", lowest=lowest, highest=highest)


def _seats(view: AllieGatorView, seating: Seating, wide: int) -> Block:
    words = seating.words
    lines = [Text(fitted("", NAME) + words("allie_gator.columns"), "dim")]
    for seat, player in enumerate(view.players):
        line = seating.player(seat, NAME, on_turn=view.HasField("seat") and seat == view.seat)
        specials = sum(card > NUMBERS for card in player.penalties)
        line.append(f"{len(player.penalties):>4}", "bold")
        line.append(f" ({specials})".ljust(6), "dim")
        line.append(("▼" * player.teeth).ljust(7), "bold #f0f6fc")
        lines.append(line)
        lines.append(Text(" " * 4).append_text(_held(player, wide - 4)))
    return lines


def _held(player: AllieGatorView.Player, wide: int) -> Text:
    """The cards of a hand, or their backs."""
    if not player.hand:
        return Text(f"{BACK * 2} " * player.hand_size, "#57606a")
    line = Text()
    for card in player.hand:
        said = str(card) if card <= NUMBERS else SIGNS[card]
        line.append(f"{said} ", CARD if card <= NUMBERS else SPECIAL)
    line.truncate(wide)
    return line


def _hand(view: AllieGatorView, seating: Seating, wide: int) -> Block:
    """The own cards, large."""
    if seating.own is None:
        return []
    words = seating.words
    cards = [_large(card, words) for card in view.players[seating.own].hand]
    if not cards:
        return [Text(words("allie_gator.hand_empty"), "dim")]
    return flow(cards, wide)


def _large(card: int, words: Words) -> Block:
    if card <= NUMBERS:
        return boxed([f"  {card:^4}  "], CARD, f"bold {CARD}")
    return boxed([f"{SIGNS[card]} {words(f'special.{special_name(card)}')}"], SPECIAL, f"bold {SPECIAL}")
