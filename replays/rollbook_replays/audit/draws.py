"""Everything that chance gave, worked out anew: what was thrown and drawn, and what of it was hidden.

The seal reveals the secret; with what the seats brought it gives every draw of the match, hidden ones too. A match
without a seal is completed by what lies beside its events, as far as the file has that.
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
    """What chance is to give now; nothing if it is not its turn."""
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
        """Know the secret, if the log reveals it."""
        self.withheld = 0
        """How many hidden outcomes of a sealed match the file does not have."""
        self._game = game
        self._replay = replay
        self._private = replay.private
        self._secret = secret
        self._dice: Dice | None = None
        self._values: tuple[Value, ...] = ()
        """What was last drawn."""
        self._compact = compact_of(game)
        self._hides = stubs_of(game).hidden is not None
        self._thrown: dict[int, tuple[tuple[tuple[Value, ...], ...], list[tuple[Value, ...]]]] = {}

    def again(self) -> Draws:
        """The same draws, of which nothing has been counted."""
        return Draws(self._game, self._replay, self._secret)

    @property
    def thrown(self) -> tuple[Thrown, ...]:
        """The dice that were thrown, by kind."""
        # Dice of a kind are mostly one object as well.
        dice_of: dict[int, tuple[Value, ...]] = {}
        shown: dict[int, list[Value]] = defaultdict(list)
        for dice, throws in self._thrown.values():
            for faces, values in zip(dice, zip(*throws), strict=True):  # noqa: B905 - each throw is of all dice
                dice_of[id(faces)] = faces
                shown[id(faces)] += values
        kinds: dict[tuple[Value, ...], Counter[Value]] = {}
        for die, faces in dice_of.items():
            kinds.setdefault(faces, Counter()).update(shown[die])
        return tuple(Thrown(faces, dict(times)) for faces, times in kinds.items())

    def drawn(self, match: MatchFold, awaited: Throw | Draw) -> Any:
        """The outcome that has to come now, with all that it hides; nothing where the secret is not known."""
        if self._secret is None:
            return None
        if self._dice is None:
            entropy = [brought or b"" for brought in match.entropy]
            self._dice = Dice(match_key(self._secret, self._replay.match_id, entropy))
        self._values = values = self._dice.values(match.chance_events + 1, awaited)
        return self._game.outcome(match.state, values)

    @property
    def are_known(self) -> bool:
        """Whether the log reveals the secret that they follow from."""
        return self._secret is not None

    def agrees(self, number: int, drawn: Any) -> bool:
        """Whether what lies beside an event that says what was drawn is as drawn too; then all of it is proved."""
        private = self._private.get(number)
        if private is None:
            return not self._hides or self._compact.private(drawn) == b""
        return bool(private) and private == self._compact.private(drawn)

    def proved(
        self, number: int, match: MatchFold, awaited: Throw | Draw, seen: Happened[Any], drawn: Any
    ) -> Happened[Any] | None:
        """The event with what it hides; nothing where nobody can know that yet."""
        if drawn is None:
            return self._completed(number, match, awaited, seen)
        if seen.outcome == drawn:
            if number in self._private:
                raise Diverged(number, Check.HIDDEN, "nothing beside an event that hides nothing", "something")
        else:
            seen = self._compared(number, seen, Happened(drawn))
        return seen

    def count(self, awaited: Throw | Draw) -> None:
        """The values last drawn were what the log says; count those of dice."""
        if type(awaited) is not Throw:
            return
        dice = awaited.dice
        # The dice are mostly the same tuple again and again, which is faster to recognise than to compare.
        thrown = self._thrown.get(id(dice))
        if thrown is None:
            thrown = self._thrown[id(dice)] = (dice, [])
        thrown[1].append(self._values)

    def _compared(self, number: int, seen: Happened[Any], drawn: Happened[Any]) -> Happened[Any]:
        if with_hidden(seen.outcome, drawn.outcome) != drawn.outcome:
            raise Diverged(number, Check.DRAWS, plain_form(self._game, drawn), plain_form(self._game, seen))
        private = self._private.get(number)
        if private is None and self._replay.perspective is not None:
            self.withheld += 1
        elif private != self._private_bytes(drawn):
            found = "nothing beside the event" if private is None else self._plain_private(seen, private)
            raise Diverged(number, Check.HIDDEN, plain_form(self._game, drawn), found)
        return drawn

    def _completed(
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
        """What is seen of the event is of the kind, and of as many, as the rules await, whatever it hides."""
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
        """The event with that beside it; nothing if that cannot be."""
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
