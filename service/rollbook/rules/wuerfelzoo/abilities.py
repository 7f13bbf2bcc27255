"""The abilities of the animals of Würfelzoo: when each can be used, on what, and what it does."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from rollbook.rules.refusals import Illegal, Invalid, Reason
from rollbook.rules.wuerfelzoo.moves import NUMBER_OF_DICE, Bear, Boar, Choice, Fox, Squirrel, Worm
from rollbook.rules.wuerfelzoo.state import ADD, BAG, BOX, TURN_ROLL, USE, State, dice_at, into_bag, is_die, is_seat

# What a choice names


def check_die(die: int) -> None:
    """Refuse a value that is not the number of a die."""
    if not is_die(die):
        allowed = f"0 to {NUMBER_OF_DICE - 1}"
        raise Invalid(Reason.DIE_UNKNOWN, f"there are only dice {allowed}", allowed=allowed)


def check_own(state: State, die: int) -> None:
    """Refuse a die that does not lie in front of the seat whose turn it is."""
    if state.where[die] != state.seat:
        raise Illegal(
            Reason.DIE_NOT_OWNED, f"die {die} does not lie in front of seat {state.seat}", die=die, seat=state.seat
        )


def _check_in_front(state: State, die: int) -> None:
    """Refuse a die that lies in front of no seat."""
    if state.where[die] < 0:
        raise Illegal(Reason.DIE_NOT_IN_PLAY, f"die {die} does not lie in front of any seat", die=die)


def _check_of_another(state: State, die: int) -> None:
    """Refuse a die that does not lie in front of another seat."""
    _check_in_front(state, die)
    if state.where[die] == state.seat:
        raise Illegal(Reason.TARGET_IS_ONESELF, f"die {die} is the seat's own, not another's", die=die, seat=state.seat)


def _check_target(state: State, seat: int) -> None:
    """Refuse a value that is not the number of another seat."""
    if not is_seat(state, seat):
        allowed = f"0 to {len(state.points) - 1}"
        raise Invalid(Reason.SEAT_UNKNOWN, f"there are only seats {allowed}", allowed=allowed)
    if seat == state.seat:
        raise Illegal(Reason.TARGET_IS_ONESELF, "the target must be another seat", seat=seat)


# The possible uses of the abilities


def _dice_of_others(state: State) -> Iterator[int]:
    """The dice in front of the other seats, ascending."""
    return (die for die, there in enumerate(state.where) if there >= 0 and there != state.seat)


def _others(state: State) -> list[int]:
    """The other seats, ascending."""
    return [seat for seat in range(len(state.points)) if seat != state.seat]


def _anybody_has_a_die(state: State) -> bool:
    """Whether a bear has a die to throw again."""
    return _oneself_has_a_die(state) or _another_has_a_die(state)


def _oneself_has_a_die(state: State) -> bool:
    """Whether a worm has a die to give away."""
    return state.seat in state.where


def _another_has_a_die(state: State) -> bool:
    """Whether a fox has a die to take."""
    return next(_dice_of_others(state), None) is not None


def _both_have_a_die(state: State) -> bool:
    """Whether a boar has two dice to swap."""
    return _oneself_has_a_die(state) and _another_has_a_die(state)


def _a_die_is_left_to_draw(state: State) -> bool:
    """Whether a squirrel has a die to add."""
    return BAG in state.where or BOX in state.where


# The uses: each checks everything, changes the table and returns the next stage


def _bear(state: State, use: Bear) -> int:
    """Throw a die again."""
    check_die(use.die)
    _check_in_front(state, use.die)
    state.thrown = (use.die,)
    return TURN_ROLL


def _boar(state: State, use: Boar) -> int:
    """Swap one of the seat's dice for one of another seat."""
    check_die(use.own)
    check_die(use.other)
    if use.own == use.other:
        raise Invalid(Reason.NAMED_TWICE, "a die is not exchanged for itself", dice=(use.own, use.other))
    check_own(state, use.own)
    _check_of_another(state, use.other)
    state.where[use.own], state.where[use.other] = state.where[use.other], state.seat
    return USE


def _fox(state: State, use: Fox) -> int:
    """Take a die from another seat, back into the bag or the box."""
    check_die(use.die)
    _check_of_another(state, use.die)
    state.ruleset.discard(state, (use.die,))
    return USE


def _squirrel(state: State, use: Squirrel) -> int:
    """Let another seat draw a die."""
    _check_target(state, use.target)
    # "Alternative Regeln": now that a die is to be drawn, the box fills the empty bag.
    if BAG not in state.where:
        into_bag(state, dice_at(state, BOX))
    state.drawer = use.target
    return ADD


def _worm(state: State, use: Worm) -> int:
    """Give one of the seat's dice to another seat."""
    check_die(use.own)
    _check_target(state, use.target)
    check_own(state, use.own)
    state.where[use.own] = use.target
    return USE


# The table of abilities

Use = TypeVar("Use", bound=Choice)


@dataclass(frozen=True, slots=True)
class Ability(Generic[Use]):
    """What an animal can do ("Die Tiere und ihre Eigenschaften")."""

    kind: type[Use]
    possible: Callable[[State], bool]
    choices: Callable[[State], Iterable[Use]]
    """Every possible use of the ability, ascending."""
    use: Callable[[State, Use], int]
    """Uses the ability and returns the next stage; refuses an illegal use."""


# "Der Elefant" has no ability, so the table has no entry for it.
ABILITIES: dict[str, Ability[Any]] = {
    "bear": Ability(
        Bear,
        _anybody_has_a_die,
        lambda state: (Bear(die) for die, there in enumerate(state.where) if there >= 0),
        _bear,
    ),
    "boar": Ability(
        Boar,
        _both_have_a_die,
        lambda state: (Boar(own, other) for own in dice_at(state, state.seat) for other in _dice_of_others(state)),
        _boar,
    ),
    "fox": Ability(
        Fox,
        _another_has_a_die,
        lambda state: (Fox(die) for die in _dice_of_others(state)),
        _fox,
    ),
    # Ruling: the target is another seat, as "Hinzufügen" says; the short table's "any player" means no more.
    "squirrel": Ability(
        Squirrel,
        _a_die_is_left_to_draw,
        lambda state: (Squirrel(target) for target in _others(state)),
        _squirrel,
    ),
    "worm": Ability(
        Worm,
        _oneself_has_a_die,
        lambda state: (Worm(own, target) for own in dice_at(state, state.seat) for target in _others(state)),
        _worm,
    ),
}
