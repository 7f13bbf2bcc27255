"""Choices of each game, made and read by the names of the rules.

    from rollbook_clients.sdk.choices import CantStop

    await match.choose(CantStop.advance(2, 8))

There is one such object for every game that `rollbook.v1.games_pb2` lists or that is installed, named after the game:
`dir(CantStop)` lists the kinds of choices, and `help(CantStop.advance)` the fields of one kind. `str(choice)` formats a
choice as words, and `match.choose` accepts these words as well.

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

from collections.abc import Callable, Mapping
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from rollbook.match.codec.words import numbers_of, words_of
from rollbook.match.codec.wrappers import OTHER, content, list_games, unwrap, wrap
from rollbook.v1.games_pb2 import Choice
from rollbook_clients.sdk.games import list_known, message_of


class ChoicesOfGame:
    """The choices of one game, a function for each kind."""

    def __init__(self, game: str, message: type[Message]) -> None:
        """Make choices of this game; `message` is its choice message, such as CantStopChoice."""
        self._game = game
        self._message = message
        self._kinds = {kind.name: kind for kind in message.DESCRIPTOR.oneofs_by_name["kind"].fields}

    def __dir__(self) -> list[str]:
        return list(self._kinds)

    def fields_of(self, kind: str) -> Mapping[str, Any]:
        """Return the descriptors of the fields that a choice of this kind has, by name."""
        described: Any = self._kinds[kind].message_type
        return {field.name: field for field in described.fields}

    def __getattr__(self, kind: str) -> Callable[..., Choice]:
        if kind.startswith("_") or kind not in self._kinds:
            raise AttributeError(f"{_title(self._game)} has no choice {kind!r}; its choices: {', '.join(self._kinds)}")
        fields = self.fields_of(kind)
        takes = f"{_title(self._game)}.{kind} takes {', '.join(fields) or 'nothing'}"

        def make(*values: Any, **named: Any) -> Choice:
            own = self._message()
            chosen = getattr(own, kind)
            chosen.SetInParent()
            if values and len(fields) == 1 and next(iter(fields.values())).is_repeated:
                values = (values,)
            if len(values) > len(fields):
                raise TypeError(takes)
            named |= dict(zip(fields, values, strict=False))
            needed = {name for name, field in fields.items() if not field.containing_oneof}
            if not needed <= named.keys() <= fields.keys():
                raise TypeError(takes)
            for name, value in named.items():
                field = getattr(chosen, name)
                field.extend(value) if fields[name].is_repeated else setattr(chosen, name, value)
            return wrap(Choice(), own)

        make.__name__, make.__doc__ = kind, f"{takes}."
        return make


def choices_of(game: str) -> ChoicesOfGame | None:
    """Return the choices of the game with this name, such as "cant_stop"; None if the game is unknown."""
    message = message_of(Choice, game)
    return None if message is None else ChoicesOfGame(game, message)


# Choices in words


def in_words(choice: Choice) -> str:
    """Format a choice as words: its kind and its fields; "nothing" for an empty message.

    >>> in_words(Choice())
    'nothing'
    """
    held = content(choice)
    own = None if held is None else _own(choice)
    if own is None:
        return "nothing" if held is None else f"a choice of {held}"
    kind = own.WhichOneof("kind")
    if kind is None:
        return "nothing"
    chosen = getattr(own, kind)
    named = [(field.name, _write(field, value)) for field, value in chosen.ListFields()]
    is_alone = len(chosen.DESCRIPTOR.fields) == 1
    return " ".join([kind, ", ".join(value if is_alone else f"{name} {value}" for name, value in named)]).strip()


def from_words(game: str, words: str) -> Choice:
    """Parse the words that `in_words` returns; raises ValueError if the game has no such choice.

    >>> from_words("raffzahn", "take tile 21, safe true") == Raffzahn.take(21, safe=True)
    True
    """
    kind, _, rest = words.strip().partition(" ")
    choices = choices_of(game)
    if choices is None or kind not in dir(choices):
        kinds = "nothing that is known here" if choices is None else ", ".join(dir(choices))
        raise ValueError(f"{words!r} is no choice of {game}, which has {kinds}")
    fields = choices.fields_of(kind)
    if len(fields) == 1:
        rest = rest and f"{next(iter(fields))} {rest}"
    named = [part.partition(" ") for part in rest.split(", ") if part]
    try:
        made: Choice = getattr(choices, kind)(**{name: _read(fields[name], value) for name, _, value in named})
    except (LookupError, TypeError, ValueError):
        takes = ", ".join(fields) or "nothing"
        raise ValueError(f"{words!r} is no choice of {game}: {kind} takes {takes}") from None
    return made


def _own(choice: Choice) -> Any:
    """Return the game's own message; None if the game is neither listed nor installed."""
    name = choice.WhichOneof("game")
    if name is not None and name != OTHER:
        return getattr(choice, name)
    from rollbook.match.codec.stubs import game_in, stubs_of  # noqa: PLC0415 - most clients need no rules

    game = game_in(choice)
    return None if game is None else unwrap(choice, stubs_of(game).choice)


def _write(field: Any, value: Any) -> str:
    if field.is_repeated:
        return " ".join(_write_one(field, item) for item in value)
    return _write_one(field, value)


def _write_one(field: Any, value: Any) -> str:
    if field.enum_type is not None:
        return words_of(field.enum_type).get(value, str(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read(field: Any, words: str) -> Any:
    return [_read_one(field, item) for item in words.split()] if field.is_repeated else _read_one(field, words)


def _read_one(field: Any, word: str) -> Any:
    if field.enum_type is not None:
        return numbers_of(field.enum_type)[word]
    if field.type == FieldDescriptor.TYPE_BOOL:
        return {"true": True, "false": False}[word]
    return word if field.type == FieldDescriptor.TYPE_STRING else int(word)


# The choices of all games, by name


def _title(game: str) -> str:
    return game.title().replace("_", "")


_GAMES = {_title(game): choices_of(game) for game in list_games(Choice)}
globals().update(_GAMES)


def __getattr__(name: str) -> ChoicesOfGame:
    # The import system asks for names such as __path__; a search in installed games would load their rules.
    games = {} if name.startswith("_") else {_title(game): game for game in list_known()}
    found = choices_of(games[name]) if name in games else None
    if found is None:
        raise AttributeError(f"there is no {name}; games: {', '.join(games)}")
    return found


def __dir__() -> list[str]:
    return [*map(_title, list_known()), "from_words", "in_words"]


# The generated class cannot be subclassed, so `str` and `repr` are replaced on it.
Choice.__str__ = Choice.__repr__ = in_words  # type: ignore[method-assign, assignment]
