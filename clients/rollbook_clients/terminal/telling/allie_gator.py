"""Allie Gator, told: what was laid and taken, and of hidden cards as much as this pair of eyes may know."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from rollbook.v1.allie_gator_pb2 import AllieGatorChoice, AllieGatorHidden, AllieGatorOutcome
from rollbook_clients.terminal.boards.allie_gator import card_name
from rollbook_clients.terminal.seating import Seating
from rollbook_clients.terminal.telling.lines import line


class AllieGatorTeller:
    """Remembers who stole last, which the outcome does not say."""

    def __init__(self) -> None:
        """Nobody has."""
        self._thief = 0

    def happened(self, outcome: AllieGatorOutcome, hidden: AllieGatorHidden | None, seating: Seating) -> list[Text]:
        """Cards drawn, open or hidden."""
        words = seating.words
        kind = outcome.WhichOneof("kind")
        known = "" if hidden is None else words.both(card_name(card, words) for card in hidden.cards)
        if kind == "first_seat":
            return [line(outcome.first_seat.seat, "told.first_seat", seating)]
        if kind == "target":
            pile = words(f"allie_gator.pile.{outcome.target.pile}")
            return [Text(words("told.target", card=outcome.target.card, pile=pile))]
        if kind == "steal":
            return [line(self._thief, "told.stolen", seating, card=known)] if known else []
        cards = known or words.count("card", outcome.draw.count)
        return [line(outcome.draw.seat, "told.draws", seating, cards=cards)]

    def chosen(self, seat: int, choice: AllieGatorChoice, seating: Seating) -> list[Text]:
        """The card that was laid, or the snap."""
        self._thief = seat
        kind = choice.WhichOneof("kind") or "number"
        move: Any = getattr(choice, kind)
        facts: dict[str, Any] = {}
        is_bare = False
        if kind in {"number", "raise", "snap"}:
            is_bare = kind == "snap" and not move.HasField("card")
            facts["card"] = move.card
        if kind in {"number", "raise"}:
            facts["pile"] = seating.words(f"allie_gator.pile.{move.pile}")
        if kind in {"steal", "gift"}:
            is_bare = not move.HasField("target")
            facts["other"] = seating.name(move.target)
        said = line(seat, f"told.{kind}.bare" if is_bare else f"told.{kind}", seating, **facts)
        if kind == "snap":
            said.stylize("bold")
        return [said]
