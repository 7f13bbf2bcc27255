"""The `Presentation` of a game: pure functions and texts by which clients draw, narrate and play it.

The functions take values from the rules: views, legal choices, moves, options. They return text with named styles,
which terminals, files and pages render in their own way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, TypeAlias

from rollbook.rules.game import Choices, Game
from rollbook.rules.options import Option, OptionValue, write_value
from rollbook_replays.games.blocks import Block, Room
from rollbook_replays.games.chart import Chart, plain_charts
from rollbook_replays.games.lesson import Lesson
from rollbook_replays.games.picture import Picture
from rollbook_replays.games.seats import Seating
from rollbook_replays.games.thumb import Thumb
from rollbook_replays.games.words import Texts, Words
from rollbook_replays.text import Text


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """One line of a menu: a choice, or a submenu. A line with neither cannot be selected."""

    label: str
    note: str = ""
    """What the choice does, or why it is not available."""
    choice: Any = None
    entries: tuple[MenuEntry, ...] = ()
    brief: str = ""
    """The label for narrow places; empty if `label` is short enough."""
    about: str = ""
    """An explanation of the choice for beginners, shown while the cursor is on the line."""
    spots: tuple[str, ...] = ()
    """The names of the board's spots that the choice affects; a click on one of them leads to this line."""
    says: str = ""
    """A sentence for the board while the choice is considered; empty if there is none."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One of the things that form a choice together."""

    name: int
    """Its number in choices, and the name of its spot on the board."""
    text: Text
    short: Text
    """The text for narrow places."""


@dataclass(frozen=True, slots=True)
class Picking:
    """A menu for too many choices: the player picks pieces, and the menu lists what they can do together."""

    pieces: tuple[Piece, ...]
    entries: Callable[[Iterable[int]], tuple[MenuEntry, ...]]
    """Returns the entries for the picked pieces, including those that are not available, with the reason."""
    offers: tuple[MenuEntry, ...] = ()
    """Choices of several pieces that are ready to be taken while no piece is picked."""
    fitting: frozenset[int] = frozenset()
    """The names of the pieces that go with one of the offers; all pieces if there is none."""


Menu: TypeAlias = tuple[MenuEntry, ...] | Picking


@dataclass(frozen=True, slots=True)
class Spotlight:
    """The marks that a board shows in addition to the view."""

    considered: Any = None
    """The choice under the cursor; the board shows its effect in advance."""
    picked: frozenset[int] = frozenset()
    """The names of the pieces picked for a choice."""
    pieces: tuple[int, ...] = ()
    """The names of the pieces that can be picked, in the order of their letters in the menu."""
    moves: tuple[Any, ...] = ()
    """The last choice and the outcomes since then; the board marks their changes."""
    since: Any = None
    """The view before all these moves; None if a hidden value makes it unknown."""
    before: Any = None
    """The view before the last of these moves; None if a hidden value makes it unknown."""

    @property
    def last(self) -> Any:
        """The last of the moves; None without moves."""
        return self.moves[-1] if self.moves else None


NOTHING_MARKED: Final = Spotlight()


class Drawing(Protocol):
    """A function that draws a view within a room; spans with a style `at:NAME` are clickable spots."""

    def __call__(self, view: Any, seating: Seating, room: Room, spotlight: Spotlight = ..., /) -> Block:
        """Draw the table."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The context of a move."""

    seat: int
    """The seat that chooses; for an outcome of chance, the seat on turn."""
    before: Any = None
    """The views before and after the move; None if a hidden value makes them unknown."""
    after: Any = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """One line of the narration of a match."""

    text: Text
    is_implied: bool = False
    """Whether the next line implies this one, so that a short narration leaves it out."""
    alarm: str = ""
    """The number of the seat for which the line is urgent, such as its bust; `all` for the end of the match."""


@dataclass(frozen=True, slots=True)
class Effect:
    """How a move is shown on a table where something moves and sounds."""

    kind: str = ""
    """`throw`, `step`, `draw`, `take`, `place`, `bust`, `steal`, `snap`, `trap`, `rotten` or `won`; empty for a
    move that changes nothing to look at."""
    seat: int | None = None
    """The seat that did it, or to which it happened."""
    line: str = ""
    """The key of the text over the board; empty if it is the last sentence of the story."""
    log: str = ""
    """The key of the line in the log; empty if it consists of the sentences of the story."""
    facts: Mapping[str, object] = field(default_factory=dict)
    count: tuple[str, int] | None = None
    """The key of a noun and its number, for the fact `count` of the texts."""
    dice: Any = None
    """The dice that ended the turn; None if the view after the move has all that were thrown."""

    def say(self, key: str, seating: Seating) -> str:
        """One of the texts."""
        facts = dict(self.facts)
        if self.seat is not None:
            facts["name"] = seating.name(self.seat)
        if self.count is not None:
            facts["count"] = seating.words.count(*self.count)
        return seating.words(key, **facts)


@dataclass(frozen=True, slots=True)
class Presentation:
    """The presentation of one game to people."""

    board: Drawing
    menu: Callable[[Any, Choices[Any], Seating], Menu]
    """Returns the menu of the own seat for its view and its legal choices."""
    story: Callable[[Any, Moment, Seating], Iterable[Sentence]]
    """Returns the effect of an outcome or a choice in one or more lines; hidden values stay hidden."""
    texts: Texts
    """All texts by language: those of the functions above, those of the options, and `help`, the game in a paragraph.

    The keys of an option are `option.NAME`, `option.NAME.VALUE` for a value that is a word, and `differs.NAME` or
    `differs.NAME.VALUE` for a value that is not the default."""
    palette: Mapping[str, str] = field(default_factory=dict)
    """The look of the game's own styles, such as `bold #ffffff on #000000`."""
    picture: Callable[[Any, Words], Picture] | None = None
    """Draws a view as SVG; None for a game that is shown as text only."""
    touched: Callable[[Any, Any], tuple[str, ...]] = field(default=lambda _view, _choice: ())
    """Returns the ids of the things in the picture that a choice affects.

    An id after a `+` is pressed after all the others."""
    score: Callable[[Any, int, Words], str] = field(default=lambda _view, _seat, _words: "")
    """Returns the score of a seat in a view, in words; empty for a game without scores."""
    guide: Mapping[str, str] = field(default_factory=dict)
    """The rules with examples, by language, in the format of `guide.py`."""
    alike: Callable[[Any], Iterable[tuple[str, ...]]] = field(default=lambda _view: ())
    """Returns groups of ids in the picture; the menu has the choices of only one thing of a group."""
    thumb: Thumb | None = None
    """Draws a view small, for lists; None for a game that is shown as text only."""
    charts: Callable[[Any, Seating], Iterable[Chart]] = plain_charts
    """Returns the board in words: everything in a view, as tables of text; by default its fields by their names."""
    highlight: Callable[[Any, Moment], str] = field(default=lambda _move, _moment: "")
    """Returns the kind of a remarkable move: `bust`, `steal`, `snap`, `won`; empty for all other moves.

    The views of the moment are not None."""
    effect: Callable[[Any, Moment], Effect] = field(default=lambda _move, moment: Effect("", moment.seat))
    """Returns how a move is shown; the views of the moment may be None."""
    lesson: Lesson | None = None
    """A turn step by step and the odds, for the page of the rules; None for a game without."""
    careful: tuple[type, ...] = ()
    """The kinds of choices that a finger has to confirm, such as a pass."""


def group(label: str, note: str, entries: list[MenuEntry]) -> MenuEntry:
    """A submenu with these entries; a single entry is returned as it is."""
    return entries[0] if len(entries) == 1 else MenuEntry(label, note, entries=tuple(entries))


def sentence(
    seat: int, key: str, seating: Seating, *, style: str = "", is_implied: bool = False, **facts: object
) -> Sentence:
    """A sentence about a seat, after the seat's sign; the text may contain `{name}`."""
    said = seating.words(key, name=seating.name(seat), **facts)
    return Sentence(Text.of(seating.mark(seat), " ", (said, style)), is_implied)


def loss(seat: int, key: str, seating: Seating, *, style: str = "", **facts: object) -> Sentence:
    """A sentence about what a turn has cost the seat, for which it is urgent."""
    return replace(sentence(seat, key, seating, style=style, is_implied=False, **facts), alarm=str(seat))


# Options in words; an option without a text is shown by its name


def option_name(option: Option, words: Words) -> str:
    """The label of the option in a form."""
    key = f"option.{option.name}"
    return words(key) if key in words else option.name


def option_value(option: Option, value: OptionValue, words: Words) -> str:
    """The label of an option's value."""
    key = f"option.{option.name}.{value}"
    return words(key) if key in words else write_value(value)


def differing(game: Game[Any, Any, Any], options: Mapping[str, OptionValue], words: Words) -> list[str]:
    """The options that differ from their defaults, in words."""
    said = []
    for option in game.options:
        value = options[option.name]
        if value == option.default:
            continue
        keys = (f"differs.{option.name}.{value}", f"differs.{option.name}")
        known = next((key for key in keys if key in words), None)
        said.append(f"{option.name} {write_value(value)}" if known is None else words(known, value=value))
    return said
