"""The view of a match of Würfelzoo, and the places of its seats."""

from dataclasses import dataclass

from rollbook.rules.game import Perspective
from rollbook.rules.places import places as shared_places
from rollbook.rules.wuerfelzoo.state import BAG, BOX, FINISHED, FIRST_SEAT, NOBODY, State, dice_at

# View


@dataclass(frozen=True, slots=True)
class DieInFront:
    """One die in front of a seat."""

    die: int
    face: str | None
    """The face of the die; None before its throw."""


@dataclass(frozen=True, slots=True)
class View:
    """The table, the same for every viewer; nothing in this game is hidden."""

    round: int
    seat: int | None
    """Whose turn it is; while dice are dealt, the seat that starts; none before a round and after the end."""
    points: tuple[int, ...]
    """The penalty points of all finished rounds."""
    dice: tuple[tuple[DieInFront, ...], ...]
    """The dice in front of every seat."""
    species: str | None
    """The species in the middle; None if the middle is empty."""
    middle: tuple[int, ...]
    owner: int | None
    """The seat that laid it."""
    doubles: tuple[int, ...]
    """The x2 dice that were played with it and are not spent yet."""
    uses: int
    """How many times its ability is still to be used."""
    thrown: tuple[int, ...]
    """The dice that are being thrown."""
    bag: tuple[int, ...]
    box: tuple[int, ...]
    places: tuple[int, ...]


def view(state: State, _perspective: Perspective) -> View:
    """Return the view, which is the same for every perspective."""
    return View(
        round=state.round,
        seat=None if state.stage in {FIRST_SEAT, FINISHED} else state.seat,
        points=tuple(state.points),
        dice=tuple(
            tuple(DieInFront(die, state.faces[die] or None) for die in dice_at(state, seat))
            for seat in range(len(state.points))
        ),
        species=state.species or None,
        middle=state.middle,
        owner=None if state.owner == NOBODY else state.owner,
        doubles=state.doubles,
        uses=state.uses,
        thrown=state.thrown,
        bag=dice_at(state, BAG),
        box=dice_at(state, BOX),
        places=places(state),
    )


# Result


def places(state: State) -> tuple[int, ...]:
    """Return the place of each seat: by the scores of the ruleset, which counts one round or all rounds."""
    return shared_places(state.ruleset.scores(state))
