"""Allie Gator (Klaus Kreowski; Kosmos 2022), version 1.

Source: the German rulebook of 2022; quotations in the comments are its section names. Rulings where it is silent: the
chip starts at pile 0; of several winners the first clockwise from the last starting seat begins the next round; a
steal may be played without a seat when nobody else holds a card; a round ends when a new target is needed and neither
hand nor stock has a number card; the group after a shared first place is second; all places follow the order that
decides the victory.

Cards, moves and state are in `allie_gator_table`, what each pair of eyes sees in `allie_gator_view`. Hands and stock
are hidden, so refusals name no more than what their reader holds or everybody sees.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable
from typing import Any, cast

from rollbook.rules.allie_gator_table import (
    CHOICES,
    CHOOSE,
    CLOCKWISE,
    COPIES,
    DEAL,
    DECK,
    FINISHED,
    FIRST_SEAT,
    GIFT,
    HAND,
    HIGHEST_NUMBER,
    LAY_TARGETS,
    MOST_TEETH,
    NEW_TARGET,
    NUMBERS,
    OUTCOMES,
    PILES,
    RAISE,
    REFILL,
    REPLACE,
    REVERSE,
    SPECIALS,
    STEAL,
    STEALING,
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
    State,
    Steal,
    Stolen,
    Target,
    begin,
    copy,
    has_number,
    numbers_of,
    specials_among,
)
from rollbook.rules.allie_gator_view import View, places, seen, view
from rollbook.rules.chance import Draw, FirstSeat, Value, first_seat
from rollbook.rules.game import (
    NONE_LEGAL,
    OVER,
    Awaited,
    Game,
    Listed,
    ToChoose,
    any_options,
    impossible,
    not_awaited,
)
from rollbook.rules.options import Option, shortened
from rollbook.rules.refusals import Illegal, Invalid, Reason

__all__ = ["COPIES", "GAME", "SPECIALS", "Card", "View"]

# Rulesets

OPTIONS = (Option("teeth_to_end", (3, 4, 5, 6), "teeth with which a seat ends the match; more than 3 make it longer"),)

# Chance

TO_CHOOSE = tuple(ToChoose(seat) for seat in range(5))


def awaited(state: State) -> Awaited:
    """The starting seat, a target, cards from the stock or from a hand, a choice, or nothing more."""
    stage = state.stage
    if stage == CHOOSE:
        return TO_CHOOSE[state.seat]
    if stage in DRAWING:
        return Draw("draw", tuple(state.stock), state.count)
    if stage in LAYING_TARGET:
        # "Spielvorbereitung": special cards are never targets.
        return Draw("target", tuple(numbers_of(state.stock)))
    if stage == STEALING:
        return Draw("steal", tuple(state.hands[state.served]))
    return OVER if stage == FINISHED else first_seat(len(state.hands))


def outcome(state: State, values: tuple[Value, ...]) -> Outcome:
    """What these values, drawn as awaited, are called."""
    stage = state.stage
    if stage == FIRST_SEAT:
        return FirstSeat(cast("int", values[0]))
    if stage in LAYING_TARGET:
        return Target(state.pile, cast("Card", values[0]))
    if stage == STEALING:
        return Stolen(cast("Card", values[0]))
    return Drawn(state.served, cast("tuple[Card, ...]", values))


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
    laid = state.laid[pile]
    return card < state.targets[pile][-1] and (not laid or card > laid[-1])


def caretaker(state: State) -> Choice:
    """The lowest card that can be laid, where it leaves most room; else snap, giving the highest number card."""
    numbers = numbers_of(state.hands[state.seat])
    for card in numbers:
        piles = [pile for pile in PILES if _fits(state, card, pile)]
        if piles:
            return Number(card, max(piles, key=lambda pile: state.targets[pile][-1]))
    return Snap(numbers[-1] if numbers and state.stock else None)


# Play


def play(state: State, move: Choice | Outcome) -> None:
    """Take an outcome or a choice into the state, or refuse it and change nothing."""
    kind = type(move)
    if kind not in TAKERS or state.stage not in TAKERS[kind][0]:
        raise not_awaited(awaited(state), move, GAME.name, VOCABULARY)
    TAKERS[kind][1](state, move)


def _begin(state: State, move: FirstSeat) -> None:
    if type(move.seat) is not int or move.seat not in range(len(state.hands)):
        raise impossible(awaited(state), f"seat {shortened(move.seat)} is not at the table")
    _begin_round(state, move.seat)


def _begin_round(state: State, starter: int) -> None:
    seats = range(len(state.hands))
    state.starter = state.seat = state.served = starter
    state.direction = CLOCKWISE
    state.chip = state.pile = 0
    state.targets = [[] for _ in PILES]
    state.laid = [[] for _ in PILES]
    state.hands = [[] for _ in seats]
    state.penalties = [[] for _ in seats]
    state.stock = list(DECK)
    state.count = HAND
    state.stage = LAY_TARGETS


def _target(state: State, move: Target) -> None:
    if type(move.pile) is not int or move.pile != state.pile:
        raise impossible(awaited(state), f"the target is drawn for pile {state.pile}")
    index = _found(state.stock, move.card)
    if index is None or move.card > HIGHEST_NUMBER:
        raise impossible(awaited(state), f"{shortened(move.card)} is not a number card of the stock")
    del state.stock[index]
    state.targets[state.pile] = [move.card]
    if state.stage == NEW_TARGET:
        _end_turn(state)
    elif state.pile == PILES[-1]:
        state.stage = DEAL
    else:
        state.pile += 1


def _drawn(state: State, move: Drawn) -> None:
    seat = state.served
    if type(move.seat) is not int or move.seat != seat:
        raise impossible(awaited(state), f"the cards are drawn for seat {seat}")
    cards = move.cards
    if type(cards) is not tuple or len(cards) != state.count:
        raise impossible(awaited(state), f"seat {seat} draws {state.count}")
    stock = state.stock.copy()
    for card in cards:
        index = _found(stock, card)
        if index is None:
            raise impossible(awaited(state), f"the stock does not give these cards to seat {seat}")
        del stock[index]
    state.stock = stock
    hand = state.hands[seat]
    for card in cast("tuple[Card, ...]", cards):
        insort(hand, card)
    if state.stage == REFILL:
        _next_turn(state)
    elif state.stage == REPLACE:
        _end_turn(state)
    else:
        # "Spielvorbereitung": five cards for every seat, clockwise from the starting seat.
        state.served = (seat + 1) % len(state.hands)
        if state.served == state.starter:
            state.stage = CHOOSE


def _stolen(state: State, move: Stolen) -> None:
    robbed = state.hands[state.served]
    index = _found(robbed, move.card)
    if index is None:
        raise impossible(awaited(state), f"seat {state.served} cannot be robbed of that card")
    insort(state.hands[state.seat], robbed.pop(index))
    # "Karte klauen": the robbed seat draws its replacement before the turn goes on.
    if state.stock:
        state.count = 1
        state.stage = REPLACE
    else:
        _end_turn(state)


def _number(state: State, move: Number) -> None:
    card, pile = move.card, move.pile
    _check_card(card)
    _check_pile(pile)
    _check_held(state, card)
    target, laid = state.targets[pile][-1], state.laid[pile]
    # "Zahlenkarte ausspielen": below the target, and above the card that it covers.
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
    _end_turn(state)


def _reverse(state: State, _move: Reverse) -> None:
    _check_held(state, REVERSE)
    _lay_special(state, REVERSE)
    # "Hinweise für 2 Spieler": there the order of play does not turn round.
    if len(state.hands) > 2:  # noqa: PLR2004 - two seats
        state.direction = -state.direction
    _end_turn(state)


def _steal(state: State, move: Steal) -> None:
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
        _end_turn(state)
    else:
        state.served = target
        state.stage = STEALING


def _raise(state: State, move: Raise) -> None:
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
    _end_turn(state)


def _gift(state: State, move: Gift) -> None:
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
    _end_turn(state)


def _snap(state: State, move: Snap) -> None:
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
        _end_turn(state)
    elif has_number(state.stock):
        state.pile = pile
        state.stage = NEW_TARGET
    else:
        # "Rundenende" for an empty stock; ruling: the same where neither hand nor stock has a number card.
        _end_round(state)


def _lay_special(state: State, special: Card) -> None:
    # "Sonderkarte ausspielen": it lies in front of its seat and counts as a penalty card.
    state.hands[state.seat].remove(special)
    state.penalties[state.seat].append(special)


def _end_turn(state: State) -> None:
    # "Handkarten ergänzen": up to five cards, as far as the stock goes.
    state.count = min(HAND - len(state.hands[state.seat]), len(state.stock))
    if state.count > 0:
        state.served = state.seat
        state.stage = REFILL
    else:
        _next_turn(state)


def _next_turn(state: State) -> None:
    state.seat = (state.seat + state.direction) % len(state.hands)
    state.stage = CHOOSE


def _end_round(state: State) -> None:
    # "Rundenende": the fewest penalty cards, and of as many the fewest special cards; "Hinweise für 2 Spieler": with
    # two seats only the best gets teeth.
    results = [(len(penalties), specials_among(penalties)) for penalties in state.penalties]
    best_first = sorted(set(results))
    prizes = dict(zip(best_first, (2, 1) if len(results) > 2 else (2,), strict=False))  # noqa: PLR2004 - two seats
    for seat, result in enumerate(results):
        # "Wann endet das Spiel?": two teeth with room for one are a golden one, so teeth add up, but not beyond 6.
        state.teeth[seat] = min(state.teeth[seat] + prizes.get(result, 0), MOST_TEETH)
    if max(state.teeth) >= state.teeth_to_end:
        state.stage = FINISHED
        return
    # Ruling: of several winners the first clockwise from the starting seat of the round, that seat included.
    state.round += 1
    starter = state.starter
    while results[starter] != best_first[0]:
        starter = (starter + 1) % len(results)
    _begin_round(state, starter)


def _found(ascending: list[Card], card: object) -> int | None:
    if type(card) is not int:
        return None
    index = bisect_left(ascending, card)
    return index if index < len(ascending) and ascending[index] == card else None


def _check_card(card: object) -> None:
    if type(card) is not int or not 1 <= card <= HIGHEST_NUMBER:
        raise Invalid(Reason.CARD_UNKNOWN, "there are only number cards 1 to 70", allowed="1 to 70")


def _check_pile(pile: object) -> None:
    if type(pile) is not int or pile not in PILES:
        raise Invalid(Reason.PILE_UNKNOWN, "there are only piles 0 and 1", allowed="0, 1")


def _check_seat(state: State, seat: object) -> None:
    if type(seat) is not int or seat not in range(len(state.hands)):
        allowed = f"0 to {len(state.hands) - 1}"
        raise Invalid(Reason.SEAT_UNKNOWN, f"there are only seats {allowed}", allowed=allowed)


def _check_other(state: State, seat: int) -> None:
    if seat == state.seat:
        raise Illegal(Reason.TARGET_IS_ONESELF, f"seat {seat} cannot choose itself", target=seat)


def _check_held(state: State, card: Card) -> None:
    if card not in state.hands[state.seat]:
        name = SPECIALS.get(card, card)
        raise Illegal(Reason.CARD_NOT_IN_HAND, f"seat {state.seat} does not hold {name}", card=name)


DRAWING = frozenset({DEAL, REPLACE, REFILL})
LAYING_TARGET = frozenset({LAY_TARGETS, NEW_TARGET})
CHOOSING = frozenset({CHOOSE})
TAKERS: dict[type, tuple[frozenset[int], Callable[[State, Any], None]]] = {
    Number: (CHOOSING, _number),
    Reverse: (CHOOSING, _reverse),
    Steal: (CHOOSING, _steal),
    Raise: (CHOOSING, _raise),
    Gift: (CHOOSING, _gift),
    Snap: (CHOOSING, _snap),
    FirstSeat: (frozenset({FIRST_SEAT}), _begin),
    Target: (LAYING_TARGET, _target),
    Drawn: (DRAWING, _drawn),
    Stolen: (frozenset({STEALING}), _stolen),
}
"""For every kind of move the stages that await it, and what takes it into the state."""

GAME: Game[State, Choice, Outcome] = Game(
    name="allie_gator",
    version=1,
    title="Allie Gator",
    seats=range(2, 6),
    options=OPTIONS,
    combine=any_options,
    components={
        "numbers": list(NUMBERS),
        **{name: COPIES[special] for special, name in SPECIALS.items()},
    },
    messages="rollbook.v1.allie_gator_pb2",
    choices=CHOICES,
    outcomes=OUTCOMES,
    begin=begin,
    copy=copy,
    awaited=awaited,
    outcome=outcome,
    legal=legal,
    play=play,
    caretaker=caretaker,
    view=view,
    seen=seen,
    places=places,
)

RULESETS = (GAME,)
