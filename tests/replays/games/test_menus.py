"""Menus contain exactly the legal choices."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from rollbook.rules.catalogue import current, find
from rollbook.rules.wuerfelzoo.moves import AXES, Play, Reroll
from rollbook.rules.wuerfelzoo.turn_choices import TurnChoices
from rollbook_replays.games.presentation import MenuEntry, Picking
from tests.replays.games.stage import choosing, menu_of

SEED = int(os.environ.get("ROLLBOOK_SEED", "5"))


def choices_among(entries: Iterable[MenuEntry]) -> Iterator[Any]:
    """Yield every choice that the entries lead to."""
    for entry in entries:
        if entry.choice is not None:
            yield entry.choice
        yield from choices_among(entry.entries)


def depth(menu: tuple[MenuEntry, ...]) -> int:
    """Return the depth of nested menus."""
    return 1 + max((depth(entry.entries) for entry in menu if entry.entries), default=0)


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
    """Each legal choice is on the menu exactly once, and no other is."""
    offered = 0
    for seat, match in choosing(game, seats, options, SEED):
        menu = menu_of(match, seat, language)
        reached = list(choices_among(menu))
        assert sorted(map(repr, match.game.legal(match.state))) == sorted(map(repr, reached))
        assert depth(menu) <= 2
        assert all(entry.label for entry in menu)
        assert not any("1 Karte als Minuspunkte" in entry.note for entry in menu)
        offered += len(reached)
    assert offered > 100


def alike(state: Any, choice: Any) -> tuple[Any, ...]:
    """Return a use of an ability with the faces of its dice in place of their identities."""

    def what(die: int) -> tuple[Any, ...]:
        return state.where[die], state.faces[die], AXES[die]

    fields = {name: getattr(choice, name) for name in type(choice).__slots__}
    return type(choice), *((name, value if name == "target" else what(value)) for name, value in fields.items())


def test_a_menu_of_wuerfelzoo_leads_to_every_use_of_an_ability_but_for_dice_that_are_alike() -> None:
    """Dice with equal faces share one entry; every other use has its own."""
    seen = set()
    for seat, match in choosing("wuerfelzoo", 4, {"rounds_to": 30}, SEED):
        legal, menu = match.game.legal(match.state), menu_of(match, seat)
        assert isinstance(legal, TurnChoices) == isinstance(menu, Picking)
        if isinstance(legal, TurnChoices):
            continue
        reached, everything = list(choices_among(menu)), list(legal)
        assert set(reached) <= set(everything)
        assert {alike(match.state, choice) for choice in everything} == {alike(match.state, each) for each in reached}
        assert len({alike(match.state, choice) for choice in reached}) == len(reached)
        seen.add(type(everything[0]).__name__)
    assert {"Bear", "Boar", "Fox", "Squirrel", "Worm"} == seen


@pytest.mark.parametrize("language", ["en", "de"])
def test_picked_dice_can_be_laid_exactly_when_the_rules_say_so(language: str) -> None:
    """The rules decide on picked dice from the description alone: every legal play is allowed, and no other."""
    print(f"seed {SEED}")
    drawn = random.Random(SEED)
    laid = 0
    for seat, match in choosing("wuerfelzoo", 3, {}, SEED):
        legal = find("wuerfelzoo").legal(match.state)
        if not isinstance(legal, TurnChoices):
            continue
        picking = menu_of(match, seat, language)
        assert sorted(legal.rerolls) == sorted(piece.name for piece in picking.pieces)
        for dice in _subsets(legal, drawn):
            lay, reroll = picking.entries(dice)
            if lay.choice is None:
                assert Play(dice) not in legal
                assert lay.note
            else:
                assert lay.choice in legal
                laid += 1
            assert reroll.choice == (Reroll(dice) if dice else None)
    assert laid > 20


def _subsets(legal: TurnChoices, drawn: random.Random) -> Iterator[tuple[int, ...]]:
    """Yield some picks: of one species, with doubles, and of any dice."""
    yield ()
    for offer in legal.plays:
        for count in range(1, len(offer.dice) + 1):
            animals = drawn.sample(offer.dice, count)
            doubles = [die for die in legal.doubles if drawn.random() < 0.5]
            yield tuple(sorted((*animals, *doubles)))
    for _ in range(10):
        yield tuple(sorted(drawn.sample(legal.rerolls, drawn.randint(1, len(legal.rerolls)))))


@pytest.mark.parametrize("game", current())
def test_every_game_has_a_menu(game: str) -> None:
    """Every game can be played by its menu."""
    seat, match = next(choosing(game))
    assert menu_of(match, seat)
