"""Allie Gator, told and drawn: two piles, the hands that these eyes see, penalties and teeth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rollbook.rules.allie_gator import (
    SPECIALS,
    Card,
    Choice,
    Drawn,
    Gift,
    Number,
    Outcome,
    Raise,
    Reverse,
    State,
    Steal,
    Target,
    View,
)
from rollbook.rules.chance import FirstSeat
from rollbook_replays.boards.telling import Names, Telling
from rollbook_replays.text import FAINT, HEADING, Pen, name_width, padded, seat_style, wrapped

INDENT: Final = 13
CHIP: Final = "◆"


def happened(outcome: Outcome, names: Names, _pen: Pen) -> str:
    """Cards that come from the stock or out of a hand; hidden ones are only counted."""
    if isinstance(outcome, FirstSeat):
        return f"{names[outcome.seat]} starts"
    if isinstance(outcome, Target):
        return f"{outcome.card} becomes the target of pile {outcome.pile}"
    if isinstance(outcome, Drawn):
        return f"{names[outcome.seat]} draws {_drawn(outcome.cards)}"
    return f"the stolen card is {'hidden' if outcome.card is None else _card(outcome.card)}"


def chosen(choice: Choice, names: Names, _state: State) -> str:  # noqa: PLR0911 - a sentence a choice
    """Which card is played, and onto whom."""
    if isinstance(choice, Number):
        return f"lays {choice.card} onto pile {choice.pile}"
    if isinstance(choice, Reverse):
        return "turns the order of play round"
    if isinstance(choice, Steal):
        return "steals from nobody" if choice.target is None else f"steals from {names[choice.target]}"
    if isinstance(choice, Raise):
        return f"raises the target of pile {choice.pile} to {choice.card}"
    if isinstance(choice, Gift):
        if choice.pile is None or choice.target is None:
            return "gives nothing away"
        return f"gives the top card of pile {choice.pile} to {names[choice.target]}"
    return "snaps" if choice.card is None else f"snaps, and {choice.card} becomes the new target"


def board(view: View, names: Names, pen: Pen) -> Iterator[str]:
    """Piles, stock and seats; a hand that these eyes do not see is a number of cards."""
    yield pen(f"Round {view.round}, {'clockwise' if view.clockwise else 'counterclockwise'}", HEADING)
    for number, pile in enumerate(view.piles):
        chip = CHIP if number == view.chip else " "
        target = f"target {pile.targets[-1]}" if pile.targets else "no target"
        covered = f" (covers {_cards(pile.targets[:-1])})" if len(pile.targets) > 1 else ""
        yield f"  {chip} pile {number}   {target}{covered}"
        yield from wrapped(_words(pile.cards), INDENT)
    yield pen(f"  {CHIP} chip, {view.stock_size} cards in the stock", FAINT)
    columns = name_width(names)
    for seat, (name, player) in enumerate(zip(names, view.players, strict=True)):
        yield ""
        teeth = "1 tooth" if player.teeth == 1 else f"{player.teeth} teeth"
        penalties = "1 penalty card" if len(player.penalties) == 1 else f"{len(player.penalties)} penalty cards"
        yield (
            f"{seat}  {pen(padded(name, columns), seat_style(seat))}  place {view.places[seat]}, {teeth}, {penalties}"
        )
        hand = [f"{player.hand_size} hidden"] if player.hand is None else _words(player.hand)
        yield from wrapped(hand, INDENT, "   hand")
        yield from wrapped(_words(player.penalties), INDENT, "   penalties")


def _drawn(cards: Sequence[Card | None]) -> str:
    known = [card for card in cards if card is not None]
    return _cards(known) if known else "1 card" if len(cards) == 1 else f"{len(cards)} cards"


def _cards(cards: Sequence[Card]) -> str:
    return " ".join(map(_card, cards))


def _words(cards: Sequence[Card]) -> list[str]:
    return [_card(card) for card in cards] or ["none"]


def _card(card: Card) -> str:
    return SPECIALS.get(card, str(card))


TELLING: Final = Telling(happened, chosen, board)
