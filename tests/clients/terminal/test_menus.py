"""Menus hold what is legal, all of it, and nothing else."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from typing import Any

import pytest

from rollbook.match.codec.views import write_legal, write_view
from rollbook.match.simulation import Simulation
from rollbook.rules.catalogue import current, find
from rollbook.rules.game import ToChoose
from rollbook.rules.wuerfelzoo import AXES, TurnChoices
from rollbook.v1.games_pb2 import Choice, LegalChoices, View
from rollbook_clients.terminal.language import Words
from rollbook_clients.terminal.menus import entries
from rollbook_clients.terminal.menus.entry import Entry, choices_among
from rollbook_clients.terminal.picking import picked
from rollbook_clients.terminal.seating import Seating

SEED = int(os.environ.get("ROLLBOOK_SEED", "5"))
NAMES = ("Anna", "Tom", "Willi", "Heike", "Rita", "Peter")


def moments(name: str, seats: int, options: dict[str, Any], seed: int = SEED) -> Iterator[tuple[int, Any, View]]:
    """Every moment of a simulated match at which a seat is to choose: the seat, the state, its view."""
    game = find(name)
    played = Simulation(game, options, seats, seed, 0)
    for _ in played.events():
        match = played.match
        awaited = match.awaited if match.started and match.sealed is None else None
        if isinstance(awaited, ToChoose):
            yield awaited.seat, match.state, write_view(game, game.view(match.state, awaited.seat))


def legal_message(name: str, state: Any) -> LegalChoices:
    """What the service would say is legal."""
    game = find(name)
    return write_legal(game, game.legal(state))


def depth(menu: tuple[Entry, ...]) -> int:
    """How many menus lie behind each other."""
    return 1 + max((depth(entry.leads_to) for entry in menu if isinstance(entry.leads_to, tuple)), default=0)


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize(
    ("game", "seats", "options"),
    [
        ("cant_stop", 2, {"columns_to_win": 5}),
        ("cant_stop", 4, {"free_fields": True}),
        ("raffzahn", 3, {}),
        ("raffzahn", 5, {"announce": True, "edition": "original"}),
        ("allie_gator", 2, {}),
        ("allie_gator", 5, {}),
    ],
    ids=str,
)
def test_a_menu_leads_to_every_legal_choice_once_and_to_no_other(
    game: str, seats: int, options: dict[str, Any], language: str
) -> None:
    """What is not on the menu cannot be played; what is not legal must not be offered."""
    offered = 0
    for seat, state, view in moments(game, seats, options):
        legal = legal_message(game, state)
        menu = entries(view, legal, Seating(NAMES[:seats], seat, None, Words(language)))
        reached = sorted(choice.SerializeToString(deterministic=True) for choice in choices_among(menu))
        listed = [Choice(**{game: choice}) for choice in getattr(legal, game).choices]
        assert sorted(choice.SerializeToString(deterministic=True) for choice in listed) == reached
        assert depth(menu) <= 2
        assert all(entry.label for entry in menu)
        offered += len(reached)
    assert offered > 100


def alike(state: Any, choice: Any) -> tuple[Any, ...]:
    """A use of an ability, with what its dice are in place of which they are."""

    def what(die: int) -> tuple[Any, ...]:
        return state.where[die], state.faces[die], AXES[die]

    fields = {name: getattr(choice, name) for name in type(choice).__slots__}
    return type(choice), *((name, value if name == "target" else what(value)) for name, value in fields.items())


def test_a_menu_of_wuerfelzoo_leads_to_every_use_of_an_ability_but_for_dice_that_are_alike() -> None:
    """Dice with equal faces are equal to everybody, so one entry is enough for them; no other use may be missing."""
    game = find("wuerfelzoo")
    seen = set()
    for seat, state, view in moments("wuerfelzoo", 4, {"rounds_to": 30}):
        legal = legal_message("wuerfelzoo", state)
        if legal.wuerfelzoo.HasField("described"):
            assert entries(view, legal, Seating(NAMES[:4], seat, None, Words("en"))) == ()
            continue
        menu = entries(view, legal, Seating(NAMES[:4], seat, None, Words("en")))
        reached = [_read(game, choice) for choice in choices_among(menu)]
        everything = list(game.legal(state))
        assert set(reached) <= set(everything)
        assert {alike(state, choice) for choice in everything} == {alike(state, choice) for choice in reached}
        assert len({alike(state, choice) for choice in reached}) == len(reached)
        seen.add(type(everything[0]).__name__)
    assert {"Bear", "Boar", "Fox", "Squirrel", "Worm"} == seen


def _read(game: Any, choice: Choice) -> Any:
    from rollbook.match.codec.messages import read_choice  # noqa: PLC0415 - only here

    return read_choice(game, choice)


@pytest.mark.parametrize("language", ["en", "de"])
def test_picked_dice_can_be_laid_exactly_when_the_rules_say_so(language: str) -> None:
    """The picker judges by the description alone; it must neither forbid a play nor offer an illegal one."""
    print(f"seed {SEED}")
    drawn = random.Random(SEED)
    words = Words(language)
    laid = 0
    for _, state, _ in moments("wuerfelzoo", 3, {}):
        legal = find("wuerfelzoo").legal(state)
        if not isinstance(legal, TurnChoices):
            continue
        offered = legal_message("wuerfelzoo", state).wuerfelzoo.described
        for dice in _subsets(legal, drawn):
            now = picked(dice, offered, words)
            if now.play is None:
                assert not any(play in legal for play in _plays(dice))
                assert now.play_note
            else:
                assert _read(find("wuerfelzoo"), now.play) in legal
                laid += 1
            assert (now.reroll is None) == (not dice)
    assert laid > 20


def _subsets(legal: TurnChoices, drawn: random.Random) -> Iterator[tuple[int, ...]]:
    """Some picks: of one species, with doubles, and of anything."""
    yield ()
    for offer in legal.plays:
        for count in range(1, len(offer.dice) + 1):
            animals = drawn.sample(offer.dice, count)
            doubles = [die for die in legal.doubles if drawn.random() < 0.5]
            yield tuple(sorted((*animals, *doubles)))
    for _ in range(10):
        yield tuple(sorted(drawn.sample(legal.rerolls, drawn.randint(1, len(legal.rerolls)))))


def _plays(dice: tuple[int, ...]) -> list[Any]:
    from rollbook.rules.wuerfelzoo import Play  # noqa: PLC0415 - only here

    return [Play(dice)]


def test_every_game_has_a_menu() -> None:
    """A game that nobody can choose in cannot be played."""
    assert {"allie_gator", "cant_stop", "raffzahn", "wuerfelzoo"} == set(current())
