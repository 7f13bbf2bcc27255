"""Würfelzoo's choices in words: the uses of abilities as a menu, a turn as dice to be picked.

Dice are alike if they show the same face and have the same other faces; alike dice share one entry.
"""

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from rollbook.rules.game import Choices
from rollbook.rules.wuerfelzoo.moves import AXES, Bear, Boar, Choice, Fox, Play, Reroll, Squirrel, Worm
from rollbook.rules.wuerfelzoo.turn_choices import PlayOffer, TurnChoices
from rollbook.rules.wuerfelzoo.view import View
from rollbook_replays.games.presentation import Menu, MenuEntry, Picking, Piece, group
from rollbook_replays.games.seats import Seating
from rollbook_replays.games.words import Words
from rollbook_replays.games.wuerfelzoo.animals import LARGE_TO_SMALL, faces_of, long, name_of, short, style_of
from rollbook_replays.text import Text

Alike: TypeAlias = tuple[str, tuple[tuple[str, str], ...]]
"""The key by which dice of one seat are alike: the face, and all faces that the die has."""


def menu(view: View, legal: Choices[Choice], seating: Seating) -> Menu:
    """The dice of a turn to pick from, or the uses of an ability by seat; uses in two steps have a submenu."""
    if isinstance(legal, TurnChoices):
        return _turn(view, legal, seating.words)
    dice = _Dice(view, seating)
    choices = list(legal)
    bears, foxes = _of(Bear, choices), _of(Fox, choices)
    return (
        *_by_seat([(choice.die, choice) for choice in bears], "menu.bear", dice),
        *_by_seat([(choice.die, choice) for choice in foxes], "menu.fox", dice),
        *_boars(_of(Boar, choices), dice),
        *_worms(_of(Worm, choices), dice),
        *(
            MenuEntry(
                seating.words("menu.squirrel", name=seating.name(choice.target)),
                choice=choice,
                about=seating.words("ability.squirrel.about"),
            )
            for choice in _of(Squirrel, choices)
        ),
    )


def _of(kind: type[Any], choices: Iterable[Choice]) -> list[Any]:
    return [choice for choice in choices if isinstance(choice, kind)]


# Abilities


class _Dice:
    """The seat and the face of every die in front of a seat."""

    def __init__(self, view: View, seating: Seating) -> None:
        self.seating = seating
        self.seats = {die.die: seat for seat, row in enumerate(view.dice) for die in row}
        self._faces = faces_of(view)

    def alike(self, die: int) -> Alike:
        """The key that the die shares with dice that are alike."""
        return self._faces[die], AXES[die]

    def spots(self, die: int) -> tuple[str, ...]:
        """The spots of the die and of all dice of the same seat that are alike."""
        here = (each for each, seat in self.seats.items() if seat == self.seats[die])
        return tuple(str(each) for each in here if self.alike(each) == self.alike(die))

    def name(self, die: int) -> str:
        """The name of the face of the die."""
        return name_of(self._faces[die], self.seating.words)

    def others(self, die: int) -> str:
        """The other faces of the die, in words."""
        words = self.seating.words
        faces = dict.fromkeys(face for axis in AXES[die] for face in axis if face != self._faces[die])
        return words("menu.also", faces=", ".join(name_of(face, words) for face in faces))


def _by_seat(choices: Sequence[tuple[int, Choice]], key: str, dice: _Dice) -> tuple[MenuEntry, ...]:
    """One entry for each seat, with its dice as a submenu."""
    seating = dice.seating
    of_seat: dict[int, dict[Alike, MenuEntry]] = {}
    for die, choice in choices:
        seat = dice.seats[die]
        label = seating.words(key, die=dice.name(die), name=seating.name(seat))
        about = seating.words(f"{key}.about")
        entry = MenuEntry(label, dice.others(die), choice, about=about, spots=dice.spots(die))
        of_seat.setdefault(seat, {}).setdefault(dice.alike(die), entry)
    return tuple(group(_whose(key, seat, seating), "", list(of_seat[seat].values())) for seat in sorted(of_seat))


def _whose(key: str, seat: int, seating: Seating) -> str:
    own = f"{key}.own"
    is_own = seat == seating.own and own in seating.words
    return seating.words(own) if is_own else seating.words(f"{key}.seat", name=seating.name(seat))


def _boars(choices: Sequence[Boar], dice: _Dice) -> tuple[MenuEntry, ...]:
    """First the own die, then in a submenu the die to get in exchange."""
    return tuple(
        MenuEntry(
            dice.seating.words("menu.boar", die=dice.name(own)),
            dice.others(own),
            about=dice.seating.words("ability.boar.about"),
            spots=dice.spots(own),
            entries=_by_seat([(each.other, each) for each in choices if each.own == own], "menu.boar.other", dice),
        )
        for own in _different([choice.own for choice in choices], dice)
    )


def _worms(choices: Sequence[Worm], dice: _Dice) -> tuple[MenuEntry, ...]:
    """First the own die, then in a submenu the seat that gets it."""
    words, entries = dice.seating.words, []
    for own in _different([choice.own for choice in choices], dice):
        die, others = dice.name(own), dice.others(own)
        targets = [
            MenuEntry(
                words("menu.worm", die=die, name=dice.seating.name(choice.target)),
                others,
                choice,
                about=words("ability.worm.about"),
                spots=dice.spots(own),
            )
            for choice in choices
            if choice.own == own
        ]
        entries.append(group(words("menu.worm.die", die=die), others, targets))
    return tuple(entries)


def _different(own: Iterable[int], dice: _Dice) -> list[int]:
    """The dice without those that are like an earlier one."""
    first: dict[Alike, int] = {}
    for die in own:
        first.setdefault(dice.alike(die), die)
    return list(first.values())


# A turn


def _turn(view: View, offered: TurnChoices, words: Words) -> Picking:
    """The own dice from large to small, and the entries for the picked dice."""
    faces = faces_of(view)
    own = sorted(offered.rerolls, key=lambda die: (LARGE_TO_SMALL.index(faces[die]), AXES[die], die))
    pieces = [
        Piece(
            die,
            *(Text.of((said(faces[die], words), f"{style_of(faces[die])} strong")) for said in (long, short)),
        )
        for die in own
    ]
    offers = tuple(
        _offer(offer, number, offered, words)
        for offer in offered.plays
        for number in range(offer.fewest, offer.most + 1)
    )
    fitting = {die for offer in offered.plays for die in offer.dice}
    if fitting:
        fitting |= set(offered.doubles)
    return Picking(
        tuple(pieces), lambda picked: _list_picked(sorted(picked), offered, words), offers, frozenset(fitting or own)
    )


def _offer(offer: PlayOffer, number: int, offered: TurnChoices, words: Words) -> MenuEntry:
    """A play of so many animals of a species, without doubling dice."""
    dice = offer.dice[:number]
    _, does = _judge_play(list(dice), offered, words)
    animals, _, effect = does.partition(": ")
    label = words("picking.lay_these", animals=animals)
    about = words(f"ability.{offer.species}.about")
    return MenuEntry(label, effect, Play(tuple(sorted(dice))), brief=animals, about=about)


def _list_picked(dice: list[int], offered: TurnChoices, words: Words) -> tuple[MenuEntry, ...]:
    """The entries for picked dice: play them or throw them again, as far as that is legal."""
    named = tuple(dice)
    why_not, does = _judge_play(dice, offered, words)
    about = "" if why_not else words(f"ability.{_species(dice, offered)}.about")
    lay = MenuEntry(words("picking.lay"), why_not or does, None if why_not else Play(named), about=about)
    if not named:
        return lay, MenuEntry(words("picking.reroll.none"))
    again = words("picking.reroll", dice=words.count("die", len(named)))
    return lay, MenuEntry(again, choice=Reroll(named), about=words("picking.reroll.about"))


def _species(named: list[int], offered: TurnChoices) -> str:
    """The species of dice that can be played."""
    return next(offer.species for offer in offered.plays if set(offer.dice) & set(named))


def _judge_play(named: list[int], offered: TurnChoices, words: Words) -> tuple[str, str]:
    """Why the dice cannot be played (empty if they can), and the effect of playing them."""
    if not offered.plays:
        return words("picking.none_fits"), ""
    animals = [die for die in named if die not in offered.doubles]
    doubles = len(named) - len(animals)
    if not animals:
        return f"{words('picking.pick')} {_fitting(offered, words)}", ""
    offer = next((offer for offer in offered.plays if animals[0] in offer.dice), None)
    if offer is None:
        return f"{words('picking.does_not_fit')} {_fitting(offered, words)}", ""
    if not set(animals) <= set(offer.dice):
        return words("picking.one_species"), ""
    if not offer.fewest <= len(animals) <= offer.most:
        return words("picking.number", number=_between(offer, words), animal=name_of(offer.species, words)), ""
    times = words("picking.times", count=1 + doubles) if doubles else ""
    species = offer.species
    return "", f"{words.count(f'animal.{species}', len(animals))}: {words(f'ability.{species}.does')}{times}"


def _fitting(offered: TurnChoices, words: Words) -> str:
    """The species that can be played, with their numbers, in words."""
    return ", ".join(f"{_between(offer, words)} × {name_of(offer.species, words)}" for offer in offered.plays)


def _between(offer: PlayOffer, words: Words) -> str:
    if offer.fewest == offer.most:
        return str(offer.fewest)
    return words("picking.between", fewest=offer.fewest, most=offer.most)
