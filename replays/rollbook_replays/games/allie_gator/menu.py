"""Allie Gator's choices in words: first the card, then its target."""

from collections.abc import Callable
from typing import Any, Final

from rollbook.rules.allie_gator.moves import (
    GIFT,
    RAISE,
    REVERSE,
    STEAL,
    Choice,
    Gift,
    Number,
    Raise,
    Reverse,
    Snap,
    Steal,
)
from rollbook.rules.allie_gator.view import View
from rollbook.rules.game import Choices
from rollbook_replays.games.presentation import MenuEntry, group
from rollbook_replays.games.seats import Seating


def menu(view: View, legal: Choices[Choice], seating: Seating) -> tuple[MenuEntry, ...]:
    """An entry for each number card, then one entry for each kind of special card and one for the snap."""
    choices = list(legal)
    entries = [_number(view, choice, seating) for choice in choices if isinstance(choice, Number)]
    for kind, (name, entry_of) in _GROUPS.items():
        behind = [entry_of(view, choice, seating) for choice in choices if isinstance(choice, kind)]
        if behind:
            note = _describe_taken(view, seating) if kind is Snap else seating.words(f"menu.{name}.note")
            entries.append(group(seating.words(f"menu.{name}"), note, behind))
    return tuple(entries)


def _number(view: View, choice: Number, seating: Seating) -> MenuEntry:
    words = seating.words
    left = view.piles[choice.pile].targets[-1] - choice.card - 1
    note = words("menu.number.note", count=left) if left else words("menu.number.last")
    label = words("menu.number", card=choice.card, pile=_pile(choice.pile, seating))
    spots = (f"card{choice.card}", f"pile{choice.pile}")
    brief = f"{choice.card} → {_pile(choice.pile, seating)}"
    says = words("menu.number.says", card=choice.card, count=left)
    return MenuEntry(label, note, choice, brief=brief, about=words("menu.number.about"), spots=spots, says=says)


def _reverse(_view: View, choice: Reverse, seating: Seating) -> MenuEntry:
    words, spots = seating.words, (f"card{REVERSE}",)
    about = words("menu.reverse.about")
    return MenuEntry(words("menu.reverse"), words("menu.reverse.note"), choice, about=about, spots=spots)


def _steal(view: View, choice: Steal, seating: Seating) -> MenuEntry:
    words = seating.words
    if choice.target is None:
        return MenuEntry(words("menu.steal"), words("menu.no_effect"), choice, spots=(f"card{STEAL}",))
    note = words("menu.holds", count=view.players[choice.target].hand_size)
    label, spots = words("menu.steal.from", name=seating.name(choice.target)), (f"card{STEAL}", f"seat{choice.target}")
    return MenuEntry(label, note, choice, about=words("menu.steal.about"), spots=spots)


def _raise(view: View, choice: Raise, seating: Seating) -> MenuEntry:
    words = seating.words
    label = words("menu.raise.to", card=choice.card, pile=_pile(choice.pile, seating))
    note, spots = (
        words("menu.raise.over", card=view.piles[choice.pile].targets[-1]),
        (f"card{choice.card}", f"card{RAISE}"),
    )
    return MenuEntry(label, note, choice, about=words("menu.raise.about"), spots=spots)


def _gift(view: View, choice: Gift, seating: Seating) -> MenuEntry:
    words = seating.words
    if choice.pile is None or choice.target is None:
        return MenuEntry(words("menu.gift.none"), words("menu.no_effect"), choice, spots=(f"card{GIFT}",))
    label = words("menu.gift.to", card=view.piles[choice.pile].cards[-1], name=seating.name(choice.target))
    note, spots = words("menu.from_pile", pile=_pile(choice.pile, seating)), (f"card{GIFT}", f"seat{choice.target}")
    return MenuEntry(label, note, choice, about=words("menu.gift.about"), spots=spots)


def _snap(view: View, choice: Snap, seating: Seating) -> MenuEntry:
    words = seating.words
    label = words("menu.snap") if choice.card is None else words("menu.snap.target", card=choice.card)
    spots = () if choice.card is None else (f"card{choice.card}",)
    return MenuEntry(label, _describe_taken(view, seating), choice, about=words("menu.snap.about"), spots=spots)


def _describe_taken(view: View, seating: Seating) -> str:
    at_chip = view.piles[view.chip]
    number = len(at_chip.targets) + len(at_chip.cards)
    key = "menu.snap.note.one" if number == 1 else "menu.snap.note.many"
    return seating.words(key, cards=seating.words.count("card", number))


def _pile(pile: int, seating: Seating) -> str:
    return seating.words(f"pile.{pile}")


_GROUPS: Final[dict[type[Any], tuple[str, Callable[[View, Any, Seating], MenuEntry]]]] = {
    Reverse: ("reverse", _reverse),
    Steal: ("steal", _steal),
    Raise: ("raise", _raise),
    Gift: ("gift", _gift),
    Snap: ("snap", _snap),
}
