"""The narration of Würfelzoo; the views give the faces and the owners of the dice in a move."""

from collections.abc import Iterable, Iterator

from rollbook.rules.chance import FirstSeat
from rollbook.rules.wuerfelzoo.moves import (
    NO_FACE,
    PENALTIES,
    Bear,
    Boar,
    Choice,
    Drawn,
    Fox,
    Outcome,
    Play,
    Reroll,
    Rolled,
    Squirrel,
    Worm,
)
from rollbook.rules.wuerfelzoo.view import View
from rollbook_replays.games.presentation import Moment, Sentence, sentence
from rollbook_replays.games.seats import Seating
from rollbook_replays.games.words import Words
from rollbook_replays.games.wuerfelzoo.animals import count_faces, faces_of, name_of


def story(move: Choice | Outcome, moment: Moment, seating: Seating) -> Iterator[Sentence]:
    """The draw or throw of dice, or the choice of a seat."""
    words = seating.words
    if isinstance(move, FirstSeat):
        yield sentence(move.seat, "told.first_seat", seating)
    elif isinstance(move, Drawn):
        drawn = words.count("die", len(move.dice))
        yield sentence(move.seat, "told.draws", seating, dice=drawn, is_implied=True)
    elif isinstance(move, Rolled):
        seat = _thrower(move.dice, moment)
        yield sentence(seat, "told.throws", seating, dice=count_faces(move.faces, words))
    else:
        yield _tell_choice(move, moment, seating)


def _thrower(dice: Iterable[int], moment: Moment) -> int:
    """The seat that throws these dice: the one that drew them, else the seat on turn."""
    if moment.before is not None:
        unthrown = {die.die: seat for seat, row in enumerate(moment.before.dice) for die in row if not die.face}
        for die in dice:
            return unthrown.get(die, moment.seat)
    return moment.seat


def _tell_choice(move: Choice, moment: Moment, seating: Seating) -> Sentence:
    seat, words = moment.seat, seating.words
    faces = {} if moment.before is None else faces_of(moment.before)
    if isinstance(move, Play):
        shown = count_faces((faces.get(die, NO_FACE) for die in move.dice), words)
        return sentence(seat, "told.lays", seating, dice=shown)
    if isinstance(move, Reroll):
        shown = count_faces((faces.get(die, NO_FACE) for die in move.dice), words)
        return sentence(seat, "told.rerolls", seating, dice=shown)
    if isinstance(move, Squirrel):
        return sentence(seat, "told.squirrel", seating, other=seating.name(move.target))
    if isinstance(move, Worm):
        own, other = _name_die(move.own, faces, words), seating.name(move.target)
        return sentence(seat, "told.worm", seating, die=own, other=other)
    if isinstance(move, Boar):
        own, other = _name_die(move.own, faces, words), _name_die(move.other, faces, words)
        return sentence(seat, "told.boar", seating, die=own, other=other)
    return sentence(seat, _KEYS[type(move)], seating, die=_name_die(move.die, faces, words))


_KEYS = {Bear: "told.bear", Fox: "told.fox"}


def _name_die(die: int, faces: dict[int, str], words: Words) -> str:
    return name_of(faces.get(die, NO_FACE), words)


def score(view: View, seat: int, words: Words) -> str:
    """The penalty points of a seat; in an unfinished round including those of the dice in front of it."""
    unfinished = 0 if view.seat is None else sum(PENALTIES[die.face or NO_FACE] for die in view.dice[seat])
    return words.count("penalty", view.points[seat] + unfinished)
