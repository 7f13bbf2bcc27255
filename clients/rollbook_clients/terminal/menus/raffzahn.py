"""Raffzahn's choices in words; an announcement is chosen behind the dice it is made for."""

from __future__ import annotations

from collections.abc import Iterable

from rollbook.rules.raffzahn import TEETH
from rollbook.v1.games_pb2 import Choice
from rollbook.v1.raffzahn_pb2 import RaffzahnChoice, RaffzahnView
from rollbook_clients.terminal.menus.entry import Entry, grouped
from rollbook_clients.terminal.seating import Seating


def entries(view: RaffzahnView, legal: Iterable[RaffzahnChoice], seating: Seating) -> tuple[Entry, ...]:
    """First what is to be had, then the throws, those with all dice first, and to pass at last."""
    others: list[Entry] = []
    passes: list[Entry] = []
    throws: dict[tuple[int, ...], list[Entry]] = {}
    for choice in legal:
        if choice.WhichOneof("kind") == "roll":
            throws.setdefault(tuple(choice.roll.dice), []).append(_throw(view, choice, seating))
        else:
            entry = _other(view, choice, seating)
            (passes if choice.WhichOneof("kind") == "pass" else others).append(entry)
    for dice in sorted(throws, key=lambda dice: (-len(dice), dice)):
        label = seating.words("raffzahn.roll", dice=_dice(dice, seating))
        others.append(grouped(label, seating.words("raffzahn.roll.announcing"), throws[dice]))
    return (*others, *passes)


def _dice(dice: tuple[int, ...], seating: Seating) -> str:
    if len(dice) == 3:  # noqa: PLR2004 - all of them
        return seating.words("raffzahn.all_dice")
    return seating.words.both(seating.words(f"raffzahn.die.{die}") for die in dice)


def _throw(view: RaffzahnView, choice: RaffzahnChoice, seating: Seating) -> Entry:
    words = seating.words
    leads_to = Choice(raffzahn=choice)
    label = words("raffzahn.roll", dice=_dice(tuple(choice.roll.dice), seating))
    if not choice.roll.HasField("announce"):
        throws_left = words("raffzahn.roll.note", number=view.throws + 1)
        return Entry(label, throws_left, leads_to)
    tile = choice.roll.announce
    return Entry(
        words("raffzahn.announce", tile=tile),
        f"{words.count('tooth', TEETH[tile])}, {_lies(view, tile, seating)}",
        leads_to,
    )


def _lies(view: RaffzahnView, tile: int, seating: Seating) -> str:
    for seat, row in enumerate(view.rows):
        if tile in row.open_tiles:
            return seating.words("raffzahn.open_at", name=seating.name(seat))
    return seating.words("raffzahn.in_the_middle")


def _other(view: RaffzahnView, choice: RaffzahnChoice, seating: Seating) -> Entry:
    words = seating.words
    leads_to = Choice(raffzahn=choice)
    kind = choice.WhichOneof("kind")
    if kind == "take":
        tile = choice.take.tile
        label = words("raffzahn.take.safe" if choice.take.safe else "raffzahn.take.open", tile=tile)
        return Entry(label, f"{words.count('tooth', TEETH[tile])}, {_lies(view, tile, seating)}", leads_to)
    if kind == "surrender":
        tiles = list(choice.surrender.tiles)
        label = words("raffzahn.surrender", tiles=words.both(map(str, tiles)))
        return Entry(label, words.count("tooth", sum(TEETH[tile] for tile in tiles)), leads_to)
    return Entry(words("raffzahn.pass"), words("raffzahn.pass.note"), leads_to)
