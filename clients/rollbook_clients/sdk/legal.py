"""What a seat may choose, as the service says: to be listed, counted, or asked about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from google.protobuf.message import Message

from rollbook.match.codec.wrappers import OTHER, listed, wrap
from rollbook.v1.games_pb2 import Choice, LegalChoices
from rollbook_clients.sdk.choices import in_words

if TYPE_CHECKING:
    from rollbook.rules.catalogue import AnyGame
    from rollbook.rules.game import Choices

MOST_SHOWN: Final = 20
"""How many legal choices `repr` lists."""


@dataclass(frozen=True, slots=True, repr=False)
class Legal:
    """All legal choices of a seat at a position; iterating gives each once, as `match.choose` takes it.

    Where there are too many to list, such as a turn of Würfelzoo, they are described in `message`, and made by the
    rules of the game as they are asked for. Choices of a game that is not installed here are none.

    >>> Legal(LegalChoices(cant_stop={"choices": [{"roll": {}}, {"stop": {}}]}))
    Legal(roll, stop)

    >>> legal = Legal(LegalChoices(cant_stop={"choices": [{"roll": {}}, {"stop": {}}]}))
    >>> len(legal), [choice.cant_stop.WhichOneof("kind") for choice in legal]
    (2, ['roll', 'stop'])
    """

    message: LegalChoices

    def __repr__(self) -> str:
        few = [*map(in_words, islice(self, MOST_SHOWN))]
        more = len(self) - len(few)
        return f"Legal({', '.join([*few, f'and {more} more'] if more else few)})"

    @property
    def game(self) -> str | None:
        """The name of the game; None if it is neither listed nor installed here."""
        name = self.message.WhichOneof("game")
        if name is not None and name != OTHER:
            return name
        from rollbook.match.codec.stubs import game_in  # noqa: PLC0415 - most clients need no rules

        game = game_in(self.message)
        return None if game is None else game.name

    def __len__(self) -> int:
        sent = self._listed()
        if sent is not None:
            return len(sent)
        read = self._read()
        return 0 if read is None else len(read[1])

    def __iter__(self) -> Iterator[Choice]:
        """Each choice once, always in the same order."""
        sent = self._listed()
        if sent is not None:
            yield from map(choice_of, sent)
        elif (read := self._read()) is not None:
            from rollbook.match.codec.messages import write_choice  # noqa: PLC0415 - rules only where they are needed

            game, choices = read
            yield from (write_choice(game, choice) for choice in choices)

    def _listed(self) -> Any:
        """The choices as they were sent, of a game that has a field of its own; none if they are described."""
        name = self.message.WhichOneof("game")
        if name not in listed(LegalChoices):
            return None
        own = getattr(self.message, name)
        return own.choices or None

    def _read(self) -> tuple[AnyGame, Choices[Any]] | None:
        """The game, if it is installed here, and its choices."""
        from rollbook.match.codec.stubs import game_in  # noqa: PLC0415 - rules only where they are needed
        from rollbook.match.codec.views import read_legal  # noqa: PLC0415 - rules only where they are needed

        game = game_in(self.message)
        return None if game is None else (game, read_legal(game, self.message))


def choice_of(choice: Message) -> Choice:
    """A choice of whatever game, from one of a game.

    >>> from rollbook.v1.cant_stop_pb2 import CantStopChoice
    >>> choice_of(CantStopChoice(roll={})).WhichOneof("game")
    'cant_stop'
    """
    if isinstance(choice, Choice):
        return choice
    if not choice.DESCRIPTOR.name.endswith(Choice.DESCRIPTOR.name):
        raise TypeError(f"{type(choice).__name__} is no choice of any game")
    return wrap(Choice(), choice)
