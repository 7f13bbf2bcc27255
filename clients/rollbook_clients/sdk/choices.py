"""Choices of each game, made and read by the names of the rules.

    from rollbook_clients.sdk.choices import CantStop

    await match.choose(CantStop.advance(2, 8))

There is one of these for every game that `rollbook.v1.games_pb2` lists, called by its name: `dir(CantStop)` lists the
kinds of choices, and `help(CantStop.advance)` says what each takes. `str(choice)` is a choice in words.

>>> str(CantStop.advance(2, 8)), str(CantStop.stop())
('advance 2 8', 'stop')
>>> str(Raffzahn.take(tile=21, safe=True))
'take tile 21, safe true'
>>> CantStop.advance()
Traceback (most recent call last):
...
TypeError: CantStop.advance takes columns
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.protobuf.message import Message

from rollbook.match.codec.wrappers import OTHER, listed
from rollbook.v1.games_pb2 import Choice


class ChoicesOfGame:
    """The choices of one game, a function for each kind."""

    def __init__(self, game: str) -> None:
        """Make choices for the game that `games.proto` calls so."""
        self._game = game
        message: Message = getattr(Choice(), game)
        self._kinds = {kind.name: kind for kind in message.DESCRIPTOR.oneofs_by_name["kind"].fields}

    def __dir__(self) -> list[str]:
        return list(self._kinds)

    def __getattr__(self, kind: str) -> Callable[..., Choice]:
        if kind.startswith("_") or kind not in self._kinds:
            raise AttributeError(f"{_title(self._game)} has no choice {kind!r}; its choices: {', '.join(self._kinds)}")
        described: Any = self._kinds[kind].message_type
        fields = described.fields
        takes = f"{_title(self._game)}.{kind} takes {', '.join(field.name for field in fields) or 'nothing'}"

        def make(*values: Any, **named: Any) -> Choice:
            choice = Choice()
            chosen = getattr(getattr(choice, self._game), kind)
            chosen.SetInParent()
            if values and len(fields) == 1 and fields[0].is_repeated:
                named[fields[0].name] = values
            elif len(values) <= len(fields):
                named |= {field.name: value for field, value in zip(fields, values, strict=False)}
            else:
                raise TypeError(takes)
            needed = {field.name for field in fields if not field.containing_oneof}
            if not needed <= named.keys() <= {field.name for field in fields}:
                raise TypeError(takes)
            for name, value in named.items():
                field = getattr(chosen, name)
                field.extend(value) if _is_list(chosen, name) else setattr(chosen, name, value)
            return choice

        make.__name__, make.__doc__ = kind, f"{takes}."
        return make


def in_words(choice: Choice) -> str:
    """A choice in words: its kind, and what it names.

    >>> in_words(Choice())
    'nothing'
    """
    game = choice.WhichOneof("game")
    if game is None or game == OTHER:
        return "nothing" if game is None else f"a choice of {choice.other.TypeName()}"
    own = getattr(choice, game)
    kind = own.WhichOneof("kind")
    if kind is None:
        return "nothing"
    chosen = getattr(own, kind)
    told = [(field.name, _value(value)) for field, value in chosen.ListFields()]
    is_alone = len(chosen.DESCRIPTOR.fields) == 1
    return " ".join([kind, ", ".join(value if is_alone else f"{name} {value}" for name, value in told)]).strip()


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | str) else " ".join(map(str, value))


def _is_list(message: Message, name: str) -> bool:
    field: Any = message.DESCRIPTOR.fields_by_name[name]
    return bool(field.is_repeated)


def _title(game: str) -> str:
    return game.title().replace("_", "")


_GAMES = {_title(game): ChoicesOfGame(game) for game in listed(Choice) if game != OTHER}
globals().update(_GAMES)


def __getattr__(name: str) -> ChoicesOfGame:
    if name not in _GAMES:
        raise AttributeError(f"there is no {name}; games: {', '.join(_GAMES)}")
    return _GAMES[name]


def __dir__() -> list[str]:
    return [*_GAMES, "in_words"]


# What a choice says of itself: the generated class has no other place for it.
Choice.__str__ = in_words  # type: ignore[method-assign, assignment]
