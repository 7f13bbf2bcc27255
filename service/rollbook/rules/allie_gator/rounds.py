"""Turns and rounds of Allie Gator: how they begin, who is next, and what a round brings."""

from rollbook.rules.allie_gator.moves import DECK, HAND, MOST_TEETH, PILES
from rollbook.rules.allie_gator.state import CHOOSE, CLOCKWISE, FINISHED, LAY_TARGETS, REFILL, State, specials_among


def begin_round(state: State, starter: int) -> None:
    """All cards back into the stock; two targets are laid next ("Spielvorbereitung")."""
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


def end_turn(state: State) -> None:
    """The hand is filled up to five cards, as far as the stock goes ("Handkarten ergänzen"); then the next turn."""
    state.count = min(HAND - len(state.hands[state.seat]), len(state.stock))
    if state.count > 0:
        state.served = state.seat
        state.stage = REFILL
    else:
        next_turn(state)


def next_turn(state: State) -> None:
    """The next seat in the order of play chooses."""
    state.seat = (state.seat + state.direction) % len(state.hands)
    state.stage = CHOOSE


def end_round(state: State) -> None:
    """The best seats get teeth; then the match is over, or the next round begins."""
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
    begin_round(state, starter)
