"""How Can't Stop is played: which choices are legal, and what every move does."""

from typing import cast

from rollbook.rules.cant_stop.moves import (
    LENGTHS,
    NAME,
    RUNNERS,
    VOCABULARY,
    Advance,
    Choice,
    Outcome,
    Roll,
    Rolled,
    Stop,
)
from rollbook.rules.cant_stop.offers import NO_OFFER, ROLLS
from rollbook.rules.cant_stop.state import (
    ADVANCE,
    FINISHED,
    FIRST_SEAT,
    FOUR_DICE,
    GO_ON,
    NOBODY,
    ROLL,
    State,
    find_awaited,
)
from rollbook.rules.chance import FirstSeat
from rollbook.rules.game import NONE_LEGAL, Listed, impossible, not_awaited
from rollbook.rules.refusals import Illegal, Invalid, Reason

# Choices

ROLL_OR_STOP: Listed[Choice] = Listed((Roll(), Stop()))
ONLY_ROLL: Listed[Choice] = Listed((Roll(),))


def legal(state: State) -> Listed[Choice]:
    """The legal choices: advances ascending by their columns, or roll before stop."""
    if state.stage == ADVANCE:
        return state.offer.advances
    if state.stage == GO_ON:
        return ROLL_OR_STOP if state.ruleset.may_stop(state) else ONLY_ROLL
    return cast("Listed[Choice]", NONE_LEGAL)


def caretaker(state: State) -> Choice:
    """The first advance; then stop where that is legal, else roll."""
    return legal(state)[0] if state.stage == ADVANCE else legal(state)[-1]


# Play


def play(state: State, move: Choice | Outcome) -> None:
    """Apply an outcome or a choice to the state, or refuse it and change nothing."""
    stage = state.stage
    if stage == ROLL and isinstance(move, Rolled):
        _roll(state, move.dice)
    elif stage == ADVANCE and isinstance(move, Advance):
        _advance(state, move.columns)
    elif stage == GO_ON and isinstance(move, Roll):
        state.stage = ROLL
    elif stage == GO_ON and isinstance(move, Stop):
        _stop(state)
    elif stage == FIRST_SEAT and isinstance(move, FirstSeat):
        if move.seat not in range(len(state.markers)):
            raise impossible(find_awaited(state), f"there are only seats 0 to {len(state.markers) - 1}")
        _begin_turn(state, move.seat)
    else:
        raise not_awaited(find_awaited(state), move, NAME, VOCABULARY)


def _begin_turn(state: State, seat: int) -> None:
    """A turn with all runners off the board."""
    state.seat = seat
    state.stage = ROLL
    state.reached = state.markers[seat].copy()
    state.runners = 0
    state.closed = state.won
    state.dice = ()
    state.offer = NO_OFFER


def _roll(state: State, dice: tuple[int, ...]) -> None:
    """Offer what the throw allows, or end the turn."""
    combined = ROLLS.get(dice)
    if combined is None:
        raise impossible(FOUR_DICE, "that is not four dice with faces 1 to 6")
    thrown = combined.columns
    last_step = 0
    for column in combined.doubles:
        if LENGTHS[column] - state.reached[column] == 1:
            last_step |= 1 << column
    # Only thrown columns, and how many runners are left, matter: the rest would only make more situations of the same.
    runners = state.runners
    closed = state.closed & thrown
    offer = state.ruleset.offer(combined, runners & thrown & ~closed, RUNNERS - runners.bit_count(), closed, last_step)
    if offer.advances:
        state.dice = dice
        state.offer = offer
        state.stage = ADVANCE
    else:
        # "Gefahr erkannt?": no runner can be placed or moved, and everything reached in this turn is lost.
        _begin_turn(state, (state.seat + 1) % len(state.markers))


def _advance(state: State, columns: tuple[int, ...]) -> None:
    """Place or move the runners."""
    if columns not in state.offer.columns:
        columns = _check_columns(state, columns)
    for column in columns:
        state.reached[column] += 1
        state.runners |= 1 << column
        if state.reached[column] == LENGTHS[column]:
            state.closed |= 1 << column
    state.offer = NO_OFFER
    state.stage = GO_ON


def _check_columns(state: State, columns: tuple[int, ...]) -> tuple[int, ...]:
    """The columns, ascending, if they are on offer; dice and columns may be named in any order."""
    if not columns:
        raise Invalid(Reason.NOTHING_NAMED, "advance names no column")
    if len(columns) > 2:  # noqa: PLR2004 - two pairs
        raise Invalid(Reason.TOO_MANY_NAMED, f"advance names {len(columns)} columns; two pairs give at most two")
    for column in columns:
        if column not in LENGTHS:
            raise Invalid(Reason.COLUMN_UNKNOWN, "there are only columns 2 to 12", allowed="2 to 12")
    ascending = tuple(sorted(columns))
    if ascending not in state.offer.columns:
        offered = ", ".join(str(list(offered)) for offered in sorted(state.offer.columns))
        raise Illegal(
            Reason.COLUMNS_NOT_OFFERED,
            f"the dice {list(state.dice)} do not allow to advance {list(ascending)}: {_why_not(state, ascending)}",
            learn=f"legal now: {offered}",
            columns=ascending,
            dice=state.dice,
        )
    return ascending


def _why_not(state: State, columns: tuple[int, ...]) -> str:
    """Why these columns are not on offer, for people."""
    for column in columns:
        if not ROLLS[state.dice].columns >> column & 1:
            return f"no pair of them makes {column}"
        if state.winners[column] != NOBODY:
            return f"seat {state.winners[column]} has won column {column}"
        if state.closed >> column & 1:
            return f"the runner in column {column} stands on the number field"
        if not state.runners >> column & 1 and state.runners.bit_count() == RUNNERS:
            return f"no runner is left for column {column}"
    return "the pairing has to be used as it is offered"


def _stop(state: State) -> None:
    """Mark what the runners have reached, and end the turn or the match."""
    if not state.ruleset.may_stop(state):
        raise Illegal(
            Reason.STOP_ON_ANOTHERS_FIELD,
            "a runner stands on a field with another seat's marker",
            learn="legal now: roll",
        )
    # "Spalte gewonnen!": the marker goes onto the number field, all others in the column go back.
    won = state.runners & state.closed
    state.markers[state.seat] = state.reached
    if won:
        _win(state, won)
    if won and state.winners.count(state.seat) >= state.ruleset.columns_to_win:
        state.stage = FINISHED
        state.reached = state.reached.copy()
        state.runners = 0
    else:
        _begin_turn(state, (state.seat + 1) % len(state.markers))


def _win(state: State, columns: int) -> None:
    """Give the columns to the seat and take the others' markers off them."""
    state.won |= columns
    for column in LENGTHS:
        if columns >> column & 1:
            state.winners[column] = state.seat
            for seat, markers in enumerate(state.markers):
                if seat != state.seat:
                    markers[column] = 0
