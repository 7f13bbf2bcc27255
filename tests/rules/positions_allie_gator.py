"""Positions of Allie Gator for tests: built by hand, dealt at random, or reached by random play."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from rollbook.rules.allie_gator import GAME
from rollbook.rules.allie_gator.moves import DECK, Card, Choice, Drawn, Number, Outcome, Raise, Snap, Stolen, Target
from rollbook.rules.allie_gator.state import CHOOSE, CLOCKWISE, COUNTERCLOCKWISE, State
from rollbook.rules.chance import Draw
from rollbook.rules.game import ToChoose

Cards: TypeAlias = Sequence[int]
Move: TypeAlias = Choice | Outcome


@dataclass(frozen=True, kw_only=True)
class Position:
    """A position in which `seat` has to choose; omitted parts are empty, and an omitted stock has all other cards."""

    hands: Sequence[Cards]
    seat: int = 0
    targets: tuple[Cards, Cards] = ((68,), (69,))
    laid: tuple[Cards, Cards] = ((), ())
    stock: Cards | None = None
    chip: int = 0
    clockwise: bool = True
    penalties: Sequence[Cards] | None = None
    teeth: Cards | None = None
    round: int = 1
    starter: int = 0
    teeth_to_end: int = 3

    def state(self) -> State:
        """Return the state of the rules at this position."""
        seats = len(self.hands)
        state = GAME.start({"teeth_to_end": self.teeth_to_end}, seats)
        state.stage = CHOOSE
        state.seat = self.seat
        state.starter = state.served = self.starter
        state.round = self.round
        state.chip = self.chip
        state.direction = CLOCKWISE if self.clockwise else COUNTERCLOCKWISE
        state.targets = [cards(pile) for pile in self.targets]
        state.laid = [cards(pile) for pile in self.laid]
        state.hands = [sorted(cards(hand)) for hand in self.hands]
        state.penalties = [cards(pile) for pile in self.penalties or [()] * seats]
        state.teeth = list(self.teeth or [0] * seats)
        if self.stock is None:
            state.stock = list(DECK)
            for heap in (*state.targets, *state.laid, *state.hands, *state.penalties):
                for card in heap:
                    state.stock.remove(card)
        else:
            state.stock = sorted(cards(self.stock))
        return state


def cards(numbers: Cards) -> list[Card]:
    """Convert plain numbers to cards."""
    return [Card(number) for number in numbers]


def number(card: int, pile: int) -> Number:
    """Lay the card onto the pile."""
    return Number(Card(card), pile)


def raising(card: int, pile: int) -> Raise:
    """Make the card the target of the pile."""
    return Raise(Card(card), pile)


def snap(card: int) -> Snap:
    """Snap, and give the card as the new target."""
    return Snap(Card(card))


def target(pile: int, card: int) -> Target:
    """Chance gives the card as the target of the pile."""
    return Target(pile, Card(card))


def drawn(seat: int, *drawn_cards: int) -> Drawn:
    """Chance gives the seat these cards of the stock."""
    return Drawn(seat, tuple(cards(drawn_cards)))


def stolen(card: int) -> Stolen:
    """Chance takes this card out of the robbed hand."""
    return Stolen(Card(card))


def after(state: State, *moves: Move) -> State:
    """Return the state after the moves."""
    return GAME.fold(state, moves)


def all_cards(state: State) -> list[Card]:
    """Return every card on the table, in the hands and in the stock, ascending."""
    lying = [*state.targets, *state.laid, *state.penalties, *state.hands, state.stock]
    return sorted(card for heap in lying for card in heap)


def random_outcome(state: State, awaited: Draw, random: Random) -> Outcome:
    """Return a random outcome of a draw."""
    return GAME.outcome(state, tuple(random.sample(awaited.items, awaited.count)))


def random_play(seats: int, random: Random, given: Mapping[str, int] | None = None) -> Iterator[tuple[State, Move]]:
    """Yield every state of a random match with the next move."""
    state = GAME.start(given or {}, seats)
    while True:
        awaited = GAME.awaited(state)
        if isinstance(awaited, ToChoose):
            move: Move = GAME.legal(state).sample(random.randrange)
        elif isinstance(awaited, Draw):
            move = random_outcome(state, awaited, random)
        else:
            return
        yield state, move
        state = GAME.apply(state, move)


def last_state(seats: int, random: Random, given: Mapping[str, int] | None = None) -> State:
    """Return the last state of a random match."""
    *_, (state, move) = random_play(seats, random, given)
    return GAME.apply(state, move)


def random_position(random: Random) -> State:
    """Return a random position that is rare in play: short hands, many special cards, bare or high piles."""
    deck: list[int] = list(DECK)
    random.shuffle(deck)
    numbers = [card for card in deck if card <= 70]
    specials = [card for card in deck if card > 70]
    seats = random.randint(2, 5)
    targets, laid = [], []
    for _ in range(2):
        heap = sorted(numbers.pop() for _ in range(random.randint(1, 4)))
        beneath = random.randint(0, len(heap) - 1)
        laid.append(heap[:beneath])
        targets.append(heap[beneath:])
    mixed = random.choice([numbers + specials, numbers[:10] + specials, specials, numbers])
    random.shuffle(mixed)
    hands = [[mixed.pop() for _ in range(random.choice([0, 1, 3, 5, 5])) if mixed] for _ in range(seats)]
    if not random.randrange(5):
        hands = [hand if seat == 0 else [] for seat, hand in enumerate(hands)]
    penalties = [[mixed.pop() for _ in range(random.randint(0, 3)) if mixed] for _ in range(seats)]
    return Position(
        hands=hands,
        seat=random.choice([0, random.randrange(seats)]),
        targets=(targets[0], targets[1]),
        laid=(laid[0], laid[1]),
        stock=random.choice([[], mixed, mixed[:1]]),
        chip=random.randrange(2),
        clockwise=seats == 2 or random.random() < 0.5,
        penalties=penalties,
        teeth=[random.randrange(3) for _ in range(seats)],
        starter=random.randrange(seats),
    ).state()
