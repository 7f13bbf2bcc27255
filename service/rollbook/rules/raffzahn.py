"""Raffzahn (Rüdiger Koltze; Schmidt Spiele), version 1, in two editions.

Sources: the German rulebooks of the first edition ("original") and of the reworked reprint ("revised"); quotations in
the comments are their section names. Rulings where they are silent: the teeth of the tiles are an even division;
where a hit or an own hit comes first, the star throw is not on offer; a miss costs teeth and the turn on the third
throw only; a seat may pass unless it has to take or to give up teeth; it gives up no tile that is not needed to come
to three teeth; only a tile that can be won may be announced; all places follow the order that finds the winner.

What a throw comes to, by the text of each edition, stands in `raffzahn_table.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import TypeAlias, cast

from rollbook.rules.chance import FirstSeat, Throw, Value, first_seat
from rollbook.rules.game import (
    NONE_LEGAL,
    OVER,
    Awaited,
    Game,
    Listed,
    Perspective,
    ToChoose,
    any_options,
    everything_is_open,
    impossible,
    not_awaited,
)
from rollbook.rules.options import shortened
from rollbook.rules.places import places as shared_places
from rollbook.rules.raffzahn_table import (
    ALL_DICE,
    BLUE,
    DECIDE,
    DICE,
    FINISHED,
    FIRST_SEAT,
    MISS,
    OPEN_TILES_BEFORE_SAFE,
    OPTIONS,
    OWN_HIT,
    ROLL,
    SEATS,
    SURRENDER,
    TEETH,
    TEETH_FOR_A_MISS,
    THROWN,
    THROWS,
    TILES,
    YELLOW,
    Faces,
    State,
    begin,
    copy,
    listed,
    mask,
    may_lay_safe,
    owned,
    payments,
    worth,
)
from rollbook.rules.refusals import Illegal, Invalid, Reason

# Moves


@dataclass(frozen=True, slots=True)
class Rolled:
    """Outcome: all three dice as they lie after the throw, yellow first."""

    dice: Faces


@dataclass(frozen=True, slots=True)
class Roll:
    """Choice: throw these dice again (0 is yellow), perhaps after announcing a tile."""

    dice: tuple[int, ...]
    announce: int | None = None


@dataclass(frozen=True, slots=True)
class Take:
    """Choice: take the tile that the throw offers and lay it open or safe."""

    tile: int
    safe: bool


@dataclass(frozen=True, slots=True)
class Pass:
    """Choice: end the turn without a tile."""


@dataclass(frozen=True, slots=True)
class Surrender:
    """Choice: the tiles that a miss costs."""

    tiles: tuple[int, ...]


Choice: TypeAlias = Roll | Take | Pass | Surrender
Outcome: TypeAlias = FirstSeat | Rolled
CHOICES: dict[str, type[Choice]] = {"roll": Roll, "take": Take, "pass": Pass, "surrender": Surrender}
OUTCOMES: dict[str, type[Outcome]] = {"first_seat": FirstSeat, "roll": Rolled}
VOCABULARY: tuple[type, ...] = (*OUTCOMES.values(), *CHOICES.values())

# Chance

REROLLS: tuple[tuple[int, ...], ...] = ((0,), (0, 1), ALL_DICE, (0, 2), (1,), (1, 2), (2,))
"""The dice that can be thrown together, in the order of the choices."""

ASCENDING = {named: dice for dice in REROLLS for named in permutations(dice)}
KEPT = {dice: tuple(die for die in ALL_DICE if die not in dice) for dice in REROLLS}
THROW_OF = {dice: Throw("roll", tuple(DICE[die] for die in dice)) for dice in REROLLS}
TO_CHOOSE = tuple(ToChoose(seat) for seat in range(SEATS[-1]))
NOT_THROWN: Faces = ("", "", "")


def awaited(state: State) -> Awaited:
    """The starting seat, dice, a choice of the seat whose turn it is, or nothing more."""
    stage = state.stage
    if stage == ROLL:
        return THROW_OF[state.rerolled]
    if stage == FIRST_SEAT:
        return first_seat(len(state.open_tiles))
    return OVER if stage == FINISHED else TO_CHOOSE[state.seat]


def outcome(state: State, values: tuple[Value, ...]) -> Outcome:
    """What these values, drawn as awaited, are called; dice that were kept lie among those thrown."""
    if state.stage == FIRST_SEAT:
        return FirstSeat(cast("int", values[0]))
    dice = list(state.dice or NOT_THROWN)
    for die, face in zip(state.rerolled, cast("Faces", values), strict=True):
        dice[die] = face
    return Rolled(tuple(dice))


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
    if state.result.tile is not None:
        yield Take(state.result.tile, safe=False)
        if may_lay_safe(state):
            yield Take(state.result.tile, safe=True)


def _rolls(state: State) -> Iterator[Roll]:
    if state.throws < THROWS and state.result.may_roll:
        announcements = (None, *listed(state.ruleset.to_announce(state)))
        for dice in REROLLS:
            for announce in announcements:
                yield Roll(dice, announce)


# Play


def play(state: State, move: Choice | Outcome) -> None:
    """Take an outcome or a choice into the state, or refuse it and change nothing."""
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
            raise impossible(awaited(state), f"seat {shortened(seat)} is not at the table")
        _begin_turn(state, seat)
    else:
        raise not_awaited(awaited(state), move, GAME.name, VOCABULARY)


def _begin_turn(state: State, seat: int) -> None:
    state.stage = ROLL
    state.seat = seat
    state.throws = 0
    state.dice = ()
    state.rerolled = ALL_DICE
    state.announced = None
    state.result = MISS


def _next_turn(state: State) -> None:
    _begin_turn(state, (state.seat + 1) % len(state.open_tiles))


def _roll(state: State, dice: Faces) -> None:
    thrown = THROWN.get(dice)
    if thrown is None:
        raise impossible(awaited(state), "those are not faces of the yellow die and the two blue ones")
    for die in KEPT[state.rerolled]:
        if dice[die] != state.dice[die]:
            raise impossible(awaited(state), f"die {die} was kept and still lies with {state.dice[die]} up")
    if thrown.rotten:
        # "Fauler Zahn": the turn is over, whatever else lies there.
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
    if worth(state, owned(state, state.seat)) < TEETH_FOR_A_MISS:
        state.open_tiles[state.seat] = 0
        state.safe_tiles[state.seat] = 0
        _next_turn(state)
    else:
        state.result = MISS
        state.stage = SURRENDER


def _roll_again(state: State, roll: Roll) -> None:
    dice = ASCENDING.get(roll.dice)
    if dice is None:
        raise _not_dice(roll.dice)
    if roll.announce is not None and roll.announce not in TILES:
        raise _not_a_tile(roll.announce)
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
    if not dice:
        return Invalid(Reason.NOTHING_NAMED, "roll names no die; at least one is thrown again")
    if len(dice) > len(ALL_DICE):
        return Invalid(Reason.TOO_MANY_NAMED, f"roll names {len(dice)} dice; there are {len(ALL_DICE)}")
    if any(die not in ALL_DICE for die in dice):
        return Invalid(Reason.DIE_UNKNOWN, "there are only dice 0 (yellow), 1 and 2 (blue)", allowed="0 to 2")
    return Invalid(Reason.NAMED_TWICE, "roll names a die twice")


def _not_a_tile(tile: int) -> Invalid:
    allowed = f"{TILES[0]} to {TILES[-1]}"
    return Invalid(Reason.TILE_UNKNOWN, f"there is no tile {shortened(tile)}, only {allowed}", allowed=allowed)


def _not_to_announce(state: State, tile: int) -> Illegal:
    to_announce = listed(state.ruleset.to_announce(state))
    return Illegal(
        Reason.ANNOUNCEMENT_NOT_ALLOWED,
        f"tile {tile} lies neither in the middle nor open in front of another seat"
        if to_announce
        else "this match is played without announcements",
        learn=f"tiles to announce: {', '.join(map(str, to_announce)) or 'none'}",
        tile=tile,
    )


def _take(state: State, take: Take) -> None:
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
    if tile not in TILES:
        return _not_a_tile(tile)
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
    """Give up at least three teeth, without change ("Fehlwurf", "Fehltreffer"); ruling: no tile that is not needed."""
    _check_tiles(tiles)
    mine = owned(state, state.seat)
    for tile in tiles:
        if tile not in mine:
            raise Illegal(Reason.TILE_NOT_OWNED, f"tile {tile} is not owned by seat {state.seat}", tile=tile)
    teeth = worth(state, tiles)
    if teeth < TEETH_FOR_A_MISS:
        raise Illegal(
            Reason.TOO_FEW_TEETH,
            f"a miss costs at least {TEETH_FOR_A_MISS} teeth, and tiles {list(tiles)} have {teeth}",
            tiles=tiles,
            teeth=teeth,
        )
    for tile in tiles:
        if teeth - state.ruleset.teeth[tile] >= TEETH_FOR_A_MISS:
            raise Illegal(
                Reason.TILE_NOT_NEEDED,
                f"tiles {list(tiles)} have {TEETH_FOR_A_MISS} teeth also without tile {tile}",
                tile=tile,
                tiles=tiles,
            )
    gone = mask(tiles)
    state.open_tiles[state.seat] &= ~gone
    state.safe_tiles[state.seat] &= ~gone
    _next_turn(state)


def _check_tiles(tiles: tuple[int, ...]) -> None:
    if not tiles:
        raise Invalid(Reason.NOTHING_NAMED, "surrender names no tile")
    if len(tiles) > TEETH_FOR_A_MISS:
        raise Invalid(
            Reason.TOO_MANY_NAMED,
            f"surrender names {len(tiles)} tiles; no more than {TEETH_FOR_A_MISS} are ever needed",
        )
    for tile in tiles:
        if tile not in TILES:
            raise _not_a_tile(tile)
    if len(set(tiles)) < len(tiles):
        raise Invalid(Reason.NAMED_TWICE, "surrender names a tile twice")


# View and result


@dataclass(frozen=True, slots=True)
class Row:
    """What lies in front of one seat."""

    open_tiles: tuple[int, ...]
    safe_tiles: tuple[int, ...]
    teeth: int


@dataclass(frozen=True, slots=True)
class View:
    """The table as everybody sees it; nothing in this game is hidden."""

    seat: int | None
    """Whose turn it is; none before the start and after the end."""
    dice: Faces
    """The dice as they lie; none before the first throw of a turn."""
    throws: int
    """The throws made in this turn."""
    announced: int | None
    """The tile announced for the throw that is awaited or was made last."""
    middle: tuple[int, ...]
    rows: tuple[Row, ...]
    out: tuple[int, ...]
    """The tiles that have left the game."""
    places: tuple[int, ...]


def view(state: State, _perspective: Perspective) -> View:
    """What every pair of eyes sees."""
    rows = tuple(
        Row(listed(state.open_tiles[seat]), listed(state.safe_tiles[seat]), worth(state, owned(state, seat)))
        for seat in range(len(state.open_tiles))
    )
    in_play = state.middle | sum(state.open_tiles) | sum(state.safe_tiles)
    return View(
        seat=None if state.stage in {FIRST_SEAT, FINISHED} else state.seat,
        dice=state.dice,
        throws=state.throws,
        announced=state.announced,
        middle=listed(state.middle),
        rows=rows,
        out=listed(~in_play),
        places=places(state),
    )


def places(state: State) -> tuple[int, ...]:
    """Teeth, open or safe, then the highest tile ("Spielende"); ruling: all places go by that."""
    scores = []
    for seat in range(len(state.open_tiles)):
        tiles = owned(state, seat)
        scores.append((worth(state, tiles), max(tiles, default=0)))
    return shared_places(scores)


GAME: Game[State, Choice, Outcome] = Game(
    name="raffzahn",
    version=1,
    title="Raffzahn",
    seats=SEATS,
    options=OPTIONS,
    combine=any_options,
    components={"yellow": list(YELLOW), "blue": list(BLUE), "teeth": list(TEETH.values())},
    messages="rollbook.v1.raffzahn_pb2",
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
