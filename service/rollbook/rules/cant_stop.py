"""Can't Stop (Sid Sackson; Ravensburger 2007), version 1.

Source: the German rulebook of 2007; quotations in the comments are its section names. Rulings where it is silent:
a second step beyond the number field lapses; a runner on a number field still counts as one of the three; places
after the first go by columns held, then by the height of markers in columns that nobody has won.

What the dice offer stands in `cant_stop_offers.py`; sets of columns are bit masks there and here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, cast

from rollbook.rules.cant_stop_offers import (
    BASIC_OFFER,
    FACES,
    HASTY_OFFER,
    LENGTHS,
    NO_OFFER,
    ROLLS,
    RUNNERS,
    Advance,
    Combinations,
    Offer,
)
from rollbook.rules.chance import FirstSeat, Throw, Value, first_seat
from rollbook.rules.game import (
    NONE_LEGAL,
    OVER,
    Awaited,
    Game,
    Listed,
    Perspective,
    ToChoose,
    everything_is_open,
    impossible,
    not_awaited,
)
from rollbook.rules.options import Option, Options
from rollbook.rules.places import places as shared_places
from rollbook.rules.refusals import Illegal, Invalid, Reason

NOBODY = -1

# Moves


@dataclass(frozen=True, slots=True)
class Rolled:
    """Outcome: four dice, in the order in which they were thrown."""

    dice: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Roll:
    """Choice: risk it and throw again."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Choice: mark what the runners have reached and end the turn."""


Choice: TypeAlias = Advance | Roll | Stop
Outcome: TypeAlias = FirstSeat | Rolled
CHOICES: dict[str, type[Choice]] = {"advance": Advance, "roll": Roll, "stop": Stop}
OUTCOMES: dict[str, type[Outcome]] = {"first_seat": FirstSeat, "roll": Rolled}
VOCABULARY: tuple[type, ...] = (*OUTCOMES.values(), *CHOICES.values())

ROLLED: dict[tuple[Value, ...], Rolled] = {dice: Rolled(dice) for dice in ROLLS}
"""Every throw there can be, made once."""

# Rulesets


def stop_anywhere(_state: State) -> bool:
    """The basic game: a seat may stop after every advance."""
    return True


def stop_on_free_fields(state: State) -> bool:
    """Variant 3: no runner may stand on a field with another seat's marker."""
    return not any(
        state.runners >> column & 1 and markers[column] == state.reached[column]
        for seat, markers in enumerate(state.markers)
        if seat != state.seat
        for column in LENGTHS
    )


@dataclass(frozen=True, slots=True)
class Ruleset:
    """What the options of a match come to."""

    columns_to_win: int
    offer: Callable[[Combinations, int, int, int, int], Offer]
    may_stop: Callable[[State], bool]


OPTIONS = (
    Option(
        "columns_to_win",
        (3, 4, 5),
        "columns that win the match; variant 1: 4 with three seats, 5 with two",
    ),
    Option("hasty", (False, True), "variant 2: runners must come into play as fast as possible"),
    Option("free_fields", (False, True), "variant 3: no stopping on a field with another seat's marker"),
)

SEATS_OF_VARIANT_1 = {4: 3, 5: 2}


def combine(options: Options, seats: int) -> None:
    """Variant 1 asks for 4 columns of three seats and 5 of two."""
    columns = cast("int", options["columns_to_win"])
    if SEATS_OF_VARIANT_1.get(columns, seats) != seats:
        raise Invalid(
            Reason.OPTIONS_DO_NOT_COMBINE,
            f"columns_to_win {columns} cannot be played by {seats} seats",
            learn="allowed: 3 with any seats, 4 with three seats, 5 with two",
            option="columns_to_win",
            seats=seats,
        )


# State

FIRST_SEAT, ROLL, ADVANCE, GO_ON, FINISHED = range(5)


@dataclass(slots=True)
class State:
    """A match of Can't Stop; columns index the lists, so entries 0 and 1 are never used."""

    ruleset: Ruleset
    stage: int
    seat: int
    markers: list[list[int]]
    """Per seat: the height of its marker in every column, 0 for none."""
    winners: list[int]
    """Per column: the seat that won it, or NOBODY."""
    won: int
    """The columns that somebody has won, as a mask."""
    reached: list[int]
    """The markers of the seat whose turn it is, and in their place its runners where it has some."""
    runners: int
    """The columns with a runner, as a mask."""
    closed: int
    """The columns where no runner can be placed or moved: won, or with the runner on the number field."""
    dice: tuple[int, ...]
    offer: Offer
    """What the dice allow while an advance is awaited."""


START_OF_COLUMNS = [0] * (max(LENGTHS) + 1)


def begin(options: Options, seats: int) -> State:
    """An empty board, before the starting seat is drawn."""
    return State(
        ruleset=Ruleset(
            columns_to_win=cast("int", options["columns_to_win"]),
            offer=HASTY_OFFER if options["hasty"] else BASIC_OFFER,
            may_stop=stop_on_free_fields if options["free_fields"] else stop_anywhere,
        ),
        stage=FIRST_SEAT,
        seat=0,
        markers=[START_OF_COLUMNS.copy() for _ in range(seats)],
        winners=[NOBODY] * len(START_OF_COLUMNS),
        won=0,
        reached=START_OF_COLUMNS.copy(),
        runners=0,
        closed=0,
        dice=(),
        offer=NO_OFFER,
    )


def copy(state: State) -> State:
    """A state of its own, equal to this one."""
    return State(
        state.ruleset,
        state.stage,
        state.seat,
        [markers.copy() for markers in state.markers],
        state.winners.copy(),
        state.won,
        state.reached.copy(),
        state.runners,
        state.closed,
        state.dice,
        state.offer,
    )


# Chance

FOUR_DICE = Throw("roll", (FACES,) * 4)
TO_CHOOSE = tuple(ToChoose(seat) for seat in range(4))


def awaited(state: State) -> Awaited:
    """The starting seat, four dice, a choice of the seat whose turn it is, or nothing more."""
    stage = state.stage
    if stage == ROLL:
        return FOUR_DICE
    if stage == FIRST_SEAT:
        return first_seat(len(state.markers))
    return OVER if stage == FINISHED else TO_CHOOSE[state.seat]


def outcome(state: State, values: tuple[Value, ...]) -> Outcome:
    """What these values, drawn as awaited, are called."""
    if state.stage == FIRST_SEAT:
        return FirstSeat(cast("int", values[0]))
    return ROLLED[values]


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
    """Take an outcome or a choice into the state, or refuse it and change nothing."""
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
            raise impossible(awaited(state), f"there are only seats 0 to {len(state.markers) - 1}")
        _begin_turn(state, move.seat)
    else:
        raise not_awaited(awaited(state), move, GAME.name, VOCABULARY)


def _begin_turn(state: State, seat: int) -> None:
    state.seat = seat
    state.stage = ROLL
    state.reached = state.markers[seat].copy()
    state.runners = 0
    state.closed = state.won
    state.dice = ()
    state.offer = NO_OFFER


def _roll(state: State, dice: tuple[int, ...]) -> None:
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
    if columns not in state.offer.columns:
        columns = _as_offered(state, columns)
    for column in columns:
        state.reached[column] += 1
        state.runners |= 1 << column
        if state.reached[column] == LENGTHS[column]:
            state.closed |= 1 << column
    state.offer = NO_OFFER
    state.stage = GO_ON


def _as_offered(state: State, columns: tuple[int, ...]) -> tuple[int, ...]:
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
    state.won |= columns
    for column in LENGTHS:
        if columns >> column & 1:
            state.winners[column] = state.seat
            for seat, markers in enumerate(state.markers):
                if seat != state.seat:
                    markers[column] = 0


# View and result


@dataclass(frozen=True, slots=True)
class Column:
    """One column as everybody sees it."""

    number: int
    length: int
    winner: int | None
    markers: tuple[int, ...]
    """The height of each seat's marker, 0 for none."""
    runner: int
    """The height of the runner, 0 for none."""


@dataclass(frozen=True, slots=True)
class View:
    """The board as everybody sees it; nothing in this game is hidden."""

    seat: int | None
    """Whose turn it is; none before the start and after the end."""
    dice: tuple[int, ...]
    """The throw that an advance is awaited for, else none."""
    columns: tuple[Column, ...]
    places: tuple[int, ...]


def view(state: State, _perspective: Perspective) -> View:
    """What every pair of eyes sees."""
    return View(
        seat=None if state.stage in {FIRST_SEAT, FINISHED} else state.seat,
        dice=state.dice if state.stage == ADVANCE else (),
        columns=tuple(
            Column(
                number=column,
                length=length,
                winner=None if state.winners[column] == NOBODY else state.winners[column],
                markers=tuple(markers[column] for markers in state.markers),
                runner=state.reached[column] if state.runners >> column & 1 else 0,
            )
            for column, length in LENGTHS.items()
        ),
        places=places(state),
    )


def places(state: State) -> tuple[int, ...]:
    """Columns held, then the height of the markers in columns that nobody has won (ruling)."""
    return shared_places(
        [
            (
                state.winners.count(seat),
                sum(markers[column] for column in LENGTHS if state.winners[column] == NOBODY),
            )
            for seat, markers in enumerate(state.markers)
        ]
    )


GAME: Game[State, Choice, Outcome] = Game(
    name="cant_stop",
    version=1,
    title="Can't Stop",
    seats=range(2, 5),
    options=OPTIONS,
    combine=combine,
    components={"columns": {str(column): length for column, length in LENGTHS.items()}},
    messages="rollbook.v1.cant_stop_pb2",
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
    seen=everything_is_open,
    places=places,
)

RULESETS = (GAME,)
