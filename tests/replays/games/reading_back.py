"""Rebuilds the view of each game from its charts, by their texts alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from rollbook.rules.allie_gator import view as allie_gator
from rollbook.rules.allie_gator.moves import SPECIALS
from rollbook.rules.cant_stop import view as cant_stop
from rollbook.rules.raffzahn import view as raffzahn
from rollbook.rules.raffzahn.moves import ROTTEN, STAR
from rollbook.rules.wuerfelzoo.moves import AXES, DOUBLE, FACES_OF_KIND, NO_FACE, SPECIES, TRAP
from rollbook_replays.games.chart import Chart
from rollbook_replays.games.words import Words

Row = dict[str, str]


@dataclass(frozen=True)
class Reader:
    """The charts of one position, as a listener has them."""

    charts: tuple[Chart, ...]
    words: Words

    def facts(self, chart: str) -> list[tuple[str, str]]:
        """The facts of a list, in their order; empty if there is no such list."""
        return [(row[0], row[1]) for each in self.charts if each.name == chart for row in each.rows]

    def fact(self, chart: str, key: str) -> str:
        """One fact of a list."""
        (found,) = (said for name, said in self.facts(chart) if name == self.words(key))
        return found

    def rows(self, chart: str) -> list[Row]:
        """The rows of a table, by the headings of its columns."""
        return [
            dict(zip(each.head, row, strict=True)) for each in self.charts if each.name == chart for row in each.rows
        ]

    def cell(self, row: Row, key: str) -> str:
        """The cell below this heading."""
        return row[self.words(key)]

    def number(self, said: str) -> int:
        """A number, or 0 for none."""
        return 0 if said == self.words("chart.none") else int(said)

    def items(self, said: str) -> list[str]:
        """The items of an enumeration."""
        return [] if said == self.words("chart.none") else said.split(", ")

    def numbers(self, said: str) -> tuple[int, ...]:
        """The numbers of an enumeration."""
        return tuple(map(int, self.items(said)))

    def is_so(self, said: str) -> bool:
        """Whether it says yes."""
        assert said in {self.words("chart.yes"), self.words("chart.no")}
        return said == self.words("chart.yes")

    @property
    def seats(self) -> list[str]:
        """The signs and names of the seats."""
        return [self.cell(row, "chart.seat") for row in self.rows("seats")]

    def seat(self, said: str) -> int | None:
        """The number of a seat; None for none."""
        return None if said == self.words("chart.no_seat") else self.seats.index(said)

    @property
    def on_turn(self) -> int | None:
        """The seat whose turn it is."""
        return next(
            (seat for seat, row in enumerate(self.rows("seats")) if self.is_so(self.cell(row, "chart.turn"))), None
        )

    @property
    def places(self) -> tuple[int, ...]:
        """The places of the seats."""
        return tuple(int(self.cell(row, "chart.place")) for row in self.rows("seats"))


def _cant_stop(read: Reader) -> Any:
    columns = tuple(
        cant_stop.Column(
            int(read.cell(row, "chart.column")),
            int(read.cell(row, "chart.fields")),
            read.seat(read.cell(row, "chart.won_by")),
            tuple(int(row[seat]) for seat in read.seats),
            read.number(read.cell(row, "chart.runner")),
        )
        for row in read.rows("columns")
    )
    dice = read.numbers(read.fact("dice", "chart.dice"))
    assert read.seat(read.fact("dice", "chart.by")) == (read.on_turn if dice else None)
    for seat, row in enumerate(read.rows("seats")):
        won = tuple(column.number for column in columns if column.winner == seat)
        assert read.numbers(read.cell(row, "chart.won")) == won
    return cant_stop.View(read.on_turn, dice, columns, read.places)


def _raffzahn(read: Reader) -> Any:
    words = read.words
    lying: dict[str, list[int]] = {}
    for row in read.rows("tiles"):
        lying.setdefault(read.cell(row, "chart.where"), []).append(int(read.cell(row, "chart.tile")))
    seats = [
        raffzahn.Row(
            tuple(lying.get(words("chart.open_at", name=name), ())),
            tuple(lying.get(words("chart.safe_at", name=name), ())),
            int(row[words("tooth.many").capitalize()]),
        )
        for name, row in zip(read.seats, read.rows("seats"), strict=True)
    ]
    for one, row in zip(seats, read.rows("seats"), strict=True):
        assert one.open_tiles == read.numbers(read.cell(row, "chart.open"))
        assert one.safe_tiles == read.numbers(read.cell(row, "chart.safe"))
    faces = {words("picture.star"): STAR, words("picture.rotten_tooth"): ROTTEN}
    dice = [said for name, said in read.facts("dice") if name in {words(f"die.{die}") for die in range(3)}]
    return raffzahn.View(
        seat=read.on_turn,
        dice=tuple(faces.get(said, said) for said in dice),
        throws=int(read.fact("dice", "chart.throws").split()[0]),
        announced=read.number(read.fact("dice", "chart.announced")) or None,
        middle=tuple(lying.get(words("chart.middle"), ())),
        rows=tuple(seats),
        out=tuple(lying.get(words("chart.out"), ())),
        places=read.places,
    )


def _wuerfelzoo(read: Reader) -> Any:
    words = read.words
    faces = {words(f"animal.{face}.one"): face for face in (*SPECIES, TRAP, DOUBLE)} | {words("chart.none"): NO_FACE}
    many = {words.count(f"animal.{face}", 2).partition(" ")[2]: face for face in SPECIES}
    count, animal = 0, ""
    if (laid := read.fact("middle", "chart.animals")) != words("chart.none"):
        number, _, name = laid.partition(" ")
        count, animal = int(number), faces.get(name) or many[name]
        assert read.fact("middle", "chart.ability") == words(f"ability.{animal}")
    dice: list[Counter[Any]] = [Counter() for _ in read.seats]
    for row in read.rows("dice"):
        face = faces[read.cell(row, "chart.face")]
        others = {faces[each] for each in read.items(read.cell(row, "chart.others"))}
        (kind,) = (kind for kind in FACES_OF_KIND if set(FACES_OF_KIND[kind]) - {face} == others and _has(kind, face))
        seat, is_thrown = read.seat(read.cell(row, "chart.seat")), read.is_so(read.cell(row, "chart.thrown"))
        assert seat is not None
        dice[seat][kind, face, is_thrown] += int(read.cell(row, "chart.count"))
    for row, held in zip(read.rows("seats"), dice, strict=True):
        assert int(read.cell(row, "chart.dice")) == held.total()
    return (
        int(read.fact("middle", "chart.round")),
        read.on_turn,
        tuple(int(read.cell(row, "chart.points")) for row in read.rows("seats")),
        dice,
        animal,
        count,
        read.seat(read.fact("middle", "chart.by")),
        int(read.fact("middle", "chart.doubles")),
        int(read.fact("middle", "chart.uses")),
        int(read.fact("middle", "chart.bag")),
        int(read.fact("middle", "chart.box")),
        read.places,
    )


def _has(kind: Any, face: str) -> bool:
    return face == NO_FACE or face in FACES_OF_KIND[kind]


def _without_numbers(view: Any) -> Any:
    """A view of dice without their numbers, by which no player tells them apart."""
    dice = [Counter((AXES[die.die], die.face or NO_FACE, die.die in view.thrown) for die in row) for row in view.dice]
    return (
        view.round,
        view.seat,
        view.points,
        dice,
        view.species or "",
        len(view.middle),
        view.owner,
        len(view.doubles),
        view.uses,
        len(view.bag),
        len(view.box),
        view.places,
    )


def _allie_gator(read: Reader) -> Any:
    words = read.words
    specials = {words(f"special.{name}"): card for card, name in SPECIALS.items()}

    def cards(said: str) -> tuple[Any, ...]:
        return tuple(specials[each] if each in specials else int(each) for each in read.items(said))

    piles = []
    for row in read.rows("piles"):
        laid = cards(read.cell(row, "chart.all_cards"))
        targets = cards(read.cell(row, "chart.beneath")) + cards(read.cell(row, "chart.target"))
        assert cards(read.cell(row, "chart.top")) == laid[-1:]
        assert int(read.cell(row, "chart.cards")) == len(laid)
        piles.append(allie_gator.Pile(targets, laid))
    hands = dict(read.facts("hand"))
    assert len(hands) == len(read.facts("hand"))
    players = []
    for name, row in zip(read.seats, read.rows("seats"), strict=True):
        penalties = cards(read.cell(row, "chart.penalty_cards"))
        assert int(read.cell(row, "chart.penalties")) == len(penalties)
        assert int(read.cell(row, "chart.specials")) == sum(card in SPECIALS for card in penalties)
        hand = cards(hands[name]) if name in hands else None
        teeth = int(row[words("tooth.many").capitalize()])
        players.append(allie_gator.Player(hand, int(read.cell(row, "chart.hand")), penalties, teeth))
    direction = read.fact("round", "chart.direction")
    step = 1 if direction == words("chart.clockwise") else -1
    first = read.on_turn or 0
    order = [read.seats[(first + step * number) % len(players)] for number in range(len(players))]
    assert read.fact("round", "chart.order") == ", ".join(order)
    (chip,) = (number for number, row in enumerate(read.rows("piles")) if read.is_so(read.cell(row, "chart.allie")))
    return allie_gator.View(
        round=int(read.fact("round", "chart.round")),
        seat=read.on_turn,
        clockwise=step == 1,
        chip=chip,
        piles=tuple(piles),
        stock_size=int(read.fact("round", "chart.stock")),
        players=tuple(players),
        places=read.places,
    )


READERS: Final[dict[str, Callable[[Reader], Any]]] = {
    "cant_stop": _cant_stop,
    "raffzahn": _raffzahn,
    "wuerfelzoo": _wuerfelzoo,
    "allie_gator": _allie_gator,
}
SEEN: Final[dict[str, Callable[[Any], Any]]] = {"wuerfelzoo": _without_numbers}
"""What of a view a player can tell apart; all of it for the other games."""


def seen(game: str, view: Any) -> Any:
    """What a player can tell apart in a view."""
    return SEEN.get(game, lambda view: view)(view)


def read_back(game: str, charts: Iterable[Chart], words: Words) -> Any:
    """Rebuild what a player can tell apart from the words."""
    return READERS[game](Reader(tuple(charts), words))
