"""`expected_teeth`: plays Raffzahn by the expected value of the next throws.

The value of a throw is exact: the teeth of the tile, plus the part that its loss costs another seat, minus the teeth of
an own hit or of a miss on the third throw. Computed from the last throw backwards, this gives the value of throwing any
of the dice again, and the bot takes the best option. It considers only the current turn, not who is ahead.

A new tile is laid safe if that is allowed. For an announcement, which is free, the bot names the tile that the throw
most probably wins. To pay for a miss, it gives up as few teeth as possible, open tiles before safe ones.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import product
from typing import Any, Final, TypeAlias

from rollbook.rules import raffzahn
from rollbook.rules.game import Choices
from rollbook.rules.raffzahn.moves import (
    DICE,
    TEETH,
    TEETH_FOR_A_MISS,
    THROWS,
    Choice,
    Faces,
    Pass,
    Roll,
    Surrender,
    Take,
)
from rollbook.rules.raffzahn.state import KEPT, REROLLS, State, list_owned, worth
from rollbook.rules.raffzahn.throws import MISS, OWN_HIT, THROWN, Result
from rollbook.rules.raffzahn.view import View
from rollbook_clients.bots.bot import Seat, must_play
from rollbook_clients.bots.playbook import playbook

TURNED_OPEN: Final = 0.5
"""The cost of an own hit that turns a safe tile open, as a fraction of its teeth: the tile can now be taken."""

Throws: TypeAlias = dict[tuple[tuple[int, ...], Faces], float]
"""The value of throwing these dice again while the others are kept, given by their faces."""

ALL_FACES: Final[list[Faces]] = list(product(*DICE))


class ExpectedTeeth:
    """Computes a turn once and looks its choices up."""

    def __init__(self, seat: Seat) -> None:
        must_play(seat, raffzahn.GAME, "expected_teeth")
        self._options = seat.options
        self._turn: Turn | None = None

    def choose(self, view: View, legal: Choices[Choice], /) -> Choice:
        """Return Take, Roll, Pass or Surrender."""
        choices = list(legal)
        if isinstance(choices[0], Surrender):
            return min((choice for choice in choices if isinstance(choice, Surrender)), key=lambda it: _loss(view, it))
        turn = self._turn_of(view)
        throws_left = THROWS - view.throws
        rolls = [choice for choice in choices if isinstance(choice, Roll)]
        best_dice = max(
            (roll.dice for roll in rolls), key=lambda dice: turn.throwing(dice, view.dice, throws_left), default=None
        )
        take = next((choice for choice in reversed(choices) if isinstance(choice, Take)), None)
        stay = turn.gain(take.tile) if take is not None else 0.0
        if best_dice is None or (
            (take is not None or Pass() in legal) and stay >= turn.throwing(best_dice, view.dice, throws_left)
        ):
            return take or Pass()
        announcements = {roll.announce for roll in rolls if roll.dice == best_dice} - {None}
        return Roll(best_dice, turn.likeliest(best_dice, view.dice, announcements) if announcements else None)

    def _turn_of(self, view: View) -> Turn:
        """The turn for this view; the previous one is reused until a tile moves."""
        table = (view.seat, view.middle, view.rows)
        if self._turn is None or self._turn.table != table:
            state = playbook(raffzahn.GAME.name).possible_state(self._options, view, _nothing_unknown)
            self._turn = Turn(table, state)
        return self._turn


class Turn:
    """The value of every throw for one seat at one table."""

    def __init__(self, table: object, state: State) -> None:
        """Compute the values of the last throw; those of earlier throws follow on demand."""
        self.table = table
        self._state = state
        self._results: dict[Faces, Result | None] = {
            dice: None if thrown.rotten else state.ruleset.result(state, thrown) for dice, thrown in THROWN.items()
        }
        self._miss = _cost_of_a_miss(state)
        last = _throws({dice: self._standing(dice, last=True) for dice in ALL_FACES})
        self._by_throws_left = {1: last}

    def throwing(self, dice: tuple[int, ...], lying: Faces, throws_left: int) -> float:
        """The value of throwing these dice again, with the others kept as they lie."""
        return self._throws(throws_left)[dice, _keep_faces(dice, lying)]

    def gain(self, tile: int) -> float:
        """The value of a tile: its teeth, and a share of another seat's loss if it is taken from there."""
        rivals = len(self._state.open_tiles) - 1
        return TEETH[tile] * (1.0 if self._state.middle >> tile & 1 else 1 + 1 / rivals)

    def likeliest(self, dice: tuple[int, ...], lying: Faces, announcements: Any) -> int | None:
        """The tile that this throw wins most often; the highest one if several are equal."""
        kept = _keep_faces(dice, lying)
        wins: Counter[int] = Counter()
        for faces in ALL_FACES:
            result = self._results[faces]
            if _keep_faces(dice, faces) == kept and result is not None and result.tile is not None and result.fulfils:
                wins[result.tile] += result.tile in announcements
        return max(wins, key=lambda tile: (wins[tile], tile), default=None)

    def _throws(self, throws_left: int) -> Throws:
        if throws_left not in self._by_throws_left:
            later = self._throws(throws_left - 1)
            self._by_throws_left[throws_left] = _throws({dice: self._best(dice, later) for dice in ALL_FACES})
        return self._by_throws_left[throws_left]

    def _best(self, dice: Faces, later: Throws) -> float:
        """The value of these dice if some may be thrown again."""
        result = self._results[dice]
        standing = self._standing(dice, last=False)
        if result is None or not result.may_roll:
            return standing
        return max(standing, *(later[thrown, _keep_faces(thrown, dice)] for thrown in REROLLS))

    def _standing(self, dice: Faces, *, last: bool) -> float:
        """The value of these dice if no die is thrown again."""
        result = self._results[dice]
        if result is None:
            return 0.0
        if result is OWN_HIT:
            tile = THROWN[dice].number
            is_safe = self._state.safe_tiles[self._state.seat] >> tile & 1
            return -TEETH[tile] * (TURNED_OPEN if is_safe else 1.0)
        if result is MISS or result.tile is None:
            return -self._miss if last else 0.0
        return self.gain(result.tile)


def _throws(worth_of: Mapping[Faces, float]) -> Throws:
    """The mean value for each set of dice to throw, by the faces that are kept."""
    sums: Throws = defaultdict(float)
    for faces, value in worth_of.items():
        for dice in REROLLS:
            sums[dice, _keep_faces(dice, faces)] += value
    return {(dice, kept): total / 6 ** len(dice) for (dice, kept), total in sums.items()}


def _keep_faces(dice: tuple[int, ...], lying: Faces) -> Faces:
    return tuple([lying[die] for die in KEPT[dice]])


def _cost_of_a_miss(state: State) -> float:
    """The fewest teeth that pay for a miss; all teeth for a seat that has fewer than three."""
    mine = list_owned(state, state.seat)
    if worth(state, mine) < TEETH_FOR_A_MISS:
        return worth(state, mine)
    reachable = {0}
    for tile in mine:
        reachable |= {teeth + TEETH[tile] for teeth in reachable if teeth < TEETH_FOR_A_MISS}
    return min(teeth for teeth in reachable if teeth >= TEETH_FOR_A_MISS)


def _loss(view: View, surrender: Surrender) -> tuple[int, int, tuple[int, ...]]:
    row = view.rows[view.seat or 0]
    return (
        sum(TEETH[tile] for tile in surrender.tiles),
        sum(tile in row.safe_tiles for tile in surrender.tiles),
        surrender.tiles,
    )


def _nothing_unknown(_size: int) -> int:
    raise AssertionError  # nothing in this game is hidden
