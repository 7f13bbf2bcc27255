"""Allie Gator's choices in words: cards first, then where they go."""

from collections.abc import Callable
from typing import Any, Final

from rollbook.rules.allie_gator.moves import Choice, Gift, Number, Raise, Reverse, Snap, Steal
from rollbook.rules.allie_gator.view import View
from rollbook.rules.game import Choices
from rollbook_replays.games.presentation import MenuEntry, grouped
from rollbook_replays.games.seats import Seating


def menu(view: View, legal: Choices[Choice], seating: Seating) -> tuple[MenuEntry, ...]:
    """Number cards one by one; each special card, in the order of their numbers, and the snap in one entry."""
    choices = list(legal)
    entries = [_number(view, choice, seating) for choice in choices if isinstance(choice, Number)]
    for kind, (name, entry_of) in _GROUPS.items():
        behind = [entry_of(view, choice, seating) for choice in choices if isinstance(choice, kind)]
        if behind:
            note = _taken(view, seating) if kind is Snap else seating.words(f"menu.{name}.note")
            entries.append(grouped(seating.words(f"menu.{name}"), note, behind))
    return tuple(entries)


def _number(view: View, choice: Number, seating: Seating) -> MenuEntry:
    words = seating.words
    left = view.piles[choice.pile].targets[-1] - choice.card - 1
    note = words("menu.number.note", count=left) if left else words("menu.number.last")
    return MenuEntry(words("menu.number", card=choice.card, pile=_pile(choice.pile, seating)), note, choice)


def _reverse(_view: View, choice: Reverse, seating: Seating) -> MenuEntry:
    return MenuEntry(seating.words("menu.reverse"), seating.words("menu.reverse.note"), choice)


def _steal(view: View, choice: Steal, seating: Seating) -> MenuEntry:
    words = seating.words
    if choice.target is None:
        return MenuEntry(words("menu.steal"), words("menu.no_effect"), choice)
    note = words("menu.holds", count=view.players[choice.target].hand_size)
    return MenuEntry(words("menu.steal.from", name=seating.name(choice.target)), note, choice)


def _raise(view: View, choice: Raise, seating: Seating) -> MenuEntry:
    words = seating.words
    label = words("menu.raise.to", card=choice.card, pile=_pile(choice.pile, seating))
    return MenuEntry(label, words("menu.raise.over", card=view.piles[choice.pile].targets[-1]), choice)


def _gift(view: View, choice: Gift, seating: Seating) -> MenuEntry:
    words = seating.words
    if choice.pile is None or choice.target is None:
        return MenuEntry(words("menu.gift.none"), words("menu.no_effect"), choice)
    label = words("menu.gift.to", card=view.piles[choice.pile].cards[-1], name=seating.name(choice.target))
    return MenuEntry(label, words("menu.from_pile", pile=_pile(choice.pile, seating)), choice)


def _snap(view: View, choice: Snap, seating: Seating) -> MenuEntry:
    words = seating.words
    label = words("menu.snap") if choice.card is None else words("menu.snap.target", card=choice.card)
    return MenuEntry(label, _taken(view, seating), choice)


def _taken(view: View, seating: Seating) -> str:
    at_chip = view.piles[view.chip]
    cards = seating.words.count("card", len(at_chip.targets) + len(at_chip.cards))
    return seating.words("menu.snap.note", cards=cards)


def _pile(pile: int, seating: Seating) -> str:
    return seating.words(f"pile.{pile}")


_GROUPS: Final[dict[type[Any], tuple[str, Callable[[View, Any, Seating], MenuEntry]]]] = {
    Reverse: ("reverse", _reverse),
    Steal: ("steal", _steal),
    Raise: ("raise", _raise),
    Gift: ("gift", _gift),
    Snap: ("snap", _snap),
}
