"""The legal choices of a seat, as sent by the service: to iterate, count and test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from google.protobuf.message import Message

from rollbook.match.codec.wrappers import OTHER, list_games, wrap
from rollbook.v1.games_pb2 import Choice, LegalChoices
from rollbook_clients.sdk.choices import in_words

if TYPE_CHECKING:
    from rollbook.rules.catalogue import AnyGame
    from rollbook.rules.game import Choices

MOST_SHOWN: Final = 20
"""Most legal choices that `repr` lists."""


@dataclass(frozen=True, slots=True, repr=False)
class Legal:
    """All legal choices of a seat at a position; iteration yields each once, in the form that `match.choose` accepts.

    If there are too many to list, such as a turn of Würfelzoo, `message` describes them, and the rules of the game
    generate them on demand. For a game that is not installed here, described choices are empty.

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
        sent = self._list_choices()
        if sent is not None:
            return len(sent)
        read = self._read()
        return 0 if read is None else len(read[1])

    def __iter__(self) -> Iterator[Choice]:
        """Yield each choice once, always in the same order."""
        sent = self._list_choices()
        if sent is not None:
            yield from map(choice_of, sent)
        elif (read := self._read()) is not None:
            from rollbook.match.codec.messages import write_choice  # noqa: PLC0415 - rules only where they are needed

            game, choices = read
            yield from (write_choice(game, choice) for choice in choices)

    def _list_choices(self) -> Any:
        """The choices as sent, for a game that has its own field; None if the choices are only described."""
        name = self.message.WhichOneof("game")
        if name not in list_games(LegalChoices):
            return None
        own = getattr(self.message, name)
        return own.choices or None

    def _read(self) -> tuple[AnyGame, Choices[Any]] | None:
        """The game and its choices; None if the game is not installed here."""
        from rollbook.match.codec.stubs import game_in  # noqa: PLC0415 - rules only where they are needed
        from rollbook.match.codec.views import read_legal  # noqa: PLC0415 - rules only where they are needed

        game = game_in(self.message)
        return None if game is None else (game, read_legal(game, self.message))


def choice_of(choice: Message) -> Choice:
    """Wrap a game's own choice message in a Choice; raises TypeError for other messages.

    >>> from rollbook.v1.cant_stop_pb2 import CantStopChoice
    >>> choice_of(CantStopChoice(roll={})).WhichOneof("game")
    'cant_stop'
    """
    if isinstance(choice, Choice):
        return choice
    if not choice.DESCRIPTOR.name.endswith(Choice.DESCRIPTOR.name):
        raise TypeError(f"{type(choice).__name__} is no choice of any game")
    return wrap(Choice(), choice)
