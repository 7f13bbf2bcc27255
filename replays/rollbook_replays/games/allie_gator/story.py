"""Allie Gator, told: what was laid and taken, and of hidden cards as much as this pair of eyes may know."""

from __future__ import annotations

from collections.abc import Iterator

from rollbook.rules.allie_gator import (
    Choice,
    Drawn,
    Gift,
    Number,
    Outcome,
    Raise,
    Reverse,
    Steal,
    Stolen,
    Target,
)
from rollbook.rules.chance import FirstSeat
from rollbook_replays.games.allie_gator.cards import card_name
from rollbook_replays.games.presentation import Moment, Told, line
from rollbook_replays.games.seats import Seating
from rollbook_replays.text import STRONG, Text


def story(move: Choice | Outcome, moment: Moment, seating: Seating) -> Iterator[Told]:
    """Cards drawn, open or hidden, and cards played."""
    words = seating.words
    if isinstance(move, FirstSeat):
        yield line(move.seat, "told.first_seat", seating)
    elif isinstance(move, Target):
        yield Told(Text.of(words("told.target", card=move.card, pile=words(f"pile.{move.pile}"))))
    elif isinstance(move, Drawn):
        known = [card_name(card, words) for card in move.cards if card is not None]
        cards = words.both(known) if known else words.count("card", len(move.cards))
        yield line(move.seat, "told.draws", seating, cards=cards)
    elif isinstance(move, Stolen):
        if move.card is None:
            yield Told(line(moment.seat, "told.stolen_hidden", seating).text, is_implied=True)
        else:
            yield line(moment.seat, "told.stolen", seating, card=card_name(move.card, words))
    else:
        yield _chosen(move, moment.seat, seating)


def _chosen(move: Choice, seat: int, seating: Seating) -> Told:  # noqa: PLR0911 - a sentence a choice
    words = seating.words
    if isinstance(move, Number):
        return line(seat, "told.number", seating, card=move.card, pile=words(f"pile.{move.pile}"))
    if isinstance(move, Raise):
        return line(seat, "told.raise", seating, card=move.card, pile=words(f"pile.{move.pile}"))
    if isinstance(move, Reverse):
        return line(seat, "told.reverse", seating)
    if isinstance(move, Steal):
        if move.target is None:
            return line(seat, "told.steal.bare", seating)
        return line(seat, "told.steal", seating, other=seating.name(move.target))
    if isinstance(move, Gift):
        if move.pile is None or move.target is None:
            return line(seat, "told.gift.bare", seating)
        other, pile = seating.name(move.target), words(f"pile.{move.pile}")
        return line(seat, "told.gift", seating, other=other, pile=pile)
    if move.card is None:
        return line(seat, "told.snap.bare", seating, style=STRONG)
    return line(seat, "told.snap", seating, style=STRONG, card=move.card)
