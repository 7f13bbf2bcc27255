"""Facts about Allie Gator for shared tests; `material.py` explains each part."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rollbook.rules.allie_gator import moves
from tests.replays.game_pages import numbers, spread, table
from tests.rules import positions_allie_gator

PILE = range(2)
NUMBER_CARD = range(1, 71)
CARD = range(1, 75)

SEATS = 3

BOUNDS = {
    "AllieGatorChoice.Gift.pile": PILE,
    "AllieGatorChoice.Number.card": NUMBER_CARD,
    "AllieGatorChoice.Number.pile": PILE,
    "AllieGatorChoice.Raise.card": NUMBER_CARD,
    "AllieGatorChoice.Raise.pile": PILE,
    "AllieGatorChoice.Snap.card": NUMBER_CARD,
    "AllieGatorHidden.cards": CARD,
    "AllieGatorOutcome.Draw.count": range(1, 6),
    "AllieGatorOutcome.Target.card": NUMBER_CARD,
    "AllieGatorOutcome.Target.pile": PILE,
    "AllieGatorView.Player.hand": CARD,
    "AllieGatorView.Player.hand_size": range(6),
    "AllieGatorView.Player.teeth": range(7),
    "AllieGatorView.chip": PILE,
    "AllieGatorView.round": range(1, 100),
}

COUNTS = {
    "AllieGatorLegalChoices.choices": range(1, 10_000),
    "AllieGatorView.piles": [2],
}

ASCENDING = {
    "AllieGatorView.Player.hand": None,
}


def material(state: Any) -> object:
    """Return the eighty-eight cards, each in one place."""
    places = (state.targets, state.laid, state.hands, state.penalties, [state.stock])
    return sorted(Counter(card for piles in places for pile in piles for card in pile).items())


def set_up(setup: dict[str, Any]) -> Any:
    """Return the state of a position in the perft file."""
    return positions_allie_gator.Position(**setup).state()


def compare_page(page: str) -> None:
    """Compare the tables of the page with the material of the rules."""
    rows = table(page, "cards")
    deck = [card for row in rows for card in spread(row["cards"]) for _ in range(int(row["of each"]))]
    assert list(moves.DECK) == deck
    assert f"{len(deck)} cards." in page
    assert list(moves.SPECIALS.values()) == [row["what"] for row in rows[1:]]
    assert numbers(page) == {
        "piles": len(moves.PILES),
        "cards of a full hand": moves.HAND,
        "most teeth of a seat": moves.MOST_TEETH,
    }
