"""The narration of Raffzahn; the tiles before and after a throw distinguish a hit from a loss."""

from collections.abc import Iterator
from typing import Final

from rollbook.rules.chance import FirstSeat
from rollbook.rules.raffzahn.moves import (
    GREAT_STAR_THROW,
    ROTTEN,
    SMALL_STAR_THROW,
    STAR,
    Choice,
    Faces,
    Outcome,
    Pass,
    Roll,
    Rolled,
    Surrender,
    Take,
)
from rollbook.rules.raffzahn.view import View
from rollbook_replays.games.presentation import Moment, Sentence, loss, sentence
from rollbook_replays.games.raffzahn.menu import dice_said
from rollbook_replays.games.seats import Seating
from rollbook_replays.games.words import Words

_BY_STARS: Final = {SMALL_STAR_THROW: "told.takes.lowest", GREAT_STAR_THROW: "told.takes.highest"}
"""The sentence for a tile that the stars determine, not the sum, by the number of stars."""


def story(move: Choice | Outcome, moment: Moment, seating: Seating) -> Iterator[Sentence]:
    """The throw and its direct effect, or the choice of the seat."""
    seat, words = moment.seat, seating.words
    if isinstance(move, FirstSeat):
        yield sentence(move.seat, "told.first_seat", seating)
    elif isinstance(move, Rolled):
        yield from _tell_throw(move, moment, seating)
    elif isinstance(move, Roll):
        if move.announce is not None:
            yield sentence(seat, "told.announces", seating, tile=move.announce)
        dice = dice_said(move.dice, seating)
        yield sentence(seat, "told.rolls_on", seating, dice=dice)
    elif isinstance(move, Take):
        yield _tell_take(move, moment, seating)
    elif isinstance(move, Pass):
        yield sentence(seat, "told.passes", seating)
    else:
        yield sentence(seat, "told.surrenders", seating, tiles=words.both(move.tiles))


def _tell_throw(move: Rolled, moment: Moment, seating: Seating) -> Iterator[Sentence]:
    seat, before, after = moment.seat, moment.before, moment.after
    signs = {STAR: "★", ROTTEN: seating.words("told.rotten_tooth")}
    faces = [signs.get(face, face) for face in move.dice]
    number = _sum(move.dice)
    if ROTTEN in move.dice:
        yield loss(seat, "told.rotten", seating, dice=seating.words.both(faces))
        return
    dice = " + ".join(faces)
    yield sentence(seat, "told.throws_sum", seating, dice=dice, sum=number)
    if before is None or after is None:
        return
    had, has = before.rows[seat], after.rows[seat]
    if number in had.safe_tiles and number in has.open_tiles:
        yield sentence(seat, "told.own_hit_safe", seating, tile=number)
    elif number in had.open_tiles and number not in has.open_tiles:
        yield loss(seat, "told.own_hit_open", seating, tile=number)
    elif len(had.open_tiles) + len(had.safe_tiles) > len(has.open_tiles) + len(has.safe_tiles):
        tiles = seating.words.both((*had.open_tiles, *had.safe_tiles))
        yield loss(seat, "told.loses_all", seating, tiles=tiles)
    elif after.seat != seat:
        yield loss(seat, "told.misses", seating)


def _tell_take(move: Take, moment: Moment, seating: Seating) -> Sentence:
    how = seating.words("told.face_down") if move.safe else ""
    dice, rows = ((), ()) if moment.before is None else (moment.before.dice, moment.before.rows)
    robbed = next((other for other, row in enumerate(rows) if move.tile in row.open_tiles), None)
    if robbed is not None:
        return sentence(moment.seat, "told.robs", seating, tile=move.tile, how=how, robbed=seating.name(robbed))
    stars = 0 if move.tile == _sum(dice) else dice.count(STAR)
    return sentence(moment.seat, _BY_STARS.get(stars, "told.takes"), seating, tile=move.tile, how=how)


def _sum(dice: Faces) -> int:
    """The sum of the faces; a star counts 0."""
    return sum(int(face) for face in dice if face.isdigit())


def highlight(move: Choice | Outcome, moment: Moment) -> str:
    """A throw or a payment that ends the turn without a tile, or a tile taken from another seat."""
    if isinstance(move, Rolled | Surrender) and moment.after.seat != moment.seat:
        return "bust"
    robbed = isinstance(move, Take) and any(move.tile in row.open_tiles for row in moment.before.rows)
    return "steal" if robbed else ""


def score(view: View, seat: int, words: Words) -> str:
    """The teeth of a seat."""
    return words.count("tooth", view.rows[seat].teeth)
