"""The presentation of the toy, in both languages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rollbook.rules.chance import FirstSeat
from rollbook.rules.game import Choices
from rollbook_replays.games.blocks import Block, Room
from rollbook_replays.games.presentation import (
    NOTHING_MARKED,
    MenuEntry,
    Moment,
    Presentation,
    Sentence,
    Spotlight,
    sentence,
)
from rollbook_replays.games.seats import Seating
from rollbook_replays.games.words import Texts
from rollbook_replays.text import Text
from toy.rules import ACE, Card, Choice, Dealt, Lay, Name, Outcome, View


def board(view: View, seating: Seating, room: Room, _spotlight: Spotlight = NOTHING_MARKED) -> Block:
    """Return a line for each seat: its name, its laid cards, and its hand or the size of the hand."""
    lines = []
    for seat, player in enumerate(view.players):
        laid = _cards(player.laid, seating)
        points = seating.words("board.points", points=player.points)
        line = Text.of(seating.player(seat, 16, on_turn=seat == view.seat), f" {points}  {laid} | ")
        hidden = seating.words("board.cards", number=player.hand_size)
        lines.append(Text.of(line, hidden if player.hand is None else _cards(player.hand, seating)))
    return [part for line in lines for part in line.wrap(room.width, 4)]


def menu(_view: View, legal: Choices[Choice], seating: Seating) -> tuple[MenuEntry, ...]:
    """Return an entry for each choice; a hand is small."""
    return tuple(MenuEntry(_label(choice, seating), choice=choice) for choice in legal)


def story(move: Choice | Outcome, moment: Moment, seating: Seating) -> Iterator[Sentence]:
    """Yield one line for the event."""
    match move:
        case FirstSeat(seat):
            yield sentence(seat, "told.drawn", seating)
        case Dealt(seat, cards) if None in cards:
            yield sentence(seat, "told.dealt", seating, number=len(cards))
        case Dealt(seat, cards):
            yield sentence(seat, "told.dealt.open", seating, cards=_cards(cards, seating))
        case Name(target):
            yield sentence(moment.seat, "told.names", seating, other=seating.name(target))
        case Lay(cards):
            yield sentence(moment.seat, "told.lays", seating, cards=_cards(cards, seating))


def _label(choice: Choice, seating: Seating) -> str:
    if isinstance(choice, Name):
        return seating.words("menu.name", name=seating.name(choice.target))
    return seating.words("menu.lay", cards=_cards(choice.cards, seating))


def _cards(cards: tuple[Card | None, ...], seating: Seating) -> str:
    return " ".join(seating.words("ace") if card == ACE else str(card) for card in cards)


TEXTS: Final[Texts] = {
    "en": {
        "ace": "ace",
        "board.points": "{points} points",
        "board.cards": "{number} cards",
        "menu.name": "Let {name} begin",
        "menu.lay": "Lay {cards}",
        "told.drawn": "{name} says who begins",
        "told.dealt": "{name} is dealt {number} cards",
        "told.dealt.open": "{name} is dealt {cards}",
        "told.names": "{name} lets {other} begin",
        "told.lays": "{name} lays {cards}",
        "option.aim": "Aim",
        "option.aim.most": "most points",
        "option.aim.fewest": "fewest points",
        "option.hand": "Cards in hand",
        "differs.aim.fewest": "the fewest points win",
        "differs.hand": "{value} cards in hand",
        "help": "Lay cards; as many as you lay at once, squared, are your points.",
    },
    "de": {
        "ace": "Ass",
        "board.points": "{points} Punkte",
        "board.cards": "{number} Karten",
        "menu.name": "{name} beginnen lassen",
        "menu.lay": "{cards} auslegen",
        "told.drawn": "{name} sagt, wer beginnt",
        "told.dealt": "{name} bekommt {number} Karten",
        "told.dealt.open": "{name} bekommt {cards}",
        "told.names": "{name} lässt {other} beginnen",
        "told.lays": "{name} legt {cards} aus",
        "option.aim": "Ziel",
        "option.aim.most": "die meisten Punkte",
        "option.aim.fewest": "die wenigsten Punkte",
        "option.hand": "Handkarten",
        "differs.aim.fewest": "die wenigsten Punkte gewinnen",
        "differs.hand": "{value} Handkarten",
        "help": "Leg Karten aus; so viele du auf einmal auslegst, zum Quadrat, sind deine Punkte.",
    },
}

PRESENTATION: Final = Presentation(board, menu, story, TEXTS)
