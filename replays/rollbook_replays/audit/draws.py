"""Recomputes every outcome of chance in a match, including its hidden values.

The secret that the seal reveals and the entropy of the seats determine every draw. Without a seal, the audit uses the
hidden parts that the file holds beside the events.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any, Final

from rollbook.match.codec.compact import compact_of
from rollbook.match.codec.envelope import read_bytes, write_bytes, write_private
from rollbook.match.codec.moves import Unreadable, is_hidden, with_hidden
from rollbook.match.codec.stubs import stubs_of
from rollbook.match.dice import Dice, match_key
from rollbook.match.events import Happened
from rollbook.match.fold import MatchFold
from rollbook.replay_file.container import Replay
from rollbook.rules.chance import Draw, Throw, Value
from rollbook.rules.refusals import RefusedByRules
from rollbook_replays.audit.divergence import Diverged
from rollbook_replays.audit.events import AnyGame, plain_form
from rollbook_replays.audit.verdicts import Check, Thrown


def chance_awaited(match: MatchFold) -> Throw | Draw | None:
    """The throw or draw that the match awaits now; None if it awaits something else."""
    if match.must_be_sealed or not match.started or match.sealed is not None:
        return None
    if match.turn_timed_out and match.must_forfeit is not None:
        return None
    awaited = match.awaited
    return awaited if isinstance(awaited, _CHANCE) else None


_CHANCE: Final = (Throw, Draw)


class Draws:
    """The draws of one match."""

    def __init__(self, game: AnyGame, replay: Replay, secret: bytes | None) -> None:
        """`secret` is None if the log does not reveal it."""
        self.withheld = 0
        """Number of hidden outcomes of a sealed match that the file leaves out."""
        self._game = game
        self._replay = replay
        self._private = replay.private
        self._secret = secret
        self._dice: Dice | None = None
        self._values: tuple[Value, ...] = ()
        """The values of the last draw."""
        self._compact = compact_of(game)
        self._hides = stubs_of(game).hidden is not None
        self._thrown: dict[int, tuple[tuple[tuple[Value, ...], ...], list[tuple[Value, ...]]]] = {}

    def again(self) -> Draws:
        """A fresh copy with all counts at zero."""
        return Draws(self._game, self._replay, self._secret)

    @property
    def thrown(self) -> tuple[Thrown, ...]:
        """The dice thrown so far, by kind."""
        # Dice of one kind are mostly the same object, so most are grouped by id; the rest by value below.
        dice_of: dict[int, tuple[Value, ...]] = {}
        shown: dict[int, list[Value]] = defaultdict(list)
        for dice, throws in self._thrown.values():
            for faces, values in zip(dice, zip(*throws), strict=True):  # noqa: B905 - each throw has all dice
                dice_of[id(faces)] = faces
                shown[id(faces)] += values
        kinds: dict[tuple[Value, ...], Counter[Value]] = {}
        for die, faces in dice_of.items():
            kinds.setdefault(faces, Counter()).update(shown[die])
        return tuple(Thrown(faces, dict(times)) for faces, times in kinds.items())

    def draw(self, match: MatchFold, awaited: Throw | Draw) -> Any:
        """The outcome that must come next, with its hidden values; None if the secret is unknown."""
        if self._secret is None:
            return None
        if self._dice is None:
            entropy = [brought or b"" for brought in match.entropy]
            self._dice = Dice(match_key(self._secret, self._replay.match_id, entropy))
        self._values = values = self._dice.values(match.chance_events + 1, awaited)
        return self._game.outcome(match.state, values)

    @property
    def are_known(self) -> bool:
        """Whether the log reveals the secret, from which the draws follow."""
        return self._secret is not None

    def agrees(self, number: int, drawn: Any) -> bool:
        """Whether the hidden part beside the event is that of the drawn outcome; the caller compared the visible part.

        False can also mean that a slower check has to decide.
        """
        private = self._private.get(number)
        if private is None:
            return not self._hides or self._compact.private(drawn) == b""
        return bool(private) and private == self._compact.private(drawn)

    def prove(
        self, number: int, match: MatchFold, awaited: Throw | Draw, seen: Happened[Any], drawn: Any
    ) -> Happened[Any] | None:
        """The event with its hidden values, or None if they are unknown; raises `Diverged` for a wrong outcome."""
        if drawn is None:
            return self._complete(number, match, awaited, seen)
        if seen.outcome == drawn:
            if number in self._private:
                raise Diverged(number, Check.HIDDEN, "nothing beside an event that hides nothing", "something")
        else:
            seen = self._compare(number, seen, Happened(drawn))
        return seen

    def count(self, awaited: Throw | Draw) -> None:
        """Count the last drawn values if they are dice; the caller found that the log has the same values."""
        if type(awaited) is not Throw:
            return
        dice = awaited.dice
        # Most throws use the same tuple of dice; its id is faster to look up than its value.
        thrown = self._thrown.get(id(dice))
        if thrown is None:
            thrown = self._thrown[id(dice)] = (dice, [])
        thrown[1].append(self._values)

    def _compare(self, number: int, seen: Happened[Any], drawn: Happened[Any]) -> Happened[Any]:
        if with_hidden(seen.outcome, drawn.outcome) != drawn.outcome:
            raise Diverged(number, Check.DRAWS, plain_form(self._game, drawn), plain_form(self._game, seen))
        private = self._private.get(number)
        if private is None and self._replay.perspective is not None:
            self.withheld += 1
        elif private != self._private_bytes(drawn):
            found = "nothing beside the event" if private is None else self._plain_private(seen, private)
            raise Diverged(number, Check.HIDDEN, plain_form(self._game, drawn), found)
        return drawn

    def _complete(
        self, number: int, match: MatchFold, awaited: Throw | Draw, seen: Happened[Any]
    ) -> Happened[Any] | None:
        private = self._private.get(number)
        if private is None:
            if not is_hidden(seen.outcome):
                return seen
            self._check_possible(number, match, awaited, seen)
            return None
        completed = self._with(seen, private)
        if completed is None or completed == seen or self._private_bytes(completed) != private:
            self._check_possible(number, match, awaited, seen)
            raise Diverged(number, Check.HIDDEN, plain_form(self._game, seen), self._plain_private(seen, private))
        return completed

    def _check_possible(self, number: int, match: MatchFold, awaited: Throw | Draw, seen: Happened[Any]) -> None:
        """Raise `Diverged` if the visible part of the event has another kind or number than the rules await."""
        values = [faces[0] for faces in awaited.dice] if isinstance(awaited, Throw) else awaited.items[: awaited.count]
        some = Happened(self._game.outcome(match.state, tuple(values)))
        outcome = with_hidden(seen.outcome, some.outcome)
        try:
            if not is_hidden(outcome):
                match.copy().take(Happened(outcome))
                return
        except RefusedByRules:
            pass
        raise Diverged(number, Check.DRAWS, f"what the rules await: {awaited.name}", plain_form(self._game, seen))

    def _with(self, seen: Happened[Any], private: bytes) -> Happened[Any] | None:
        """The event completed by the hidden part beside it; None if the hidden part does not fit."""
        data = write_bytes(self._game, seen, sequence=1, time_ms=0, previous=b"").data
        try:
            event = read_bytes(data, private, self._game).event
        except Unreadable:
            return None
        return event if isinstance(event, Happened) and not is_hidden(event.outcome) else None

    def _private_bytes(self, drawn: Happened[Any]) -> bytes:
        return write_private(self._game, drawn.outcome)

    def _plain_private(self, seen: Happened[Any], private: bytes) -> str:
        completed = self._with(seen, private)
        return private.hex() if completed is None else plain_form(self._game, completed)
