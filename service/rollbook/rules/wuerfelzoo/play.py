"""How Würfelzoo is played: which choices are legal, and what every move does."""

from collections.abc import Callable
from typing import Any, cast

from rollbook.rules.chance import FirstSeat
from rollbook.rules.game import NONE_LEGAL, Choices, Listed, impossible, not_awaited
from rollbook.rules.refusals import Illegal, Invalid, Reason
from rollbook.rules.wuerfelzoo.abilities import ABILITIES, check_die, check_own
from rollbook.rules.wuerfelzoo.moves import (
    DOUBLE,
    FACES,
    NAME,
    NO_FACE,
    NUMBER_OF_DICE,
    SIZES,
    SPECIES,
    TRAP,
    VOCABULARY,
    Boar,
    Choice,
    Drawn,
    Fox,
    Outcome,
    Play,
    Reroll,
    Rolled,
)
from rollbook.rules.wuerfelzoo.state import (
    BAG,
    DEAL,
    DEAL_ROLL,
    DRAWING,
    FINISHED,
    FIRST_SEAT,
    NOBODY,
    ROLLING,
    TABLE,
    TURN,
    TURN_ROLL,
    USE,
    State,
    dice_at,
    find_awaited,
    into_bag,
    is_die,
    is_seat,
    number_to_draw,
    penalty,
)
from rollbook.rules.wuerfelzoo.turn_choices import PlayOffer, TurnChoices

# Choices


def legal(state: State) -> Choices[Choice]:
    """Return the legal choices: a turn as a description, uses of an ability as an ascending list."""
    if state.stage == TURN:
        return _turn_choices(state)
    if state.stage == USE:
        return _uses(state)
    return cast("Listed[Choice]", NONE_LEGAL)


def _turn_choices(state: State) -> TurnChoices:
    """Return the legal choices at the start of the seat's turn."""
    own = dice_at(state, state.seat)
    plays = []
    for species in SPECIES:
        dice = _showing(state, own, species)
        numbers = _fitting(state, species)
        if numbers and len(dice) >= numbers[0]:
            plays.append(PlayOffer(species, dice, numbers[0], min(numbers[-1], len(dice))))
    return TurnChoices(tuple(plays), _showing(state, own, DOUBLE), own)


def _showing(state: State, dice: tuple[int, ...], *faces: str) -> tuple[int, ...]:
    """Return the dice that show one of the faces."""
    return tuple(die for die in dice if state.faces[die] in faces)


def _fitting(state: State, species: str) -> range:
    """How many animals of this species may be laid ("Würfel ausspielen")."""
    lying = len(state.middle)
    if not lying or species == state.species:
        return range(lying + 1, NUMBER_OF_DICE + 1)
    return range(lying, lying + 1) if SIZES[species] > SIZES[state.species] else range(0)


def _uses(state: State) -> Listed[Choice]:
    """Every use of the ability of the animals in the middle."""
    return Listed(ABILITIES[state.species].choices(state))


def caretaker(state: State) -> Choice:
    """The choice of a caretaker.

    At the start of a turn: the smallest play, or, if no play is legal, a reroll of the traps and x2 dice, or of all
    dice if there are none of these. For an ability: the first use that does not take another seat's last die, else the
    first use.
    """
    if state.stage == TURN:
        turn = _turn_choices(state)
        if turn.plays:
            smallest = turn.plays[0]
            return Play(smallest.dice[: smallest.fewest])
        return Reroll(_showing(state, turn.rerolls, TRAP, DOUBLE) or turn.rerolls)
    uses = _uses(state)
    return next((use for use in uses if not _takes_last_die(state, use)), uses[0])


def _takes_last_die(state: State, use: Choice) -> bool:
    """Whether the use robs another seat of its last die."""
    if not isinstance(use, Boar | Fox):
        return False
    robbed = state.where[use.other if isinstance(use, Boar) else use.die]
    return state.where.count(robbed) == 1


# Play


def play(state: State, move: Choice | Outcome) -> None:
    """Apply an outcome or a choice to the state, or refuse it and change nothing."""
    handler = HANDLERS.get(type(move))
    if handler is None or state.stage not in handler[0]:
        raise not_awaited(find_awaited(state), move, NAME, VOCABULARY)
    handler[1](state, move)


def _first_seat(state: State, first: FirstSeat) -> None:
    """Make the drawn seat the starting seat, which is also the first to be dealt dice."""
    if not is_seat(state, first.seat):
        raise impossible(find_awaited(state), "there is no such seat at the table")
    state.seat = state.drawer = first.seat
    state.stage = DEAL


def _draw(state: State, drawn: Drawn) -> None:
    """Put the drawn dice in front of the seat that draws; they are thrown next."""
    dice = drawn.dice
    if type(drawn.seat) is not int or drawn.seat != state.drawer:
        raise impossible(find_awaited(state), f"seat {state.drawer} draws, nobody else")
    if len(dice) != number_to_draw(state):
        raise impossible(find_awaited(state), f"the number of dice to draw is {number_to_draw(state)}, not {len(dice)}")
    where = state.where
    for die in dice:
        if not is_die(die) or where[die] != BAG:
            raise _not_in_the_bag(state)
    if len(set(dice)) != len(dice):
        raise _not_in_the_bag(state)
    for die in dice:
        where[die] = state.drawer
    state.thrown = tuple(sorted(dice))
    state.stage = DEAL_ROLL if state.stage == DEAL else TURN_ROLL


def _not_in_the_bag(state: State) -> Illegal:
    """The refusal of dice that cannot be drawn."""
    return impossible(find_awaited(state), "dice are drawn out of the bag, none of them twice")


def _roll(state: State, rolled: Rolled) -> None:
    """Set the faces of the thrown dice; then continue with the next deal or with the turn."""
    thrown = state.thrown
    if rolled.dice != thrown or len(rolled.faces) != len(thrown):
        raise impossible(find_awaited(state), f"the dice to throw are {list(thrown)}, each with one face")
    # If a later face is impossible, the faces of the state must be unchanged.
    faces = state.faces.copy()
    for die, face in zip(thrown, rolled.faces, strict=True):
        if face not in FACES[die]:
            raise impossible(find_awaited(state), f"die {die} has no such face")
        faces[die] = face
    state.faces = faces
    state.thrown = ()
    if state.stage == TURN_ROLL:
        _continue_turn(state)
        return
    state.drawer = _seat_after(state, state.drawer)
    if state.drawer == state.seat:
        _begin_turn(state, state.seat)
    else:
        state.stage = DEAL


def _seat_after(state: State, seat: int) -> int:
    """The next seat, clockwise."""
    return (seat + 1) % len(state.points)


def _begin_turn(state: State, seat: int) -> None:
    """Clear the middle if the seat itself laid it; then await its choice, or end the round if it has no dice."""
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


def _play(state: State, play: Play) -> None:
    """Lay animals into the middle, with any x2 dice, and go on to their ability."""
    dice = play.dice
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
        elif species == NO_FACE:
            species = face
        elif species != face:
            raise Illegal(
                Reason.SPECIES_MIXED,
                f"one play lays one species, not {species} and {face}",
                die=die,
                species=(species, face),
            )
    if species == NO_FACE:
        raise Illegal(Reason.SPECIES_MISSING, "x2 dice are only played together with an animal")
    if len(dice) - doubles not in _fitting(state, species):
        raise _does_not_fit(state, species, len(dice) - doubles)
    # Replaced animals leave the middle before the ability is used, so that a squirrel may draw one of them.
    state.ruleset.discard(state, state.middle)
    ascending = tuple(sorted(dice))
    state.middle = tuple(die for die in ascending if faces[die] == species) if doubles else ascending
    state.doubles = tuple(die for die in ascending if faces[die] == DOUBLE) if doubles else ()
    state.species = species
    state.owner = state.seat
    state.uses = 1 + doubles
    for die in dice:
        state.where[die] = TABLE
    _continue_turn(state)


def _check_named(state: State, choice: str, dice: tuple[int, ...]) -> None:
    """Refuse dice that are not a non-empty set of the seat's dice."""
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
    where, seat = state.where, state.seat
    for die in dice:
        if where[die] != seat:
            check_own(state, die)


def _does_not_fit(state: State, species: str, number: int) -> Illegal:
    """The refusal of animals that cannot replace those in the middle."""
    lying = len(state.middle)
    what = f"{species} ({number}) cannot replace {state.species} ({lying})"
    if SIZES[species] < SIZES[state.species]:
        return Illegal(Reason.SPECIES_TOO_SMALL, what, species=species, middle=state.species)
    needed = f"more than {lying}" if species == state.species else f"exactly {lying}"
    return Illegal(Reason.COUNT_DOES_NOT_FIT, what, species=species, number=number, needed=needed)


def _reroll(state: State, reroll: Reroll) -> None:
    """Await a throw of these dice."""
    dice = reroll.dice
    _check_named(state, "reroll", dice)
    state.thrown = tuple(sorted(dice))
    state.stage = TURN_ROLL


def _use(state: State, use: Choice) -> None:
    """Use the ability once."""
    ability = ABILITIES[state.species]
    if type(use) is not ability.kind:
        raise not_awaited(find_awaited(state), use, NAME, VOCABULARY)
    after = ability.use(state, use)
    state.uses -= 1
    if after == USE:
        _continue_turn(state)
    else:
        state.stage = after


def _continue_turn(state: State) -> None:
    """Await the next use of the ability, or end the turn; a reroll leaves no uses and ends it here as well."""
    if state.uses:
        ability = ABILITIES.get(state.species)
        if ability is not None and ability.possible(state):
            state.stage = USE
            return
        # "Die Eigenschaft der ausgespielten Tierart nutzen": what cannot be used lapses.
        state.uses = 0
    # "Das X2-Symbol": the x2 dice leave the table only after the last use.
    if state.doubles:
        state.ruleset.discard(state, state.doubles)
        state.doubles = ()
    # "Spielende und gewinnen": the round ends at the end of the turn, not when the last die is laid.
    if state.seat in state.where:
        _begin_turn(state, _seat_after(state, state.seat))
    else:
        _end_round(state)


def _end_round(state: State) -> None:
    """Count the penalty points; then the match is over, or the next round begins."""
    for seat in range(len(state.points)):
        state.points[seat] += penalty(state, seat)
    if state.ruleset.is_over(state):
        state.stage = FINISHED
        return
    # Ruling: the starting seat is drawn again; no die stays outside the bag, not even in the box.
    into_bag(state, range(NUMBER_OF_DICE))
    state.middle, state.species, state.owner = (), NO_FACE, NOBODY
    state.round += 1
    state.seat = state.drawer = 0
    state.stage = FIRST_SEAT


HANDLERS: dict[type, tuple[frozenset[int], Callable[[State, Any], None]]] = {
    FirstSeat: (frozenset({FIRST_SEAT}), _first_seat),
    Drawn: (DRAWING, _draw),
    Rolled: (ROLLING, _roll),
    Play: (frozenset({TURN}), _play),
    Reroll: (frozenset({TURN}), _reroll),
    **{ability.kind: (frozenset({USE}), _use) for ability in ABILITIES.values()},
}
"""For every kind of move the stages that await it, and the function that applies it."""
