"""What each perspective sees of Allie Gator, and the places.

Hands and stock are hidden while the match lasts: views contain only the number of their cards.
"""

from dataclasses import dataclass

from rollbook.rules.allie_gator.moves import PILES, Card, Drawn, Outcome, Stolen
from rollbook.rules.allie_gator.state import CLOCKWISE, FINISHED, FIRST_SEAT, State, specials_among
from rollbook.rules.game import Perspective, Watcher
from rollbook.rules.places import places as shared_places

# View


@dataclass(frozen=True, slots=True)
class Pile:
    """One pile, the same for every viewer."""

    targets: tuple[Card, ...]
    """The targets of the pile, the valid one last; empty while it is drawn, or if the match ended before it was."""
    cards: tuple[Card, ...]
    """The cards below the target, the top card last."""


@dataclass(frozen=True, slots=True)
class Player:
    """One seat as a perspective shows it."""

    hand: tuple[Card, ...] | None
    """The cards in the hand, ascending; None if this perspective may not see them."""
    hand_size: int
    penalties: tuple[Card, ...]
    """The penalty cards of the seat, in the order in which it got them."""
    teeth: int


@dataclass(frozen=True, slots=True)
class View:
    """The table, with the hands that its perspective may see."""

    round: int
    seat: int | None
    """Whose turn it is; none before the start and after the end."""
    clockwise: bool
    chip: int
    piles: tuple[Pile, ...]
    stock_size: int
    players: tuple[Player, ...]
    places: tuple[int, ...]


def view(state: State, perspective: Perspective) -> View:
    """The table for all viewers, a seat's own hand for it, and all hands for a judge or once the match is over."""
    open_to_all = state.stage == FINISHED or perspective is Watcher.JUDGE
    return View(
        round=state.round,
        seat=None if state.stage in {FIRST_SEAT, FINISHED} else state.seat,
        clockwise=state.direction == CLOCKWISE,
        chip=state.chip,
        piles=tuple(Pile(tuple(state.targets[pile]), tuple(state.laid[pile])) for pile in PILES),
        stock_size=len(state.stock),
        players=tuple(
            Player(
                hand=tuple(hand) if open_to_all or seat == perspective else None,
                hand_size=len(hand),
                penalties=tuple(state.penalties[seat]),
                teeth=state.teeth[seat],
            )
            for seat, hand in enumerate(state.hands)
        ),
        places=places(state),
    )


def mask_outcome(state: State, outcome: Outcome, perspective: Perspective) -> Outcome:
    """Drawn cards are for the seat that draws them, a stolen one for thief and robbed; a judge sees them all."""
    if perspective is Watcher.JUDGE:
        return outcome
    if isinstance(outcome, Drawn) and perspective != outcome.seat:
        return Drawn(outcome.seat, (None,) * len(outcome.cards))
    if isinstance(outcome, Stolen) and perspective not in {state.seat, state.served}:
        return Stolen(None)
    return outcome


# Result


def places(state: State) -> tuple[int, ...]:
    """Return the places: by teeth; then, until the end, by fewer penalty cards; then by fewer special cards."""
    finished = state.stage == FINISHED
    return shared_places(
        [
            (teeth, 0 if finished else -len(penalties), -specials_among(penalties))
            for teeth, penalties in zip(state.teeth, state.penalties, strict=True)
        ]
    )
