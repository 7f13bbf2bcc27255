"""How Raffzahn is played: which choices are legal, and what every move does."""

from collections.abc import Iterator
from itertools import permutations
from typing import cast

from rollbook.rules.chance import FirstSeat
from rollbook.rules.game import NONE_LEGAL, Listed, impossible, not_awaited
from rollbook.rules.options import shorten_value
from rollbook.rules.raffzahn.moves import (
    ALL_DICE,
    NAME,
    OPEN_TILES_BEFORE_SAFE,
    TEETH_FOR_A_MISS,
    THROWS,
    TILES,
    VOCABULARY,
    Choice,
    Faces,
    Outcome,
    Pass,
    Roll,
    Rolled,
    Surrender,
    Take,
    list_tiles,
    mask,
    no_such_tile,
)
from rollbook.rules.raffzahn.payments import check_payment, payments
from rollbook.rules.raffzahn.state import (
    DECIDE,
    FINISHED,
    FIRST_SEAT,
    KEPT,
    REROLLS,
    ROLL,
    SURRENDER,
    State,
    find_awaited,
    list_owned,
    may_lay_safe,
    worth,
)
from rollbook.rules.raffzahn.throws import MISS, OWN_HIT, THROWN
from rollbook.rules.refusals import Illegal, Invalid, Reason

# Choices

PASS = Pass()


def legal(state: State) -> Listed[Choice]:
    """The legal choices: take (open before safe), roll (by dice, then announced tile), pass; or surrender."""
    if state.stage == DECIDE:
        return Listed((*_takes(state), *_rolls(state), *([PASS] if state.result.may_pass else [])))
    if state.stage == SURRENDER:
        return Listed(map(Surrender, payments(state)))
    return cast("Listed[Choice]", NONE_LEGAL)


def caretaker(state: State) -> Choice:
    """Take the tile, safe where that is allowed, else pass; give up the first of the sets worth least."""
    if state.stage == SURRENDER:
        return Surrender(min(payments(state), key=lambda tiles: worth(state, tiles)))
    return PASS if state.result.tile is None else Take(state.result.tile, safe=may_lay_safe(state))


def _takes(state: State) -> Iterator[Take]:
    """The ways to take the tile on offer."""
    if state.result.tile is not None:
        yield Take(state.result.tile, safe=False)
        if may_lay_safe(state):
            yield Take(state.result.tile, safe=True)


def _rolls(state: State) -> Iterator[Roll]:
    """The ways to throw again."""
    if state.throws < THROWS and state.result.may_roll:
        announcements = (None, *list_tiles(state.ruleset.to_announce(state)))
        for dice in REROLLS:
            for announce in announcements:
                yield Roll(dice, announce)


# Play

ASCENDING = {named: dice for dice in REROLLS for named in permutations(dice)}


def play(state: State, move: Choice | Outcome) -> None:
    """Apply an outcome or a choice to the state, or refuse it and change nothing."""
    kind = type(move)
    stage = state.stage
    if kind is Rolled and stage == ROLL:
        _roll(state, cast("Rolled", move).dice)
    elif kind is Roll and stage == DECIDE:
        _roll_again(state, cast("Roll", move))
    elif kind is Take and stage == DECIDE:
        _take(state, cast("Take", move))
    elif kind is Pass and stage == DECIDE:
        _pass(state)
    elif kind is Surrender and stage == SURRENDER:
        _surrender(state, cast("Surrender", move).tiles)
    elif kind is FirstSeat and stage == FIRST_SEAT:
        seat = cast("FirstSeat", move).seat
        if seat not in range(len(state.open_tiles)):
            raise impossible(find_awaited(state), f"seat {shorten_value(seat)} is not at the table")
        _begin_turn(state, seat)
    else:
        raise not_awaited(find_awaited(state), move, NAME, VOCABULARY)


def _begin_turn(state: State, seat: int) -> None:
    """A turn before its first throw."""
    state.stage = ROLL
    state.seat = seat
    state.throws = 0
    state.dice = ()
    state.rerolled = ALL_DICE
    state.announced = None
    state.result = MISS


def _next_turn(state: State) -> None:
    """The turn of the next seat."""
    _begin_turn(state, (state.seat + 1) % len(state.open_tiles))


def _roll(state: State, dice: Faces) -> None:
    """Determine the result of the throw, and what is awaited after it."""
    thrown = THROWN.get(dice)
    if thrown is None:
        raise impossible(find_awaited(state), "those are not faces of the yellow die and the two blue ones")
    for die in KEPT[state.rerolled]:
        if dice[die] != state.dice[die]:
            raise impossible(find_awaited(state), f"die {die} was kept and still lies with {state.dice[die]} up")
    if thrown.rotten:
        # "Fauler Zahn": the turn is over with any other dice.
        _next_turn(state)
        return
    result = state.ruleset.result(state, thrown)
    state.throws += 1
    if result is OWN_HIT:
        _own_hit(state, 1 << thrown.number)
    elif result is MISS and state.throws == THROWS:
        state.dice = dice
        _miss(state)
    else:
        state.dice = dice
        state.result = result
        state.stage = DECIDE


def _own_hit(state: State, tile: int) -> None:
    """Turn a safe tile open, or put an open one out of the game ("Eigentreffer")."""
    if state.safe_tiles[state.seat] & tile:
        state.safe_tiles[state.seat] ^= tile
        state.open_tiles[state.seat] |= tile
    else:
        state.open_tiles[state.seat] ^= tile
    _next_turn(state)


def _miss(state: State) -> None:
    """Ask for teeth ("Fehlwurf", "Fehltreffer"); ruling: less than three in all are lost without a choice."""
    if worth(state, list_owned(state, state.seat)) < TEETH_FOR_A_MISS:
        state.open_tiles[state.seat] = 0
        state.safe_tiles[state.seat] = 0
        _next_turn(state)
    else:
        state.result = MISS
        state.stage = SURRENDER


def _roll_again(state: State, roll: Roll) -> None:
    """Await a throw of these dice."""
    dice = ASCENDING.get(roll.dice)
    if dice is None:
        raise _not_dice(roll.dice)
    if roll.announce is not None and roll.announce not in TILES:
        raise no_such_tile(roll.announce)
    if state.throws == THROWS:
        raise Illegal(Reason.NO_THROWS_LEFT, f"all {THROWS} throws of the turn are made", throws=THROWS)
    if not state.result.may_roll:
        raise Illegal(
            Reason.OTHER_CHOICE_AWAITED,
            f"after three stars tile {state.result.tile} has to be taken",
            learn="legal now: take",
            seat=state.seat,
        )
    if roll.announce is not None and not state.ruleset.to_announce(state) >> roll.announce & 1:
        raise _not_to_announce(state, roll.announce)
    state.rerolled = dice
    state.announced = roll.announce
    state.result = MISS
    state.stage = ROLL


def _not_dice(dice: tuple[int, ...]) -> Invalid:
    """The refusal of dice that cannot be named together."""
    if not dice:
        return Invalid(Reason.NOTHING_NAMED, "roll names no die; at least one is thrown again")
    if len(dice) > len(ALL_DICE):
        return Invalid(Reason.TOO_MANY_NAMED, f"roll names {len(dice)} dice; there are {len(ALL_DICE)}")
    if any(die not in ALL_DICE for die in dice):
        return Invalid(Reason.DIE_UNKNOWN, "there are only dice 0 (yellow), 1 and 2 (blue)", allowed="0 to 2")
    return Invalid(Reason.NAMED_TWICE, "roll names a die twice")


def _not_to_announce(state: State, tile: int) -> Illegal:
    """The refusal of a tile that may not be announced now."""
    to_announce = list_tiles(state.ruleset.to_announce(state))
    return Illegal(
        Reason.ANNOUNCEMENT_NOT_ALLOWED,
        f"tile {tile} lies neither in the middle nor open in front of another seat"
        if to_announce
        else "this match is played without announcements",
        learn=f"tiles to announce: {', '.join(map(str, to_announce)) or 'none'}",
        tile=tile,
    )


def _take(state: State, take: Take) -> None:
    """Take the tile on offer, which may end the match or give another turn."""
    tile = state.result.tile
    if tile is None or take.tile != tile:
        raise _not_offered(state, take.tile)
    if take.safe and not may_lay_safe(state):
        raise Illegal(
            Reason.SAFE_NOT_ALLOWED,
            f"a tile may be laid safe with {OPEN_TILES_BEFORE_SAFE} open tiles, and there are fewer",
            learn=f"legal now: take {tile} open",
            tile=tile,
            open=state.open_tiles[state.seat].bit_count(),
        )
    taken = 1 << tile
    if state.middle & taken:
        state.middle ^= taken
    else:
        for seat, tiles in enumerate(state.open_tiles):
            state.open_tiles[seat] = tiles & ~taken
    row = state.safe_tiles if take.safe else state.open_tiles
    row[state.seat] |= taken
    if not state.middle:
        # "Spielende": at once, so that an extra turn is not played any more.
        state.stage = FINISHED
    elif state.announced == tile and state.result.fulfils:
        # "Ansage": a turn of its own, with three new throws.
        _begin_turn(state, state.seat)
    else:
        _next_turn(state)


def _not_offered(state: State, tile: int) -> Invalid | Illegal:
    """The refusal of a tile that is not on offer."""
    if tile not in TILES:
        return no_such_tile(tile)
    offered = state.result.tile
    if offered is None:
        return Illegal(Reason.TAKE_NOT_OFFERED, f"the dice {list(state.dice)} offer no tile", dice=state.dice)
    return Illegal(
        Reason.TILE_NOT_OFFERED,
        f"the dice {list(state.dice)} offer tile {offered}, not {tile}",
        learn=f"legal now: take {offered}",
        tile=tile,
        offered=offered,
        dice=state.dice,
    )


def _pass(state: State) -> None:
    """End the turn without a tile."""
    if not state.result.may_pass:
        roll = " or roll" if state.result.may_roll and state.throws < THROWS else ""
        raise Illegal(
            Reason.PASS_NOT_ALLOWED,
            f"after a star throw a turn does not end without tile {state.result.tile}",
            learn=f"legal now: take{roll}",
            dice=state.dice,
        )
    _next_turn(state)


def _surrender(state: State, tiles: tuple[int, ...]) -> None:
    """Give up the tiles that pay for a miss ("Fehlwurf", "Fehltreffer")."""
    check_payment(state, tiles)
    gone = mask(tiles)
    state.open_tiles[state.seat] &= ~gone
    state.safe_tiles[state.seat] &= ~gone
    _next_turn(state)
