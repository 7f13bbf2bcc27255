"""Tables of settings: the names, the type, the bounds and the description of each.

A table is a dataclass whose fields are `Annotated[type, About(...)]`. The field defines the whole setting: its
variable, its key in a file, its refusals and its line in `--show-config` are derived.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args, get_origin, get_type_hints
from urllib.parse import unquote

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Scope: TypeAlias = Literal["process", "store"]

AUTO: Final = "auto"
NumberOrAuto: TypeAlias = int | Literal["auto"]
"""A number, or "auto" if the service shall choose it."""

MOST: Final = 1_000_000_000
"""The default upper bound; every part of the service can count this far."""

WITHHELD: Final = "***"
"""Replaces credentials in a URL; a URL that contains it is refused, so it is never used as a password."""

LONGEST_SHOWN: Final = 100
"""Characters shown of a refused value."""

_WORDS: Final = dict.fromkeys(("true", "t", "yes", "y", "on", "1"), True) | dict.fromkeys(
    ("false", "f", "no", "n", "off", "0"), False
)


@dataclass(frozen=True, slots=True)
class About:
    """The description of a setting besides its name, type and default."""

    help: str
    """What the setting does, with its unit."""
    least: float = 1
    most: float = MOST
    scope: Scope = "process"
    """Whether each process has its own count, or all share the one in the store."""
    unset: str = ""
    """Words for the effect of leaving the setting out, if its default is None; empty if the setting has a value."""
    is_secret: bool = False
    """Whether the value may be a URL with credentials."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a table."""

    section: str
    """The setting's section in a file; empty for flags, which are at the top."""
    name: str
    kind: Any
    default: Any
    about: About

    @property
    def key(self) -> str:
        """The key in a file."""
        return f"{self.section}.{self.name}" if self.section else self.name

    @property
    def variable(self) -> str:
        """The name of the environment variable."""
        return f"ROLLBOOK_{self.key.upper().replace('.', '_')}"

    @property
    def flag(self) -> str:
        """The name in refusals of a default value: the flag, or the key of a limit."""
        return self.key if self.section else f"--{self.name.replace('_', '-')}"

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        least, most = _number(self.about.least), _number(self.about.most)
        words: dict[Any, str] = {
            bool: "true or false",
            int: f"a whole number, {least} to {most}",
            float: f"a number, {least} to {most}",
            Path: "a path",
            str: "a text that is not empty",
            tuple[Path, ...]: "a list of paths",
            tuple[str, ...]: "a list of texts",
            NumberOrAuto: f"a whole number, {least} to {most}, or {AUTO}",
        }
        return words.get(self.kind) or f"one of {', '.join(get_args(self.kind))}"

    def of_text(self, text: str) -> Any:
        """Parse a variable's text; raises ValueError with the allowed values."""
        if self.kind is bool:
            return self.of_toml(_WORDS.get(text.strip().lower(), text))
        if self.kind in {int, float} or (self.kind == NumberOrAuto and text.strip() != AUTO):
            try:
                number = int(text) if re.fullmatch(r"\s*[+-]?[0-9]+\s*", text, re.ASCII) else float(text)
            except ValueError:
                raise self._refusal(text) from None
            return self.of_toml(number)
        if get_origin(self.kind) is tuple:
            paths = get_args(self.kind)[0] is Path
            return self.of_toml([each for each in text.split(os.pathsep) if each] if paths else text.split())
        return self.of_toml(text)

    def of_toml(self, given: object) -> Any:
        """Convert a file's value; raises ValueError with the allowed values."""
        try:
            value = _convert(self.kind, given)
        except (ValueError, OverflowError):
            raise self._refusal(given) from None
        self.check(value)
        return value

    def check(self, value: Any) -> None:
        """Raise ValueError with the allowed values for a value of the right type that is out of bounds."""
        is_number = self.kind in {int, float} or (self.kind == NumberOrAuto and value != AUTO)
        if is_number and not self.about.least <= value <= self.about.most:
            raise self._refusal(value)
        for path in [value] if isinstance(value, Path) else value if isinstance(value, tuple) else []:
            try:
                Path(path).expanduser()
            except RuntimeError:
                raise ValueError(f"{str(path)!r} is in the home of nobody here") from None

    def toml(self, value: Any) -> str:
        """The value in TOML, without credentials."""
        if isinstance(value, bool | int | float):
            return json.dumps(value)
        if isinstance(value, tuple):
            return f"[{', '.join(map(self.toml, value))}]"
        if isinstance(value, Path):
            return quote(str(value.expanduser().absolute()))
        return quote(without_credentials(value) if self.about.is_secret else value)

    def _refusal(self, given: object) -> ValueError:
        words = get_args(self.kind) if get_origin(self.kind) is Literal else ()
        meant = close(given, words) if isinstance(given, str) else ""
        return ValueError(self.allowed + ("" if self.about.is_secret else f", not {_show_value(given)}") + meant)


def settings_of(table: Callable[[], DataclassInstance], section: str = "") -> tuple[Setting, ...]:
    """The settings of a table, in its order."""
    defaults = table()
    hints = get_type_hints(type(defaults), include_extras=True)
    found = []
    for field in fields(defaults):
        hint = hints[field.name]
        about = next((each for each in getattr(hint, "__metadata__", ()) if isinstance(each, About)), None)
        if about is None:
            raise TypeError(f"{field.name} has to say what it is: Annotated[..., About(...)]")
        found.append(Setting(section, field.name, _kind(hint), getattr(defaults, field.name), about))
    return tuple(found)


def close(word: str, words: Iterable[str]) -> str:
    """The end of a sentence about an unknown word: a suggestion, or nothing.

    >>> close("fsnyc", ["fsync", "relaxed"])
    '; did you mean fsync?'
    """
    found = get_close_matches(word, list(words), 1)
    return f"; did you mean {found[0]}?" if found else ""


def quote(text: str) -> str:
    """A TOML string, which differs from JSON in one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def without_credentials(url: str) -> str:
    """A URL without credentials, which is refused when it is read back.

    >>> without_credentials("redis+sentinel://anna:hush@host/name?sentinel_password=hush")
    'redis+sentinel://***@host/name?sentinel_password=***'
    """
    place, mark, query = re.sub(r"(?s)(?<=://).*(?=@)", WITHHELD, url).partition("?")
    options = [option.partition("=") for option in query.split("&")]
    kept = [f"{name}{sign}{WITHHELD if 'password' in unquote(name) else value}" for name, sign, value in options]
    return place + mark + "&".join(kept)


def _kind(hint: Any) -> Any:
    """The type of a setting, without None."""
    kinds = [each for each in get_args(hint.__origin__) if each is not NoneType]
    return kinds[0] if NoneType in get_args(hint.__origin__) else hint.__origin__


def _number(number: float) -> str:
    return str(int(number)) if number == int(number) else str(number)


def _show_value(given: object) -> str:
    """A refused value in the terms of TOML rather than Python."""
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, str | int | float):
        return repr(given) if len(repr(given)) <= LONGEST_SHOWN else "one so long"
    return "a table" if isinstance(given, dict) else "such a list" if isinstance(given, list) else "a time"


def _convert(kind: Any, given: object) -> Any:
    """The value in the setting's type; raises ValueError. Integers, floats and booleans are distinct, as in TOML."""
    if get_origin(kind) is tuple and isinstance(given, list):
        return tuple(_convert(get_args(kind)[0], each) for each in given)
    if kind is bool and isinstance(given, bool):
        return given
    if kind in {int, float} and isinstance(given, int if kind is int else int | float) and not isinstance(given, bool):
        return kind(given)
    if kind in {str, Path} and isinstance(given, str) and given and "\0" not in given:
        return kind(given)
    if get_origin(kind) is Literal and given in get_args(kind):
        return given
    if kind == NumberOrAuto:
        return AUTO if given == AUTO else _convert(int, given)
    raise ValueError
