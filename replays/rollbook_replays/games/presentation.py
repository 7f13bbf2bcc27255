"""What a game has to say about itself, so that it can be drawn, told and played: one value, of pure functions.

The functions get what the rules give out: views, legal choices, moves, options. What they give is text with named
styles, so that a terminal, a file and a page can each draw it in its own way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias

from rollbook.rules.game import Choices, Game
from rollbook.rules.options import Option, OptionValue, written
from rollbook_replays.games.blocks import Block, Room
from rollbook_replays.games.picture import Picture
from rollbook_replays.games.seats import Seating
from rollbook_replays.games.words import Texts, Words
from rollbook_replays.text import Text


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """One line of a menu: a choice, or further entries behind it; with neither it can be read but not chosen."""

    label: str
    note: str = ""
    """What it does, or why it cannot be chosen."""
    choice: Any = None
    entries: tuple[MenuEntry, ...] = ()
    about: str = ""
    """What choosing it means, for whoever does not know it by heart; shown while the cursor is on it."""
    spots: tuple[str, ...] = ()
    """Where on the board it would do something, as the board calls its spots; a click there leads to it."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One of the things that a choice is put together from."""

    name: int
    """What choices call it, and the board the spot where it lies."""
    text: Text
    short: Text
    """The same, where there is little room."""


@dataclass(frozen=True, slots=True)
class Picking:
    """Choices too many for a menu: pieces are picked, and it is said at every moment what can be done with them."""

    pieces: tuple[Piece, ...]
    entries: Callable[[Iterable[int]], tuple[MenuEntry, ...]]
    """What can be done with the pieces of these names, and what cannot and why."""


Menu: TypeAlias = tuple[MenuEntry, ...] | Picking


@dataclass(frozen=True, slots=True)
class Spotlight:
    """What a board marks beside what lies there."""

    considered: Any = None
    """The choice that the cursor is on: what it would do is shown before it is made."""
    picked: frozenset[int] = frozenset()
    """The names of the pieces that are picked for a choice."""
    pieces: tuple[int, ...] = ()
    """The names of the pieces that can be picked, in the order of their letters in the menu."""
    moves: tuple[Any, ...] = ()
    """The last choice and the outcomes since, that led to this view: what they changed is marked."""
    since: Any = None
    """The view before all of them; None where something hidden keeps it from being known."""
    before: Any = None
    """The view before the last of them; None likewise."""

    @property
    def last(self) -> Any:
        """The last of the moves; None if there is none."""
        return self.moves[-1] if self.moves else None


NOTHING_MARKED: Final = Spotlight()


class Drawing(Protocol):
    """The table as a view has it, within a room; spans with a style `at:NAME` are its spots, which can be clicked."""

    def __call__(self, view: Any, seating: Seating, room: Room, spotlight: Spotlight = ..., /) -> Block:
        """Draw it."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When a move is made."""

    seat: int
    """Whose choice it is; for what chance gives, whose turn."""
    before: Any = None
    """The view before the move and the view after it; None where something hidden keeps them from being known."""
    after: Any = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """One line of the account of a match."""

    text: Text
    is_implied: bool = False
    """The next line says it as well, so that a short account leaves it out."""


@dataclass(frozen=True, slots=True)
class Presentation:
    """How one game is shown to people."""

    board: Drawing
    menu: Callable[[Any, Choices[Any], Seating], Menu]
    """What the seat that looks may choose: its view, and what is legal."""
    story: Callable[[Any, Moment, Seating], Iterable[Sentence]]
    """What an outcome or a choice did, in a line or more; what is hidden in it stays so."""
    texts: Texts
    """All words, by language: those of the functions above, of each option (`option.NAME`, of a value that is a word
    `option.NAME.VALUE`, of one that differs from the default `differs.NAME` or `differs.NAME.VALUE`), and `help`,
    which is the game in one paragraph."""
    palette: Mapping[str, str] = field(default_factory=dict)
    """What the styles look like that are the game's own, as `bold #ffffff on #000000`."""
    picture: Callable[[Any, Words], Picture] | None = None
    """The table as a view has it, drawn; none of a game that is shown in letters alone."""
    touched: Callable[[Any, Any], tuple[str, ...]] = field(default=lambda _view, _choice: ())
    """The ids of the things in that picture that a choice is about."""
    score: Callable[[Any, int, Words], str] = field(default=lambda _view, _seat, _words: "")
    """What a seat has in a view, in words: the number that decides its place; empty of a game that has none."""
    guide: Mapping[str, str] = field(default_factory=dict)
    """The rules with examples, by language, as `guide.py` reads them."""


def grouped(label: str, note: str, entries: list[MenuEntry]) -> MenuEntry:
    """An entry for all of these; for a single one that entry itself."""
    return entries[0] if len(entries) == 1 else MenuEntry(label, note, entries=tuple(entries))


def sentence(
    seat: int, key: str, seating: Seating, *, style: str = "", is_implied: bool = False, **facts: object
) -> Sentence:
    """What a seat does, with its sign in front; the text may use its name."""
    said = seating.words(key, name=seating.name(seat), **facts)
    return Sentence(Text.of(seating.mark(seat), " ", (said, style)), is_implied)


# Options in words; those that nobody has given words to are called by their names


def option_name(option: Option, words: Words) -> str:
    """What the option is called where somebody chooses its value."""
    key = f"option.{option.name}"
    return words(key) if key in words else option.name


def option_value(option: Option, value: OptionValue, words: Words) -> str:
    """A value that is a word or a number, in words."""
    key = f"option.{option.name}.{value}"
    return words(key) if key in words else written(value)


def differing(game: Game[Any, Any, Any], options: Mapping[str, OptionValue], words: Words) -> list[str]:
    """The options that are not as usual, in words."""
    said = []
    for option in game.options:
        value = options[option.name]
        if value == option.default:
            continue
        keys = (f"differs.{option.name}.{value}", f"differs.{option.name}")
        known = next((key for key in keys if key in words), None)
        said.append(f"{option.name} {written(value)}" if known is None else words(known, value=value))
    return said
