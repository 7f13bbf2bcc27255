"""The contract of every game: the same few pure functions of a state.

A game awaits chance, a seat's choice, or nothing more: `awaited` returns which, and `play` takes the outcome or the
choice. `play` changes its argument, for folds that own their state; `apply` leaves its argument unchanged. Both check
everything before they change anything, so a refused move changes nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

from rollbook.rules import options as option_table
from rollbook.rules.chance import Draw, Throw, Value
from rollbook.rules.options import Option, Options, OptionValue
from rollbook.rules.refusals import Illegal, Invalid, Reason

State = TypeVar("State")
Choice = TypeVar("Choice")
Choice_co = TypeVar("Choice_co", covariant=True)
Outcome = TypeVar("Outcome")

Uniform: TypeAlias = Callable[[int], int]
"""`uniform(k)` returns one of 0 … k-1 with equal probability."""

Components: TypeAlias = Mapping[str, object]
"""The material of a game as JSON, as in the header of a log."""


@dataclass(frozen=True, slots=True)
class ToChoose:
    """Awaited: a choice of this seat."""

    seat: int


@dataclass(frozen=True, slots=True)
class Over:
    """Awaited: nothing more."""


OVER = Over()
Awaited: TypeAlias = Throw | Draw | ToChoose | Over


class Watcher(Enum):
    """Perspectives that belong to no seat."""

    PUBLIC = "public"
    JUDGE = "judge"


Perspective: TypeAlias = Watcher | int
"""The viewer of a match: the public, a judge, or the number of a seat."""


class Choices(Protocol[Choice_co]):
    """The legal choices of a state, sorted: to list, to test against, to pick from."""

    def __iter__(self) -> Iterator[Choice_co]:
        """Every legal choice once, in a fixed order."""

    def __contains__(self, choice: object, /) -> bool:
        """Whether the choice is legal."""

    def __len__(self) -> int:
        """The number of choices, computed without iterating."""

    def sample(self, uniform: Uniform) -> Choice_co:
        """A random legal choice; every one is possible."""


class Listed(tuple[Choice, ...]):
    """Legal choices that are few enough to be listed."""

    __slots__ = ()

    def sample(self, uniform: Uniform) -> Choice:
        """All choices are equally likely."""
        return self[uniform(len(self))]


@dataclass(frozen=True, slots=True)
class NumberWords:
    """Marks a type of numbers of which some are written as words: `Annotated[int, NumberWords({71: "reverse"})]`."""

    of: Mapping[int, str]


AROUND_A_CHOICE: Final = frozenset({"seq", "seat", "choice", "by"})
AROUND_AN_OUTCOME: Final = frozenset({"seq", "chance", "count"})
"""Names in lines of the plain form that are no fields of a choice or an outcome."""

NONE_LEGAL: Listed[object] = Listed()


@dataclass(frozen=True, slots=True, eq=False)
class Game(Generic[State, Choice, Outcome]):
    """A game at one version of its rules, as data and pure functions; two of them are never equal.

    Shared code writes and reads a game's values by the names and types of their fields, here and in the protobuf
    messages of the game: `CantStopChoice` for the game `cant_stop`, and likewise Options, Outcome, View, LegalChoices
    and, if the game hides something, Hidden.

    - No field of a choice may have a name in `AROUND_A_CHOICE`, and no field of an outcome one in `AROUND_AN_OUTCOME`.
    - A field of words (`str`) is an enum in the message; `star` is GAME_FACE_STAR.
    - A number that is written as a word has a type that is marked with `NumberWords`.
    - An outcome hides at most one field, as None or a tuple of Nones; the Hidden message has one field for its values.
      In the Outcome message `count` is the number of items of a hidden tuple.
    - A tuple in a view that may be hidden, as None, has its number in the field beside it: `hand` with `hand_size`.
    - A game that hides nothing uses `everything_is_open` as `seen`, and its `view` is the same for every viewer.
    """

    name: str
    version: int
    title: str
    seats: range
    options: tuple[Option, ...]
    combine: Callable[[Options, int], None]
    """Raises a refusal for options that do not fit each other or the number of seats."""
    components: Components
    messages: str
    """The name of the module with the game's protobuf messages, so that rules load none of it."""
    choices: Mapping[str, type[Choice]]
    """The kinds of choice by their names in the plain form."""
    outcomes: Mapping[str, type[Outcome]]
    """The kinds of chance outcome by their names in the plain form."""

    begin: Callable[[Options, int], State]
    copy: Callable[[State], State]
    awaited: Callable[[State], Awaited]
    """The function for the next awaited step; a draw names its items in the order in which chance numbers them."""
    outcome: Callable[[State, tuple[Value, ...]], Outcome]
    """The game's own outcome for these values, thrown or drawn as awaited."""
    legal: Callable[[State], Choices[Choice]]
    play: Callable[[State, Choice | Outcome], None]
    caretaker: Callable[[State], Choice]
    """The choice for a seat that does not choose."""
    view: Callable[[State, Perspective], object]
    seen: Callable[[State, Outcome, Perspective], Outcome]
    """An outcome, not yet played in this state, as this perspective sees it."""
    places: Callable[[State], tuple[int, ...]]
    """The place of every seat: the result when the match is over, the standing before."""
    described: type[Choices[Choice]] | None = None
    """The dataclass with which `legal` describes choices that are too many to list."""

    def settle(self, given: Mapping[str, OptionValue], seats: int) -> Options:
        """All options with their values; raises a refusal that names the allowed ones."""
        if type(seats) is not int or seats not in self.seats:
            allowed = f"{self.seats[0]} to {self.seats[-1]}"
            raise Invalid(
                Reason.SEATS_OUT_OF_RANGE,
                f"{self.name} cannot be played by {option_table.shorten_value(seats)} seats",
                learn=f"seats: {allowed}",
                allowed=allowed,
            )
        return option_table.complete(self.options, given, seats, self.combine)

    def start(self, given: Mapping[str, OptionValue], seats: int) -> State:
        """The state at the beginning of a match."""
        return self.begin(self.settle(given, seats), seats)

    def apply(self, state: State, move: Choice | Outcome) -> State:
        """The state after the move; the argument is not changed."""
        after = self.copy(state)
        self.play(after, move)
        return after

    def fold(self, state: State, moves: Iterable[Choice | Outcome]) -> State:
        """The state after all the moves, each checked; the argument is not changed."""
        after = self.copy(state)
        play = self.play
        for move in moves:
            play(after, move)
        return after


def everything_is_open(_state: object, outcome: Outcome, _perspective: Perspective) -> Outcome:
    """`Game.seen` for a game in which nothing is hidden."""
    return outcome


def any_options(_options: Options, _seats: int) -> None:
    """`Game.combine` for a game whose options all go together."""


def not_awaited(awaited: Awaited, move: object, game: str, vocabulary: Iterable[type]) -> Invalid | Illegal:
    """The refusal of a move that is not of the awaited kind."""
    kind = type(move)
    if kind not in vocabulary:
        return Invalid(
            Reason.MOVE_OF_ANOTHER_GAME,
            f"{kind.__name__} is not a move of {game}",
            learn=f"moves of {game}: {', '.join(known.__name__ for known in vocabulary)}",
        )
    what = f"{kind.__name__} is not what the match awaits"
    if isinstance(awaited, Over):
        return Illegal(Reason.MATCH_OVER, "the match is over", learn="nothing can be played any more")
    if isinstance(awaited, ToChoose):
        return Illegal(
            Reason.OTHER_CHOICE_AWAITED, f"{what}: another choice of seat {awaited.seat} is", seat=awaited.seat
        )
    return Illegal(
        Reason.CHANCE_AWAITED,
        f"{what}: chance ({awaited.name}) is",
        learn="awaited(state) says what is to be thrown or drawn",
        awaited=awaited.name,
    )


def impossible(awaited: Awaited, why: str) -> Illegal:
    """The refusal of an outcome that chance cannot have here."""
    name = awaited.name if isinstance(awaited, Throw | Draw) else "no chance"
    return Illegal(
        Reason.OUTCOME_IMPOSSIBLE, why, learn="awaited(state) says what is to be thrown or drawn", awaited=name
    )
