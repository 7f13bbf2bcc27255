"""Würfelzoo / Dice's Zoo (Cang Mucun; Smiling Monster), version 1.

Source: the German rulebook; quotations in the comments are its section names. Rulings where it is silent: which animals
share a kind of die is the table `KINDS`; the starting seat is drawn anew for every round; a seat that others robbed of
its last die wins when its own turn begins and it still has none; the squirrel's target is another seat.

Here are the course of a match and its result. Beside it: `wuerfelzoo_table` has the dice, the options' meaning and the
state, `wuerfelzoo_choices` the choices, `wuerfelzoo_abilities` what each animal can do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, cast

from rollbook.rules.chance import Draw, FirstSeat, Throw, Value, first_seat
from rollbook.rules.game import (
    NONE_LEGAL,
    OVER,
    Awaited,
    Choices,
    Game,
    Listed,
    Perspective,
    ToChoose,
    any_options,
    everything_is_open,
    impossible,
    not_awaited,
)
from rollbook.rules.places import places as shared_places
from rollbook.rules.refusals import Illegal, Invalid, Reason
from rollbook.rules.wuerfelzoo_abilities import ABILITIES, check_die, check_own
from rollbook.rules.wuerfelzoo_choices import (
    Bear,
    Boar,
    Choice,
    Fox,
    Play,
    PlayOffer,
    Reroll,
    Squirrel,
    TurnChoices,
    Worm,
)
from rollbook.rules.wuerfelzoo_table import (
    ADD,
    AXES,
    BAG,
    BOX,
    DEAL,
    DEAL_ROLL,
    DEALT,
    DOUBLE,
    FACES,
    FINISHED,
    FIRST_SEAT,
    NO_FACE,
    NOBODY,
    NUMBER_OF_DICE,
    OPTIONS,
    SEATS,
    SIZES,
    SPECIES,
    TABLE,
    TRAP,
    TURN,
    TURN_ROLL,
    USE,
    State,
    begin,
    copy,
    dice_at,
    into_bag,
    is_die,
    is_seat,
    penalty,
)

# Moves


@dataclass(frozen=True, slots=True)
class Drawn:
    """Outcome: the dice that a seat draws from the bag, in the order in which they come."""

    seat: int
    dice: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Rolled:
    """Outcome: the dice that are thrown, ascending, and what each shows."""

    dice: tuple[int, ...]
    faces: tuple[str, ...]


Outcome: TypeAlias = FirstSeat | Drawn | Rolled
CHOICES: dict[str, type[Choice]] = {
    "play": Play,
    "reroll": Reroll,
    "bear": Bear,
    "boar": Boar,
    "fox": Fox,
    "squirrel": Squirrel,
    "worm": Worm,
}
OUTCOMES: dict[str, type[Outcome]] = {"first_seat": FirstSeat, "draw": Drawn, "roll": Rolled}
VOCABULARY: tuple[type, ...] = (*OUTCOMES.values(), *CHOICES.values())

# Chance

TO_CHOOSE = tuple(ToChoose(seat) for seat in range(SEATS[-1]))


def awaited(state: State) -> Awaited:
    """A seat, dice out of the bag, a throw, a choice of the seat whose turn it is, or nothing more."""
    stage = state.stage
    if stage in {TURN, USE}:
        return TO_CHOOSE[state.seat]
    if stage in {DEAL_ROLL, TURN_ROLL}:
        return Throw("roll", tuple(FACES[die] for die in state.thrown))
    if stage in {DEAL, ADD}:
        return Draw("draw", dice_at(state, BAG), _number_to_draw(state))
    return OVER if stage == FINISHED else first_seat(len(state.points))


def _number_to_draw(state: State) -> int:
    return DEALT[len(state.points)] if state.stage == DEAL else 1


def outcome(state: State, values: tuple[Value, ...]) -> Outcome:
    """What these values, thrown or drawn as awaited, are called."""
    if state.stage == FIRST_SEAT:
        return FirstSeat(cast("int", values[0]))
    if state.stage in {DEAL, ADD}:
        return Drawn(state.drawer, cast("tuple[int, ...]", values))
    return Rolled(state.thrown, cast("tuple[str, ...]", values))


# Choices


def legal(state: State) -> Choices[Choice]:
    """What the seat may choose: a whole turn described, uses of an ability listed in ascending order."""
    if state.stage == TURN:
        return _turn_choices(state)
    if state.stage == USE:
        return _uses(state)
    return cast("Listed[Choice]", NONE_LEGAL)


def _turn_choices(state: State) -> TurnChoices:
    own = dice_at(state, state.seat)
    plays = []
    for species in SPECIES:
        dice = _showing(state, own, species)
        numbers = _fitting(state, species)
        if numbers and len(dice) >= numbers[0]:
            plays.append(PlayOffer(species, dice, numbers[0], min(numbers[-1], len(dice))))
    return TurnChoices(tuple(plays), _showing(state, own, DOUBLE), own)


def _showing(state: State, dice: tuple[int, ...], *faces: str) -> tuple[int, ...]:
    return tuple(die for die in dice if state.faces[die] in faces)


def _fitting(state: State, species: str) -> range:
    """How many animals of this species may be laid ("Würfel ausspielen")."""
    lying = len(state.middle)
    if not lying or species == state.species:
        return range(lying + 1, NUMBER_OF_DICE + 1)
    return range(lying, lying + 1) if SIZES[species] > SIZES[state.species] else range(0)


def _uses(state: State) -> Listed[Choice]:
    return Listed(ABILITIES[state.species].choices(state))


def caretaker(state: State) -> Choice:
    """The cheapest play, else a reroll of what cannot be laid; the first use that spares a seat's last die."""
    if state.stage == TURN:
        turn = _turn_choices(state)
        if turn.plays:
            smallest = turn.plays[0]
            return Play(smallest.dice[: smallest.fewest])
        return Reroll(_showing(state, turn.rerolls, TRAP, DOUBLE) or turn.rerolls)
    uses = _uses(state)
    return next((use for use in uses if not _takes_last_die(state, use)), uses[0])


def _takes_last_die(state: State, use: Choice) -> bool:
    if not isinstance(use, Boar | Fox):
        return False
    robbed = state.where[use.other if isinstance(use, Boar) else use.die]
    return state.where.count(robbed) == 1


# Play


def play(state: State, move: Choice | Outcome) -> None:
    """Take an outcome or a choice into the state, or refuse it and change nothing."""
    kind = type(move)
    stage = state.stage
    if kind is Rolled and stage in {DEAL_ROLL, TURN_ROLL}:
        _roll(state, cast("Rolled", move))
    elif kind is Play and stage == TURN:
        _play(state, cast("Play", move).dice)
    elif kind is Reroll and stage == TURN:
        _reroll(state, cast("Reroll", move).dice)
    elif stage == USE and kind is ABILITIES[state.species].kind:
        _use(state, cast("Choice", move))
    elif kind is Drawn and stage in {DEAL, ADD}:
        _draw(state, cast("Drawn", move))
    elif kind is FirstSeat and stage == FIRST_SEAT:
        seat = cast("FirstSeat", move).seat
        if not is_seat(state, seat):
            raise impossible(awaited(state), "there is no such seat at the table")
        state.seat = state.drawer = seat
        state.stage = DEAL
    else:
        raise not_awaited(awaited(state), move, GAME.name, VOCABULARY)


def _draw(state: State, drawn: Drawn) -> None:
    dice = drawn.dice
    if type(drawn.seat) is not int or drawn.seat != state.drawer:
        raise impossible(awaited(state), f"seat {state.drawer} draws, nobody else")
    if len(dice) != _number_to_draw(state):
        raise impossible(awaited(state), f"the number of dice to draw is {_number_to_draw(state)}, not {len(dice)}")
    if not all(is_die(die) and state.where[die] == BAG for die in dice) or len(set(dice)) != len(dice):
        raise impossible(awaited(state), "dice are drawn out of the bag, none of them twice")
    for die in dice:
        state.where[die] = state.drawer
    state.thrown = tuple(sorted(dice))
    state.stage = DEAL_ROLL if state.stage == DEAL else TURN_ROLL


def _roll(state: State, rolled: Rolled) -> None:
    thrown = state.thrown
    if rolled.dice != thrown or len(rolled.faces) != len(thrown):
        raise impossible(awaited(state), f"the dice to throw are {list(thrown)}, each with one face")
    for die, face in zip(thrown, rolled.faces, strict=True):
        if face not in FACES[die]:
            raise impossible(awaited(state), f"die {die} has no such face")
    for die, face in zip(thrown, rolled.faces, strict=True):
        state.faces[die] = face
    state.thrown = ()
    if state.stage == TURN_ROLL:
        _use_on(state)
        return
    state.drawer = _next(state, state.drawer)
    if state.drawer == state.seat:
        _begin_turn(state, state.seat)
    else:
        state.stage = DEAL


def _next(state: State, seat: int) -> int:
    return (seat + 1) % len(state.points)


def _begin_turn(state: State, seat: int) -> None:
    state.seat = seat
    # "Die eigenen Tiere sind noch da!"
    if state.owner == seat:
        state.ruleset.discard(state, state.middle)
        state.middle, state.species, state.owner = (), NO_FACE, NOBODY
    # Ruling: a seat that was robbed of its last die and still has none wins now.
    if seat in state.where:
        state.stage = TURN
    else:
        _end_round(state)


def _play(state: State, dice: tuple[int, ...]) -> None:
    _check_named(state, "play", dice)
    faces = state.faces
    species = NO_FACE
    doubles = 0
    for die in dice:
        face = faces[die]
        if face == DOUBLE:
            doubles += 1
        elif face == TRAP:
            raise Illegal(Reason.SPECIES_MISSING, f"die {die} shows a trap, which is no animal to be laid", die=die)
        elif species not in {NO_FACE, face}:
            raise Illegal(
                Reason.SPECIES_MIXED,
                f"one play lays one species, not {species} and {face}",
                die=die,
                species=(species, face),
            )
        else:
            species = face
    if species == NO_FACE:
        raise Illegal(Reason.SPECIES_MISSING, "x2 dice are only played together with an animal")
    if len(dice) - doubles not in _fitting(state, species):
        raise _does_not_fit(state, species, len(dice) - doubles)
    # What is replaced is out of the middle before the ability is used, so that a squirrel may find it again.
    state.ruleset.discard(state, state.middle)
    ascending = tuple(sorted(dice))
    state.middle = tuple(die for die in ascending if faces[die] == species) if doubles else ascending
    state.doubles = tuple(die for die in ascending if faces[die] == DOUBLE) if doubles else ()
    state.species = species
    state.owner = state.seat
    state.uses = 1 + doubles
    for die in dice:
        state.where[die] = TABLE
    _use_on(state)


def _check_named(state: State, choice: str, dice: tuple[int, ...]) -> None:
    if not dice:
        raise Invalid(Reason.NOTHING_NAMED, f"{choice} names no die")
    if len(dice) > NUMBER_OF_DICE:
        raise Invalid(
            Reason.TOO_MANY_NAMED, f"{choice} names {len(dice)} dice; there are {NUMBER_OF_DICE}", named=len(dice)
        )
    for die in dice:
        check_die(die)
    if len(set(dice)) != len(dice):
        raise Invalid(Reason.NAMED_TWICE, f"{choice} names a die twice", dice=dice)
    for die in dice:
        check_own(state, die)


def _does_not_fit(state: State, species: str, number: int) -> Illegal:
    lying = len(state.middle)
    what = f"{species} ({number}) cannot replace {state.species} ({lying})"
    if SIZES[species] < SIZES[state.species]:
        return Illegal(Reason.SPECIES_TOO_SMALL, what, species=species, middle=state.species)
    needed = f"more than {lying}" if species == state.species else f"exactly {lying}"
    return Illegal(Reason.COUNT_DOES_NOT_FIT, what, species=species, number=number, needed=needed)


def _reroll(state: State, dice: tuple[int, ...]) -> None:
    _check_named(state, "reroll", dice)
    state.thrown = tuple(sorted(dice))
    state.stage = TURN_ROLL


def _use(state: State, use: Choice) -> None:
    after = ABILITIES[state.species].use(state, use)
    state.uses -= 1
    if after == USE:
        _use_on(state)
    else:
        state.stage = after


def _use_on(state: State) -> None:
    """Await the next use of the ability, or end the turn; a reroll leaves no uses and ends it here as well."""
    if state.uses:
        ability = ABILITIES.get(state.species)
        if ability is not None and ability.possible(state):
            state.stage = USE
            return
        # "Die Eigenschaft der ausgespielten Tierart nutzen": what cannot be used lapses.
        state.uses = 0
    # "Das X2-Symbol": the x2 dice leave the table only after the last use.
    state.ruleset.discard(state, state.doubles)
    state.doubles = ()
    # "Spielende und gewinnen": the end of the turn is what counts, not the moment of laying the last die.
    if state.seat in state.where:
        _begin_turn(state, _next(state, state.seat))
    else:
        _end_round(state)


def _end_round(state: State) -> None:
    for seat in range(len(state.points)):
        state.points[seat] += penalty(state, seat)
    if state.ruleset.is_over(state):
        state.stage = FINISHED
        return
    # Ruling: the starting seat is drawn anew; no die stays outside the bag, not even in the box.
    into_bag(state, range(NUMBER_OF_DICE))
    state.middle, state.species, state.owner = (), NO_FACE, NOBODY
    state.round += 1
    state.seat = state.drawer = 0
    state.stage = FIRST_SEAT


# View and result


@dataclass(frozen=True, slots=True)
class DieInFront:
    """One die in front of a seat."""

    die: int
    face: str | None
    """What it shows, none while it has not been thrown."""


@dataclass(frozen=True, slots=True)
class View:
    """The table as everybody sees it; nothing in this game is hidden."""

    round: int
    seat: int | None
    """Whose turn it is; while dice are dealt, the seat that starts; none before a round and after the end."""
    points: tuple[int, ...]
    """The penalty points of all finished rounds."""
    dice: tuple[tuple[DieInFront, ...], ...]
    """What lies in front of every seat."""
    species: str | None
    """What lies in the middle, if anything does."""
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
    """What every pair of eyes sees."""
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


def places(state: State) -> tuple[int, ...]:
    """The winner of the one round and the others by their points, or all by the points of all rounds."""
    return shared_places(state.ruleset.scores(state))


GAME: Game[State, Choice, Outcome] = Game(
    name="wuerfelzoo",
    version=1,
    title="Würfelzoo",
    seats=SEATS,
    options=OPTIONS,
    combine=any_options,
    components={"dice": [[list(axis) for axis in axes] for axes in AXES]},
    messages="rollbook.v1.wuerfelzoo_pb2",
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
    described=TurnChoices,
)

RULESETS = (GAME,)
