"""The manifest of a tournament: its game, players, matches and points for places, and the claimed standings.

    title = "Spring cup"
    game = "cant_stop"
    ruleset = 1
    begins = 2026-04-01T09:00:00Z      # no match was opened before,
    ends = 2026-04-01T18:00:00Z        # and none sealed after
    players = ["Anna", "Tom", "Willi"]
    points = [3, 1]                    # for the first place, the second …; none for those behind
    shared_places = "split"            # or "full"
    options = { hasty = true }         # those not named are as the game has them

    [[rounds]]
    name = "Round 1"
    pairings = [{ match = "bkzt3o2x", players = ["Anna", "Tom"] }]

    [[standings]]
    player = "Anna"
    place = 1
    points = 3

Names are those that the players had in the service. All names in a tournament are different.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime  # noqa: TID251 - for dates in TOML; reads no clock
from enum import StrEnum
from fractions import Fraction
from textwrap import dedent
from typing import Any, Final, TypeVar

from rollbook.rules.catalogue import find
from rollbook.rules.options import Options, OptionValue
from rollbook.rules.refusals import RefusedByRules

EXAMPLE: Final = dedent((__doc__ or "").partition("\n\n")[2].rpartition("\n\n")[0])
"""The example in the docstring of this module."""

LARGEST_MANIFEST: Final = 2 << 20
MOST_DOTS: Final = 20_000
MOST_DOTS_A_LINE: Final = 50
"""Limit for all dots in a line: the parser's time and memory grow with the square of the dots in a key."""
MOST_TABLES: Final = 1_000
"""Lines that begin a table. The parser uses half a kilobyte for each; a manifest needs none of them."""
LONGEST_NUMBER: Final = 1_000
"""Digits in a number; the parser uses a hundred bytes for each, even for a number that it refuses."""
MOST_MATCHES: Final = 20_000
MOST_PLAYERS: Final = 10_000
MOST_SEATS: Final = 10
LONGEST_TEXT: Final = 200
MOST_POINTS: Final = 1_000_000

Item = TypeVar("Item")

_MATCH_ID: Final = re.compile(r"[A-Za-z0-9_=-][A-Za-z0-9._=-]{0,99}")
_TABLE: Final = re.compile(rb"^[ \t]*\[[^\[]", re.MULTILINE)
_LONG_NUMBER: Final = re.compile(rb"[0-9A-Fa-f_]{%d}" % (LONGEST_NUMBER + 1))
_FRACTION: Final = re.compile(r"[0-9]{1,7}/[1-9][0-9]{0,6}")


class WrongManifest(Exception):
    """The manifest cannot be read; the message names the fault and its place."""


class SharedPlaces(StrEnum):
    """How seats that share a place divide the points."""

    SPLIT = "split"
    """The seats divide the points of the places that they fill together in equal parts."""
    FULL = "full"
    """Each seat gets the points of the shared place."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """One match that the tournament planned."""

    match_id: str
    players: tuple[str, ...]
    """In any order; the replay has the seats."""


@dataclass(frozen=True, slots=True)
class Round:
    """A round of a tournament: a name and its matches."""

    name: str
    pairings: tuple[Pairing, ...]


@dataclass(frozen=True, slots=True)
class Claimed:
    """The place and points that the manifest claims for a player."""

    place: int
    points: Fraction


@dataclass(frozen=True, slots=True)
class Manifest:
    """A tournament as the organiser describes it."""

    title: str
    game: str
    ruleset: int
    options: Mapping[int, Options]
    """All options with their values, by the number of seats."""
    begins_ms: int
    ends_ms: int
    players: tuple[str, ...]
    points: tuple[Fraction, ...]
    shared_places: SharedPlaces
    rounds: tuple[Round, ...]
    standings: Mapping[str, Claimed]
    """By player."""

    @property
    def pairings(self) -> tuple[Pairing, ...]:
        """The pairings of all rounds."""
        return tuple(pairing for around in self.rounds for pairing in around.pairings)

    def points_for(self, places: Sequence[int]) -> tuple[Fraction, ...]:
        """The points of each seat for these places."""
        return tuple(self._worth(place, places.count(place)) for place in places)

    def _worth(self, place: int, shared_by: int) -> Fraction:
        filled = range(place, place + (shared_by if self.shared_places is SharedPlaces.SPLIT else 1))
        worth = sum(
            (self.points[filled_place - 1] for filled_place in filled if filled_place <= len(self.points)), Fraction()
        )
        return worth / len(filled)


def instant(time_ms: int | None) -> str:
    """A time in ms as text for people; "never" for None.

    >>> instant(1_767_225_600_000)
    '2026-01-01 00:00:00 UTC'
    """
    if time_ms is None:
        return "never"
    try:
        return datetime.fromtimestamp(time_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, ValueError, OSError):
        return f"{time_ms} ms after 1970"


def is_match_id(text: str) -> bool:
    """Whether the text is an id that a match in a bundle can have, so that it is safe in a file name."""
    return _MATCH_ID.fullmatch(text) is not None


def read_manifest(data: bytes) -> Manifest:
    """Decode the manifest; raises `WrongManifest`."""
    if len(data) > LARGEST_MANIFEST:
        raise WrongManifest(f"a manifest has at most {LARGEST_MANIFEST} bytes")
    _check_dots(data)
    if _LONG_NUMBER.search(data):
        raise WrongManifest(f"it has a number of more than {LONGEST_NUMBER} digits")
    if sum(1 for _ in _TABLE.finditer(data)) > MOST_TABLES:
        raise WrongManifest(f"it has more than {MOST_TABLES} tables, not counting those of lists")
    try:
        table = _Table(tomllib.loads(data.decode("utf-8")), "")
    except RecursionError:
        raise WrongManifest("it is nested too deeply") from None
    except ValueError as wrong:
        raise WrongManifest(str(wrong)) from None
    players = table.texts("players", MOST_PLAYERS)
    known = frozenset(players)
    rounds = tuple(_round(each, known) for each in table.tables("rounds", MOST_MATCHES))
    if sum(len(around.pairings) for around in rounds) > MOST_MATCHES:
        raise WrongManifest(f"a tournament has at most {MOST_MATCHES} matches")
    game, ruleset = table.text("game"), table.number("ruleset")
    sizes = {len(pairing.players) for around in rounds for pairing in around.pairings}
    manifest = Manifest(
        title=table.text("title"),
        game=game,
        ruleset=ruleset,
        options=_options(game, ruleset, table.inner("options"), sizes),
        begins_ms=table.instant("begins"),
        ends_ms=table.instant("ends"),
        players=players,
        points=table.several("points", MOST_PLAYERS, _points),
        shared_places=SharedPlaces(table.one_of("shared_places", list(SharedPlaces))),
        rounds=rounds,
        standings=_standings(table.tables("standings", MOST_PLAYERS), known),
    )
    table.nothing_else()
    return manifest


def _check_dots(data: bytes) -> None:
    if data.count(b".") > MOST_DOTS:
        raise WrongManifest(f"it has more than {MOST_DOTS} dots")
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.count(b".") > MOST_DOTS_A_LINE:
            raise WrongManifest(f"line {number} has more than {MOST_DOTS_A_LINE} dots; break it into several")


def _round(table: _Table, players: frozenset[str]) -> Round:
    around = Round(
        table.text("name"), tuple(_pairing(each, players) for each in table.tables("pairings", MOST_MATCHES))
    )
    table.nothing_else()
    return around


def _pairing(table: _Table, players: frozenset[str]) -> Pairing:
    pairing = Pairing(table.text("match"), table.texts("players", MOST_SEATS))
    table.nothing_else()
    if not is_match_id(pairing.match_id):
        raise table.wrong("match", "is the id of a match")
    for player in pairing.players:
        if player not in players:
            raise WrongManifest(f"{player!r} plays {pairing.match_id}, but is none of the players")
    return pairing


def _standings(tables: Sequence[_Table], players: frozenset[str]) -> dict[str, Claimed]:
    standings = {}
    for table in tables:
        player = table.one_of("player", players)
        if player in standings:
            raise WrongManifest(f"{player!r} stands twice in the standings")
        standings[player] = Claimed(table.number("place"), table.one("points", _points))
        table.nothing_else()
    return standings


def _options(name: str, version: int, given: Mapping[str, OptionValue], sizes: set[int]) -> dict[int, Options]:
    try:
        game = find(name, version)
        return {seats: game.settle(given, seats) for seats in sorted(sizes)}
    except RefusedByRules as refused:
        raise WrongManifest(str(refused)) from None


def _points(value: Any) -> Fraction | None:
    if type(value) is str and _FRACTION.fullmatch(value):
        return Fraction(value)
    if type(value) not in {int, float} or not 0 <= value <= MOST_POINTS:
        return None
    return Fraction(repr(value))


class _Table:
    """A TOML table of the manifest; every method removes a key, and raises `WrongManifest` with the key's path."""

    def __init__(self, table: Any, where: str) -> None:
        if type(table) is not dict:
            raise WrongManifest(f"{where} is a table")
        self._left = dict(table)
        self._where = where

    def wrong(self, key: str, what: str) -> WrongManifest:
        return WrongManifest(f"{self._where}{key} {what}")

    def one(self, key: str, read: Callable[[Any], Item | None]) -> Item:
        item = read(self._take_key(key))
        if item is None:
            raise self.wrong(key, f'is a number from 0 to {MOST_POINTS}, or a fraction such as "3/2"')
        return item

    def several(self, key: str, most: int, read: Callable[[Any], Item | None]) -> tuple[Item, ...]:
        items = [read(value) for value in self._list(key, most)]
        if None in items:
            raise self.wrong(key, f'holds numbers from 0 to {MOST_POINTS}, or fractions such as "3/2"')
        return tuple(item for item in items if item is not None)

    def text(self, key: str) -> str:
        return self._text(key, self._take_key(key))

    def texts(self, key: str, most: int) -> tuple[str, ...]:
        texts = tuple(self._text(key, value) for value in self._list(key, most))
        if not texts or len(set(texts)) != len(texts):
            raise self.wrong(key, "names each once, and at least one")
        return texts

    def one_of(self, key: str, allowed: Collection[str]) -> str:
        text = self.text(key)
        if text not in allowed:
            few = f": {', '.join(allowed)}" if len(allowed) < 10 else ""  # noqa: PLR2004 - few enough to read
            raise self.wrong(key, f"is {text!r}, which is none of those there are{few}")
        return text

    def number(self, key: str) -> int:
        value = self._take_key(key)
        if type(value) is not int or not 1 <= value <= MOST_POINTS:
            raise self.wrong(key, f"is a whole number from 1 to {MOST_POINTS}")
        return value

    def instant(self, key: str) -> int:
        value = self._take_key(key)
        if not isinstance(value, datetime) or value.tzinfo is None:
            raise self.wrong(key, "is an instant with its offset, such as 2026-04-01T09:00:00Z")
        return round(value.timestamp() * 1000)

    def inner(self, key: str) -> dict[str, Any]:
        value = self._left.pop(key, {})
        if type(value) is not dict:
            raise self.wrong(key, "is a table")
        return value

    def tables(self, key: str, most: int) -> list[_Table]:
        """The tables of a list; empty if the key is missing."""
        self._left.setdefault(key, [])
        return [_Table(each, f"{self._where}{key}[{number}].") for number, each in enumerate(self._list(key, most))]

    def nothing_else(self) -> None:
        for key in self._left:
            raise self.wrong(key[:LONGEST_TEXT], "is not known here")

    def _take_key(self, key: str) -> Any:
        if key not in self._left:
            raise self.wrong(key, "is missing")
        return self._left.pop(key)

    def _list(self, key: str, most: int) -> list[Any]:
        value = self._take_key(key)
        if type(value) is not list or len(value) > most:
            raise self.wrong(key, f"is a list of at most {most}")
        return value

    def _text(self, key: str, value: Any) -> str:
        if type(value) is not str or not 0 < len(value) <= LONGEST_TEXT or not value.isprintable():
            raise self.wrong(key, f"is text of 1 to {LONGEST_TEXT} characters that can be seen")
        return value
