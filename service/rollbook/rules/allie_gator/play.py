"""How Allie Gator is played: which choices are legal, and what every move does.

Hands and stock are hidden, so refusals name only the caller's own cards and open ones.
"""

from bisect import insort
from collections.abc import Callable
from typing import Any, cast

from rollbook.rules.allie_gator.moves import (
    GIFT,
    HIGHEST_NUMBER,
    NAME,
    PILES,
    RAISE,
    REVERSE,
    SPECIALS,
    STEAL,
    VOCABULARY,
    Card,
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
from rollbook.rules.allie_gator.rounds import begin_round, end_round, end_turn, next_turn
from rollbook.rules.allie_gator.state import (
    CHOOSE,
    CHOOSING,
    DEAL,
    DRAWING,
    FIRST_SEAT,
    LAYING_TARGET,
    NEW_TARGET,
    REFILL,
    REPLACE,
    STEALING,
    State,
    find_awaited,
    has_number,
    index_of,
    numbers_of,
)
from rollbook.rules.chance import FirstSeat
from rollbook.rules.game import NONE_LEGAL, Listed, impossible, not_awaited
from rollbook.rules.options import shorten_value
from rollbook.rules.refusals import Illegal, Invalid, Reason

# Choices


def legal(state: State) -> Listed[Choice]:
    """The legal choices: number, reverse, steal, raise, gift, snap, each ascending by what it names."""
    if state.stage != CHOOSE:
        return cast("Listed[Choice]", NONE_LEGAL)
    hand = state.hands[state.seat]
    numbers = numbers_of(hand)
    others = [seat for seat in range(len(state.hands)) if seat != state.seat]
    choices: list[Choice] = [Number(card, pile) for card in numbers for pile in PILES if _fits(state, card, pile)]
    if REVERSE in hand:
        choices.append(Reverse())
    if STEAL in hand:
        choices += [Steal(seat) for seat in others if state.hands[seat]] or [Steal()]
    if RAISE in hand:
        choices += [Raise(card, pile) for card in numbers for pile in PILES if card > state.targets[pile][-1]]
    if GIFT in hand:
        choices.append(Gift())
        choices += [Gift(pile, seat) for pile in PILES if state.laid[pile] for seat in others]
    choices += [Snap(card) for card in numbers if state.stock] or [Snap()]
    return Listed(choices)


def _fits(state: State, card: Card, pile: int) -> bool:
    """Whether the card is below the target of the pile and above its top card."""
    laid = state.laid[pile]
    return card < state.targets[pile][-1] and (not laid or card > laid[-1])


def caretaker(state: State) -> Choice:
    """Lay the lowest card that can be laid, on the pile with the higher target; else snap with the highest number."""
    numbers = numbers_of(state.hands[state.seat])
    for card in numbers:
        piles = [pile for pile in PILES if _fits(state, card, pile)]
        if piles:
            return Number(card, max(piles, key=lambda pile: state.targets[pile][-1]))
    return Snap(numbers[-1] if numbers and state.stock else None)


# Play


def play(state: State, move: Choice | Outcome) -> None:
    """Apply an outcome or a choice to the state, or refuse it and change nothing."""
    handler = HANDLERS.get(type(move))
    if handler is None or state.stage not in handler[0]:
        raise not_awaited(find_awaited(state), move, NAME, VOCABULARY)
    handler[1](state, move)


def _begin(state: State, move: FirstSeat) -> None:
    """The first round, once its starting seat is known."""
    if type(move.seat) is not int or move.seat not in range(len(state.hands)):
        raise impossible(find_awaited(state), f"seat {shorten_value(move.seat)} is not at the table")
    begin_round(state, move.seat)


def _target(state: State, move: Target) -> None:
    """Lay a target, at the beginning of a round or after a snap."""
    if type(move.pile) is not int or move.pile != state.pile:
        raise impossible(find_awaited(state), f"the target is drawn for pile {state.pile}")
    index = index_of(state.stock, move.card)
    if index is None or move.card > HIGHEST_NUMBER:
        raise impossible(find_awaited(state), f"{shorten_value(move.card)} is not a number card of the stock")
    del state.stock[index]
    state.targets[state.pile] = [move.card]
    if state.stage == NEW_TARGET:
        end_turn(state)
    elif state.pile == PILES[-1]:
        state.stage = DEAL
    else:
        state.pile += 1


def _take_drawn(state: State, move: Drawn) -> None:
    """Put drawn cards into a hand, sorted."""
    seat = state.served
    if type(move.seat) is not int or move.seat != seat:
        raise impossible(find_awaited(state), f"the cards are drawn for seat {seat}")
    cards = move.cards
    if type(cards) is not tuple or len(cards) != state.count:
        raise impossible(find_awaited(state), f"seat {seat} draws {state.count}")
    # If a later card is missing, the stock of the state must be unchanged.
    stock = state.stock.copy() if len(cards) > 1 else state.stock
    for card in cards:
        index = index_of(stock, card)
        if index is None:
            raise impossible(find_awaited(state), f"the stock does not give these cards to seat {seat}")
        del stock[index]
    state.stock = stock
    hand = state.hands[seat]
    for card in cast("tuple[Card, ...]", cards):
        insort(hand, card)
    if state.stage == REFILL:
        next_turn(state)
    elif state.stage == REPLACE:
        end_turn(state)
    else:
        # "Spielvorbereitung": five cards for every seat, clockwise from the starting seat.
        state.served = (seat + 1) % len(state.hands)
        if state.served == state.starter:
            state.stage = CHOOSE


def _take_stolen(state: State, move: Stolen) -> None:
    """Move the stolen card into the hand of the seat whose turn it is."""
    robbed = state.hands[state.served]
    index = index_of(robbed, move.card)
    if index is None:
        raise impossible(find_awaited(state), f"seat {state.served} cannot be robbed of that card")
    insort(state.hands[state.seat], robbed.pop(index))
    # "Karte klauen": the robbed seat draws its replacement before the turn goes on.
    if state.stock:
        state.count = 1
        state.stage = REPLACE
    else:
        end_turn(state)


def _number(state: State, move: Number) -> None:
    """Lay a number card onto a pile."""
    card, pile = move.card, move.pile
    _check_card(card)
    _check_pile(pile)
    _check_held(state, card)
    target, laid = state.targets[pile][-1], state.laid[pile]
    # "Zahlenkarte ausspielen": the card is below the target, and above the card that it covers.
    if card >= target:
        raise Illegal(
            Reason.CARD_TOO_HIGH,
            f"{card} is not lower than {target}, the target of pile {pile}",
            card=card,
            pile=pile,
            target=target,
        )
    if laid and card <= laid[-1]:
        raise Illegal(
            Reason.CARD_TOO_LOW,
            f"{card} is not higher than {laid[-1]}, the top card of pile {pile}",
            card=card,
            pile=pile,
            top=laid[-1],
        )
    state.hands[state.seat].remove(card)
    laid.append(card)
    end_turn(state)


def _reverse(state: State, _move: Reverse) -> None:
    """Turn the order of play round."""
    _check_held(state, REVERSE)
    _lay_special(state, REVERSE)
    # "Hinweise für 2 Spieler": there the order of play does not turn round.
    if len(state.hands) > 2:  # noqa: PLR2004 - two seats
        state.direction = -state.direction
    end_turn(state)


def _steal(state: State, move: Steal) -> None:
    """Rob another seat of a card, which chance then names."""
    target = move.target
    if target is None:
        _check_held(state, STEAL)
        # Ruling: where no other seat has a card, the special card can be played all the same, without a seat.
        if any(hand for seat, hand in enumerate(state.hands) if seat != state.seat):
            raise Illegal(Reason.TARGET_MISSING, "steal names no seat, but another seat has cards")
    else:
        _check_seat(state, target)
        _check_held(state, STEAL)
        _check_other(state, target)
        if not state.hands[target]:
            raise Illegal(Reason.TARGET_HAS_NONE, f"seat {target} has no card", target=target)
    _lay_special(state, STEAL)
    if target is None:
        end_turn(state)
    else:
        state.served = target
        state.stage = STEALING


def _raise(state: State, move: Raise) -> None:
    """Cover a target with a higher one."""
    card, pile = move.card, move.pile
    _check_card(card)
    _check_pile(pile)
    _check_held(state, RAISE)
    _check_held(state, card)
    # "Zielkarte erhöhen": the new target covers the old one and has to be higher.
    target = state.targets[pile][-1]
    if card <= target:
        raise Illegal(
            Reason.CARD_TOO_LOW,
            f"{card} is not higher than {target}, the target of pile {pile}",
            card=card,
            pile=pile,
            target=target,
        )
    _lay_special(state, RAISE)
    state.hands[state.seat].remove(card)
    state.targets[pile].append(card)
    end_turn(state)


def _gift(state: State, move: Gift) -> None:
    """Make a pile's top card a penalty card of another seat, or have no effect."""
    pile, target = move.pile, move.target
    if pile is None and target is None:
        _check_held(state, GIFT)
    elif pile is None or target is None:
        raise Invalid(
            Reason.FIELDS_DO_NOT_COMBINE,
            "gift names only one of pile and target",
            learn="allowed: both, or neither for a gift without an effect",
        )
    else:
        _check_pile(pile)
        _check_seat(state, target)
        _check_held(state, GIFT)
        _check_other(state, target)
        if not state.laid[pile]:
            raise Illegal(Reason.PILE_EMPTY, f"pile {pile} has no card below its target", pile=pile)
    _lay_special(state, GIFT)
    # "Allies Geschenk": the seat may give, but need not.
    if pile is not None and target is not None:
        state.penalties[target].append(state.laid[pile].pop())
    end_turn(state)


def _snap(state: State, move: Snap) -> None:
    """Take what lies at the chip as penalty cards, and lay a new target or end the round."""
    card = move.card
    hand = state.hands[state.seat]
    if card is not None:
        _check_card(card)
        if not state.stock:
            raise Illegal(Reason.NEW_TARGET_NOT_NEEDED, "the stock is empty, so the round ends without a new target")
        _check_held(state, card)
    elif state.stock and has_number(hand):
        raise Illegal(Reason.NEW_TARGET_NEEDED, "the hand has a number card, so snap has to name the new target")
    # "Karten als Minuspunkte nehmen": the cards, the chip, then the new target.
    pile = state.chip
    state.penalties[state.seat] += state.targets[pile] + state.laid[pile]
    state.targets[pile] = []
    state.laid[pile] = []
    state.chip = 1 - pile
    if card is not None:
        hand.remove(card)
        state.targets[pile].append(card)
        end_turn(state)
    elif has_number(state.stock):
        state.pile = pile
        state.stage = NEW_TARGET
    else:
        # "Rundenende" for an empty stock; ruling: the same where neither hand nor stock has a number card.
        end_round(state)


def _lay_special(state: State, special: Card) -> None:
    """Lay a special card down in front of its seat."""
    # "Sonderkarte ausspielen": it lies in front of its seat and counts as a penalty card.
    state.hands[state.seat].remove(special)
    state.penalties[state.seat].append(special)


def _check_card(card: object) -> None:
    """Refuse a value that is not a number card."""
    if type(card) is not int or not 1 <= card <= HIGHEST_NUMBER:
        raise Invalid(Reason.CARD_UNKNOWN, "there are only number cards 1 to 70", allowed="1 to 70")


def _check_pile(pile: object) -> None:
    """Refuse a value that is not the number of a pile."""
    if type(pile) is not int or pile not in PILES:
        raise Invalid(Reason.PILE_UNKNOWN, "there are only piles 0 and 1", allowed="0, 1")


def _check_seat(state: State, seat: object) -> None:
    """Refuse a value that is not the number of a seat of the match."""
    if type(seat) is not int or seat not in range(len(state.hands)):
        allowed = f"0 to {len(state.hands) - 1}"
        raise Invalid(Reason.SEAT_UNKNOWN, f"there are only seats {allowed}", allowed=allowed)


def _check_other(state: State, seat: int) -> None:
    """Refuse the seat itself as a target."""
    if seat == state.seat:
        raise Illegal(Reason.TARGET_IS_ONESELF, f"seat {seat} cannot choose itself", target=seat)


def _check_held(state: State, card: Card) -> None:
    """Refuse a card that the seat does not hold."""
    if card not in state.hands[state.seat]:
        name = SPECIALS.get(card, card)
        raise Illegal(Reason.CARD_NOT_IN_HAND, f"seat {state.seat} does not hold {name}", card=name)


HANDLERS: dict[type, tuple[frozenset[int], Callable[[State, Any], None]]] = {
    Number: (CHOOSING, _number),
    Reverse: (CHOOSING, _reverse),
    Steal: (CHOOSING, _steal),
    Raise: (CHOOSING, _raise),
    Gift: (CHOOSING, _gift),
    Snap: (CHOOSING, _snap),
    FirstSeat: (frozenset({FIRST_SEAT}), _begin),
    Target: (LAYING_TARGET, _target),
    Drawn: (DRAWING, _take_drawn),
    Stolen: (frozenset({STEALING}), _take_stolen),
}
"""For every kind of move the stages that await it, and the function that applies it."""
