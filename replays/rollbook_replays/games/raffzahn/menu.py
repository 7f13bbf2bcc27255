"""Raffzahn's choices in words; the announcements are in a submenu of the dice to throw."""

from rollbook.rules.game import Choices
from rollbook.rules.raffzahn.moves import DICE, TEETH, THROWS, Choice, Pass, Roll, Surrender, Take
from rollbook.rules.raffzahn.view import View
from rollbook_replays.games.presentation import MenuEntry, group
from rollbook_replays.games.seats import Seating

BLUE = (1, 2)
"""The two equal dice."""


def menu(view: View, legal: Choices[Choice], seating: Seating) -> tuple[MenuEntry, ...]:
    """First the tiles to take, then the throws, those with all dice first, and last the pass."""
    words = seating.words
    others: list[MenuEntry] = []
    passes: list[MenuEntry] = []
    throws: dict[tuple[int, ...], list[MenuEntry]] = {}
    for choice in legal:
        if isinstance(choice, Roll):
            throws.setdefault(choice.dice, []).append(_throw(view, choice, seating))
        elif isinstance(choice, Pass):
            passes.append(
                MenuEntry(words("menu.pass"), words("menu.pass.note"), choice, about=words("menu.pass.about"))
            )
        else:
            others.append(_other(view, choice, seating))
    for dice in sorted(throws, key=lambda dice: (-len(dice), dice)):
        label = words("menu.roll", dice=dice_said(dice, seating))
        others.append(group(label, words("menu.roll.announcing"), throws[dice]))
    return (*others, *passes)


def dice_said(dice: tuple[int, ...], seating: Seating) -> str:
    """The dice in words."""
    if len(dice) == len(DICE):
        return seating.words("die.all")
    if dice == BLUE:
        return seating.words("die.blue")
    return seating.words.both(seating.words(f"die.{die}") for die in dice)


def _throw(view: View, choice: Roll, seating: Seating) -> MenuEntry:
    words = seating.words
    tile = choice.announce
    if tile is not None:
        label, worth = words("menu.announce", tile=tile), _worth(view, tile, seating)
        return MenuEntry(label, worth, choice, about=words("menu.announce.about"), spots=(str(tile),))
    label = words("menu.roll", dice=dice_said(choice.dice, seating))
    note = words("menu.roll.note", number=view.throws + 1, most=THROWS)
    spots = tuple(f"die{die}" for die in choice.dice)
    return MenuEntry(label, note, choice, about=words("menu.roll.about"), spots=spots)


def _other(view: View, choice: Take | Surrender, seating: Seating) -> MenuEntry:
    words = seating.words
    if isinstance(choice, Take):
        label = words("menu.take.safe" if choice.safe else "menu.take.open", tile=choice.tile)
        about = words("menu.take.safe.about" if choice.safe else "menu.take.open.about")
        return MenuEntry(label, _worth(view, choice.tile, seating), choice, about=about, spots=(str(choice.tile),))
    label = words("menu.surrender", tiles=words.both(choice.tiles))
    teeth = words.count("tooth", sum(TEETH[tile] for tile in choice.tiles))
    spots = tuple(map(str, choice.tiles))
    return MenuEntry(label, teeth, choice, about=words("menu.surrender.about"), spots=spots)


def _worth(view: View, tile: int, seating: Seating) -> str:
    """The teeth of a tile and its position."""
    words = seating.words
    lies = words("menu.in_the_middle")
    for seat, row in enumerate(view.rows):
        if tile in row.open_tiles:
            lies = words("menu.open_at", name=seating.name(seat))
    return f"{words.count('tooth', TEETH[tile])}, {lies}"
