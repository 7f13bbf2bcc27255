"""The narration of Allie Gator: cards played and taken, and the hidden cards that this perspective may see."""

from collections.abc import Iterator

from rollbook.rules.allie_gator.moves import (
    Choice,
    Drawn,
    Gift,
    Number,
    Outcome,
    Raise,
    Reverse,
    Snap,
    Steal,
    Stolen,
    Target,
)
from rollbook.rules.allie_gator.view import View
from rollbook.rules.chance import FirstSeat
from rollbook_replays.games.allie_gator.texts import card_name
from rollbook_replays.games.presentation import Moment, Sentence, sentence
from rollbook_replays.games.seats import Seating
from rollbook_replays.games.words import Words
from rollbook_replays.text import STRONG, Text


def story(move: Choice | Outcome, moment: Moment, seating: Seating) -> Iterator[Sentence]:
    """Cards drawn, open or hidden, and cards played."""
    words = seating.words
    if isinstance(move, FirstSeat):
        yield sentence(move.seat, "told.first_seat", seating)
    elif isinstance(move, Target):
        yield Sentence(Text.of(words("told.target", card=move.card, pile=words(f"pile.{move.pile}"))))
    elif isinstance(move, Drawn):
        known = [card_name(card, words) for card in move.cards if card is not None]
        cards = words.both(known) if known else words.count("card", len(move.cards))
        yield sentence(move.seat, "told.draws", seating, cards=cards)
    elif isinstance(move, Stolen):
        if move.card is None:
            yield sentence(moment.seat, "told.stolen_hidden", seating, is_implied=True)
        else:
            yield sentence(moment.seat, "told.stolen", seating, card=card_name(move.card, words))
    else:
        yield _tell_choice(move, moment.seat, seating)


def _tell_choice(move: Choice, seat: int, seating: Seating) -> Sentence:  # noqa: PLR0911 - one sentence for each choice
    words = seating.words
    if isinstance(move, Number):
        return sentence(seat, "told.number", seating, card=move.card, pile=words(f"pile.{move.pile}"))
    if isinstance(move, Raise):
        return sentence(seat, "told.raise", seating, card=move.card, pile=words(f"pile.{move.pile}"))
    if isinstance(move, Reverse):
        return sentence(seat, "told.reverse", seating)
    if isinstance(move, Steal):
        if move.target is None:
            return sentence(seat, "told.steal.bare", seating)
        return sentence(seat, "told.steal", seating, other=seating.name(move.target))
    if isinstance(move, Gift):
        if move.pile is None or move.target is None:
            return sentence(seat, "told.gift.bare", seating)
        other, pile = seating.name(move.target), words(f"pile.{move.pile}")
        return sentence(seat, "told.gift", seating, other=other, pile=pile)
    if move.card is None:
        return sentence(seat, "told.snap.bare", seating, style=STRONG)
    return sentence(seat, "told.snap", seating, style=STRONG, card=move.card)


def highlight(move: Choice | Outcome, _moment: Moment) -> str:
    """Snap, or a card that is stolen."""
    if isinstance(move, Snap):
        return "snap"
    return "steal" if isinstance(move, Steal) and move.target is not None else ""


def score(view: View, seat: int, words: Words) -> str:
    """The teeth of a seat."""
    return words.count("tooth", view.players[seat].teeth)
