"""Facts about Würfelzoo for shared tests; `material.py` explains each part."""

from __future__ import annotations

from typing import Any

from rollbook.rules.wuerfelzoo import moves
from rollbook.rules.wuerfelzoo.state import TABLE
from tests.replays.game_pages import faces_of, spread, table
from tests.rules import positions_wuerfelzoo

DIE = range(50)
ANIMAL = range(1, 7)

SEATS = 3

BOUNDS = {
    "WuerfelzooChoice.Play.dice": DIE,
    "WuerfelzooChoice.Reroll.dice": DIE,
    "WuerfelzooOutcome.Draw.dice": DIE,
    "WuerfelzooOutcome.Roll.dice": DIE,
    "WuerfelzooTurnChoices.PlayOffer.fewest": range(1, 51),
    "WuerfelzooTurnChoices.PlayOffer.most": range(1, 51),
    "WuerfelzooTurnChoices.PlayOffer.species": ANIMAL,
    "WuerfelzooView.bag": DIE,
    "WuerfelzooView.round": range(1, 100),
    "WuerfelzooView.uses": range(50),
}

COUNTS = {
    "WuerfelzooOutcome.Draw.dice": range(1, 50),
    "WuerfelzooOutcome.Roll.dice": range(1, 50),
    "WuerfelzooTurnChoices.PlayOffer.dice": range(1, 50),
    "WuerfelzooTurnChoices.rerolls": range(1, 50),
    "WuerfelzooView.box": [0],
}

ASCENDING = {
    "WuerfelzooChoice.Play.dice": None,
    "WuerfelzooChoice.Reroll.dice": None,
    "WuerfelzooOutcome.Roll.dice": None,
    "WuerfelzooTurnChoices.PlayOffer.dice": None,
    "WuerfelzooTurnChoices.doubles": None,
    "WuerfelzooTurnChoices.rerolls": None,
    "WuerfelzooView.DiceInFront.dice": "die",
    "WuerfelzooView.bag": None,
    "WuerfelzooView.doubles": None,
    "WuerfelzooView.middle": None,
    "WuerfelzooView.thrown": None,
}


def material(state: Any) -> object:
    """Return the fifty dice, each in one place: the table's are in the middle or played as x2."""
    assert len(state.where) == len(state.faces) == 50
    on_table = [die for die, place in enumerate(state.where) if place == TABLE]
    assert sorted([*state.middle, *state.doubles]) == on_table
    return len(state.where)


def set_up(setup: dict[str, Any]) -> Any:
    """Return the state of a position in the perft file."""
    return positions_wuerfelzoo.position(*setup.pop("hands"), **setup)


def compare_page(page: str) -> None:
    """Compare the tables of the page with the material of the rules."""
    dice = {die: faces_of(row) for row in table(page, "dice", "0") for die in spread(row["dice"])}
    assert dict(enumerate(moves.FACES)) == dice
    rows = table(page, "word", "WuerfelzooFace")
    assert {**{row["word"]: int(row["points"]) for row in rows}, moves.NO_FACE: 0} == moves.PENALTIES
    assert moves.SPECIES == tuple(row["word"] for row in rows[: len(moves.SPECIES)])
    assert {int(row["seats"]): int(row["dice of a seat"]) for row in table(page, "seats")} == moves.DEALT
    uses = {row["species"]: row["choice"] for row in table(page, "species")}
    assert {species: species if species in moves.CHOICES else "none" for species in moves.SPECIES} == uses
