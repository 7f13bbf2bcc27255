"""The rules of the toy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Annotated, NewType, TypeAlias, cast

from rollbook.rules.chance import Draw, FirstSeat, Value, first_seat
from rollbook.rules.game import (
    OVER,
    Awaited,
    Choices,
    Listed,
    NumberWords,
    Perspective,
    ToChoose,
    Uniform,
    Watcher,
    not_awaited,
)
from rollbook.rules.options import Option, Options
from rollbook.rules.places import places as shared_places
from rollbook.rules.refusals import AgainstRule, Illegal, Invalid, Reason

# Components

Card = NewType("Card", Annotated[int, NumberWords({1: "ace"})])
ACE = Card(1)
CARDS = tuple(map(Card, range(1, 13)))

OPTIONS = (
    Option("aim", ("most", "fewest"), "Whether the most or the fewest points win."),
    Option("hand", (3, 2, 4), "Cards that every seat is dealt."),
)

# Moves


@dataclass(frozen=True, slots=True)
class Dealt:
    """Outcome: the cards dealt to a seat; None for cards hidden from the viewer."""

    seat: int
    cards: tuple[Card | None, ...]


@dataclass(frozen=True, slots=True)
class Lay:
    """Choice: the cards of the hand to lay."""

    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Name:
    """Choice: the seat that lays first."""

    target: int


Choice: TypeAlias = Lay | Name
Outcome: TypeAlias = FirstSeat | Dealt


@dataclass(frozen=True, slots=True)
class Subsets:
    """The cards that may be laid from a hand: any of them, but the ace only with all others."""

    hand: tuple[Card, ...]

    def __iter__(self) -> Iterator[Choice]:
        """Yield them by number of cards, then by the cards."""
        others = [card for card in self.hand if card != ACE]
        for number in range(1, len(others) + 1):
            yield from map(Lay, combinations(others, number))
        if ACE in self.hand:
            yield Lay(self.hand)

    def __contains__(self, choice: object, /) -> bool:
        """Whether the choice is legal."""
        return choice in tuple(self)

    def __len__(self) -> int:
        """The number of choices."""
        has_ace = ACE in self.hand
        return (1 << len(self.hand) - has_ace) - 1 + has_ace

    def sample(self, uniform: Uniform) -> Choice:
        """Return a random choice, each equally likely."""
        return tuple(self)[uniform(len(self))]


# State


@dataclass(slots=True)
class State:
    """A match so far."""

    aim: str
    dealt: int
    hands: list[tuple[Card, ...]]
    laid: list[tuple[Card, ...]]
    points: list[int]
    namer: int | None = None
    """The drawn seat, which names the first one."""
    seat: int | None = None
    """The seat that lays next; None before the naming."""
    served: int = 0
    """The number of seats that have their cards."""
    stock: list[Card] = field(default_factory=lambda: list(CARDS))


def begin(options: Options, seats: int) -> State:
    """Return the state before the first event."""
    nothing: list[tuple[Card, ...]] = [()] * seats
    return State(str(options["aim"]), int(options["hand"]), nothing.copy(), nothing.copy(), [0] * seats)


def copy(state: State) -> State:
    """Return an independent copy."""
    return State(
        state.aim,
        state.dealt,
        state.hands.copy(),
        state.laid.copy(),
        state.points.copy(),
        state.namer,
        state.seat,
        state.served,
        state.stock.copy(),
    )


# Chance


def awaited(state: State) -> Awaited:
    """Return what is awaited: the draw of a seat, the deal, the naming, then turns until all hands are empty."""
    if state.namer is None:
        return first_seat(len(state.hands))
    if state.served < len(state.hands):
        return Draw("dealt", tuple(state.stock), state.dealt)
    if state.seat is None:
        return ToChoose(state.namer)
    return ToChoose(state.seat) if any(state.hands) else OVER


def outcome(state: State, values: tuple[Value, ...]) -> Outcome:
    """Return the outcome for the drawn values."""
    if state.namer is None:
        return FirstSeat(cast("int", values[0]))
    return Dealt(state.served, cast("tuple[Card, ...]", values))


# Choices


def legal(state: State) -> Choices[Choice]:
    """Return the seats to name, or the subsets of a hand."""
    now = awaited(state)
    if not isinstance(now, ToChoose):
        return Listed()
    return Listed(map(Name, range(len(state.hands)))) if state.seat is None else Subsets(state.hands[now.seat])


def caretaker(state: State) -> Choice:
    """The first of the legal choices."""
    return next(iter(legal(state)))


# Play


def play(state: State, move: Choice | Outcome) -> None:
    """Apply the move to the state, or refuse it."""
    now = awaited(state)
    match move:
        case FirstSeat(seat) if state.namer is None:
            if seat not in range(len(state.hands)):
                raise Illegal(Reason.OUTCOME_IMPOSSIBLE, f"there is no seat {seat}")
            state.namer = seat
        case Dealt(seat, cards) if isinstance(now, Draw) and state.namer is not None:
            _deal(state, seat, cards)
        case Name(target) if isinstance(now, ToChoose) and state.seat is None:
            if target not in range(len(state.hands)):
                raise Invalid(Reason.SEAT_UNKNOWN, f"there is no seat {target}")
            state.seat = target
        case Lay(cards) if isinstance(now, ToChoose) and state.seat is not None:
            _lay(state, now.seat, cards)
        case _:
            raise not_awaited(now, move, "toy", (FirstSeat, Dealt, Lay, Name))


def _deal(state: State, seat: int, cards: tuple[Card | None, ...]) -> None:
    known = [card for card in cards if card in state.stock]
    if seat != state.served or len(set(known)) != state.dealt or len(cards) != state.dealt:
        raise Illegal(Reason.OUTCOME_IMPOSSIBLE, f"these cards cannot be dealt to seat {seat}")
    state.hands[seat] = tuple(sorted(known))
    state.stock = [card for card in state.stock if card not in known]
    state.served += 1


def _lay(state: State, seat: int, cards: tuple[Card, ...]) -> None:
    hand = state.hands[seat]
    if not cards:
        raise Invalid(Reason.NOTHING_NAMED, "no card is laid")
    if len(set(cards)) < len(cards):
        raise Invalid(Reason.NAMED_TWICE, "a card is named twice")
    if not set(cards) <= set(hand):
        raise Illegal(Reason.CARD_NOT_IN_HAND, "such a card is not in the hand")
    if ACE in cards and len(cards) < len(hand):
        raise AgainstRule("ace_goes_last", "the ace is laid with all other cards of the hand")
    state.hands[seat] = tuple(card for card in hand if card not in cards)
    state.laid[seat] = tuple(sorted(state.laid[seat] + cards))
    state.points[seat] += len(cards) ** 2
    seats = len(state.hands)
    state.seat = next((turn % seats for turn in range(seat + 1, seat + 1 + seats) if state.hands[turn % seats]), seat)


# View and result


@dataclass(frozen=True, slots=True)
class Player:
    """One seat from a perspective."""

    hand: tuple[Card, ...] | None
    hand_size: int
    laid: tuple[Card, ...]
    points: int


@dataclass(frozen=True, slots=True)
class View:
    """The table from a perspective."""

    aim: str
    seat: int | None
    players: tuple[Player, ...]
    places: tuple[int, ...]


def view(state: State, perspective: Perspective) -> View:
    """A seat sees its own hand, a judge all hands."""
    return View(
        aim=state.aim,
        seat=state.seat if any(state.hands) else None,
        players=tuple(
            Player(
                hand=hand if perspective in {seat, Watcher.JUDGE} else None,
                hand_size=len(hand),
                laid=state.laid[seat],
                points=state.points[seat],
            )
            for seat, hand in enumerate(state.hands)
        ),
        places=places(state),
    )


def seen(_state: State, happened: Outcome, perspective: Perspective) -> Outcome:
    """The dealt seat and judges see the cards."""
    if isinstance(happened, Dealt) and perspective not in {happened.seat, Watcher.JUDGE}:
        return Dealt(happened.seat, (None,) * len(happened.cards))
    return happened


def places(state: State) -> tuple[int, ...]:
    """Rank by points, the most or the fewest first."""
    return shared_places([points if state.aim == "most" else -points for points in state.points])
