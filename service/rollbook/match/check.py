"""Checks a plain form: folds rules, dice and result again, line by line, from nothing but the text.

The secret is in the last line, which is therefore read first; then every line has to be one that the fold, and the dice
that follow from the secret, allow at its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from rollbook.match.codec.moves import Unreadable, is_hidden, with_hidden
from rollbook.match.codec.notation import LineReader, read_header
from rollbook.match.dice import Dice, commitment, match_key
from rollbook.match.events import Happened, Sealed
from rollbook.match.fold import MatchFold, Misplaced
from rollbook.rules.chance import Draw, Throw
from rollbook.rules.refusals import RefusedByRules

Read = TypeVar("Read")

UNFINISHED: Final = "the match is unfinished: no line seals it with result and secret (--unfinished accepts that)"


class Wrong(Exception):
    """The first error: the number of its line, and the reason."""

    def __init__(self, line: int, reason: str) -> None:
        """`line` and `reason` stay separate, so that a command can put the file's name before them."""
        super().__init__(line, reason)
        self.line = line
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of a check that found no error."""

    match_id: str
    events: int
    finished: bool
    dice_proved: bool
    withheld: int = 0
    """Number of events that could not be folded because an earlier one hides something that is not yet revealed."""


def check(lines: Sequence[str], *, unfinished: bool = False) -> Checked:
    """Check the lines (without their ends); raises Wrong for the first error."""
    if not lines:
        raise Wrong(1, "the file is empty")
    header = _read(1, lambda: read_header(lines[0]))
    reader = LineReader(header)
    match = _read(1, lambda: MatchFold(header.game, header.opened))
    secret = _secret(reader, lines)
    fits = secret is not None and commitment(secret) == header.opened.commitment
    dice = Dice(match_key(secret, header.opened.match_id, header.entropy)) if secret is not None and fits else None
    for number, line in enumerate(lines[1:], start=2):
        if not _take(match, reader, number, line, dice):
            if not unfinished:
                raise Wrong(len(lines), UNFINISHED)
            withheld = len(lines) + 1 - number
            return Checked(header.opened.match_id, match.sequence, finished=False, dice_proved=False, withheld=withheld)
    if match.sealed is None:
        if not unfinished:
            raise Wrong(len(lines), UNFINISHED)
    elif not fits:
        raise Wrong(len(lines), "the secret does not fit the commitment of line 1")
    finished = match.sealed is not None
    return Checked(header.opened.match_id, match.sequence, finished=finished, dice_proved=finished)


def _read(number: int, read: Callable[[], Read]) -> Read:
    try:
        return read()
    except (Unreadable, RefusedByRules) as wrong:
        raise Wrong(number, str(wrong)) from None


def _secret(reader: LineReader, lines: Sequence[str]) -> bytes | None:
    try:
        _, last = reader(lines[-1]) if len(lines) > 1 else (0, None)
    except Unreadable:
        return None
    return last.secret if isinstance(last, Sealed) else None


def _take(match: MatchFold, reader: LineReader, number: int, line: str, dice: Dice | None) -> bool:
    """Take one line into the fold; returns False if the line hides something that is not yet revealed."""
    try:
        sequence, event = reader(line)
        if sequence != match.sequence + 1:
            raise Wrong(number, f"seq is {sequence}, but {match.sequence + 1} is next")
        if isinstance(event, Happened):
            if dice is not None and match.started and not match.must_be_sealed:
                event = _prove(match, event, dice)
            elif is_hidden(event.outcome):
                return False
        match.take(event)
    except (Unreadable, Misplaced, RefusedByRules) as wrong:
        raise Wrong(number, str(wrong)) from None
    return True


def _prove(match: MatchFold, event: Happened[object], dice: Dice) -> Happened[object]:
    awaited = match.awaited
    if not isinstance(awaited, Throw | Draw):
        return event
    drawn = match.game.outcome(match.state, dice.values(match.chance_events + 1, awaited))
    if with_hidden(event.outcome, drawn) != drawn:
        raise Misplaced(f"the secret gives {drawn}, not {event.outcome}")
    return Happened(drawn)
