"""Allie Gator's choices in words: cards first, then where they go."""

from __future__ import annotations

from collections.abc import Iterable

from rollbook.v1.allie_gator_pb2 import AllieGatorChoice, AllieGatorView
from rollbook.v1.games_pb2 import Choice
from rollbook_clients.terminal.menus.entry import Entry, grouped
from rollbook_clients.terminal.seating import Seating

KINDS = ("number", "reverse", "steal", "raise", "gift", "snap")
"""In this order; the special cards in the order of their numbers."""


def entries(view: AllieGatorView, legal: Iterable[AllieGatorChoice], seating: Seating) -> tuple[Entry, ...]:
    """Number cards one by one; each special card, and the snap, in one entry."""
    of_kind: dict[str, list[Entry]] = {kind: [] for kind in KINDS}
    for choice in legal:
        chosen = choice.WhichOneof("kind")
        if chosen is not None:
            of_kind[chosen].append(_ENTRIES[chosen](view, choice, seating))
    words = seating.words
    menu = of_kind.pop("number")
    for kind, behind in of_kind.items():
        if behind:
            note = _taken(view, seating) if kind == "snap" else words(f"allie_gator.{kind}.note")
            menu.append(grouped(words(f"allie_gator.{kind}"), note, behind))
    return tuple(menu)


def _number(view: AllieGatorView, choice: AllieGatorChoice, seating: Seating) -> Entry:
    words = seating.words
    card, pile = choice.number.card, choice.number.pile
    left = view.piles[pile].targets[-1] - card - 1
    note = words("allie_gator.number.note", count=left) if left else words("allie_gator.number.last")
    return Entry(words("allie_gator.number", card=card, pile=_pile(pile, seating)), note, Choice(allie_gator=choice))


def _reverse(_view: AllieGatorView, choice: AllieGatorChoice, seating: Seating) -> Entry:
    words = seating.words
    return Entry(words("allie_gator.reverse"), words("allie_gator.reverse.note"), Choice(allie_gator=choice))


def _steal(view: AllieGatorView, choice: AllieGatorChoice, seating: Seating) -> Entry:
    words = seating.words
    if not choice.steal.HasField("target"):
        return Entry(words("allie_gator.steal"), words("allie_gator.no_effect"), Choice(allie_gator=choice))
    target = choice.steal.target
    note = words("allie_gator.holds", count=view.players[target].hand_size)
    return Entry(words("allie_gator.steal.from", name=seating.name(target)), note, Choice(allie_gator=choice))


def _raise(view: AllieGatorView, choice: AllieGatorChoice, seating: Seating) -> Entry:
    words = seating.words
    raised = getattr(choice, "raise")
    label = words("allie_gator.raise.to", card=raised.card, pile=_pile(raised.pile, seating))
    note = words("allie_gator.raise.over", card=view.piles[raised.pile].targets[-1])
    return Entry(label, note, Choice(allie_gator=choice))


def _gift(view: AllieGatorView, choice: AllieGatorChoice, seating: Seating) -> Entry:
    words = seating.words
    gift = choice.gift
    if not gift.HasField("pile"):
        return Entry(words("allie_gator.gift.none"), words("allie_gator.no_effect"), Choice(allie_gator=choice))
    card = view.piles[gift.pile].cards[-1]
    label = words("allie_gator.gift.to", card=card, name=seating.name(gift.target))
    return Entry(label, words("allie_gator.from_pile", pile=_pile(gift.pile, seating)), Choice(allie_gator=choice))


def _snap(view: AllieGatorView, choice: AllieGatorChoice, seating: Seating) -> Entry:
    words = seating.words
    if not choice.snap.HasField("card"):
        return Entry(words("allie_gator.snap"), _taken(view, seating), Choice(allie_gator=choice))
    label = words("allie_gator.snap.target", card=choice.snap.card)
    return Entry(label, _taken(view, seating), Choice(allie_gator=choice))


def _taken(view: AllieGatorView, seating: Seating) -> str:
    at_chip = view.piles[view.chip]
    return seating.words(
        "allie_gator.snap.note", cards=seating.words.count("card", len(at_chip.targets) + len(at_chip.cards))
    )


def _pile(pile: int, seating: Seating) -> str:
    return seating.words(f"allie_gator.pile.{pile}")


_ENTRIES = {
    "number": _number,
    "reverse": _reverse,
    "steal": _steal,
    "raise": _raise,
    "gift": _gift,
    "snap": _snap,
}
