"""Würfelzoo, told and drawn: whose dice show which animals, and what lies in the middle."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from rollbook.rules.chance import FirstSeat
from rollbook.rules.wuerfelzoo import (
    DEAL_ROLL,
    DOUBLE,
    SPECIES,
    TRAP,
    Bear,
    Boar,
    Choice,
    Drawn,
    Fox,
    Outcome,
    Play,
    Reroll,
    Squirrel,
    State,
    View,
)
from rollbook_replays.boards.telling import Names, Telling
from rollbook_replays.text import FAINT, HEADING, Pen, name_width, padded, seat_style, wrapped

ORDER: Final = (*reversed(SPECIES), TRAP, DOUBLE)
NOT_THROWN: Final = "not thrown"
INDENT: Final = 14


def happened(outcome: Outcome, names: Names, _pen: Pen) -> str:
    """Dice by their numbers, what they show in brackets, or who starts."""
    if isinstance(outcome, FirstSeat):
        return f"{names[outcome.seat]} starts"
    if isinstance(outcome, Drawn):
        return f"{names[outcome.seat]} draws {_dice(outcome.dice)}"
    return _faces(zip(outcome.dice, outcome.faces, strict=True))


def chosen(choice: Choice, names: Names, state: State) -> str:  # noqa: PLR0911 - a sentence a choice
    """What is laid, thrown again, or done with an animal."""
    if isinstance(choice, Play):
        return f"plays {_shown(choice.dice, state)}"
    if isinstance(choice, Reroll):
        return f"throws {_shown(choice.dice, state)} again"
    if isinstance(choice, Bear):
        return f"bear: throws {_shown([choice.die], state)} again"
    if isinstance(choice, Boar):
        return f"boar: swaps {_shown([choice.own], state)} for {_shown([choice.other], state)}"
    if isinstance(choice, Fox):
        return f"fox: takes {_shown([choice.die], state)} away"
    if isinstance(choice, Squirrel):
        return f"squirrel: {names[choice.target]} draws"
    return f"worm: gives {_shown([choice.own], state)} to {names[choice.target]}"


def board(view: View, names: Names, pen: Pen) -> Iterator[str]:
    """The middle, then for every seat which of its dice show what, and how many wait in bag and box."""
    yield pen(f"Round {view.round}", HEADING)
    yield from wrapped([_middle(view, names)], INDENT, "in the middle")
    if view.doubles:
        yield from wrapped([_dice(view.doubles)], INDENT, "x2 in play")
    columns = name_width(names)
    for seat, (name, dice) in enumerate(zip(names, view.dice, strict=True)):
        yield ""
        points = "1 point" if view.points[seat] == 1 else f"{view.points[seat]} points"
        yield (
            f"{seat}  {pen(padded(name, columns), seat_style(seat))}"
            f"  place {view.places[seat]}, {points}, {len(dice)} dice"
        )
        showing = defaultdict(list)
        for die in dice:
            showing[die.face or NOT_THROWN].append(die.die)
        for face in (*ORDER, NOT_THROWN):
            if showing[face]:
                yield from wrapped(map(str, showing[face]), INDENT, f"   {face}")
    yield ""
    waiting = f"{len(view.bag)} dice in the bag" + (f", {len(view.box)} in the box" if view.box else "")
    yield pen(waiting, FAINT)


def thrower(state: State) -> int:
    """Who draws throws what was drawn, else whose turn it is."""
    return state.drawer if state.stage == DEAL_ROLL else state.seat


def _middle(view: View, names: Names) -> str:
    if view.species is None:
        return "nothing"
    laid = "" if view.owner is None else f", laid by {names[view.owner]}"
    uses = f", to be used {view.uses} more times" if view.uses > 1 else ", to be used once more" if view.uses else ""
    return f"{len(view.middle)} {view.species} ({_numbers(view.middle)}){laid}{uses}"


def _shown(dice: Iterable[int], state: State) -> str:
    return _faces((die, state.faces[die]) for die in dice)


def _faces(dice: Iterable[tuple[int, str]]) -> str:
    return " ".join(f"{die}[{face}]" for die, face in dice)


def _dice(dice: Iterable[int]) -> str:
    numbers = tuple(dice)
    return f"{'die' if len(numbers) == 1 else 'dice'} {_numbers(numbers)}"


def _numbers(dice: Iterable[int]) -> str:
    return " ".join(map(str, dice))


TELLING: Final = Telling(happened, chosen, board, thrower)
