"""Legal light: what the page lets glow is exactly what the legal choices touch, and all of it is drawn."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import count, islice
from random import Random
from typing import Any, Final

import pytest

from rollbook.match.fold import MatchFold
from rollbook.rules.catalogue import current
from rollbook_clients.web.scenes import choices_of
from rollbook_replays.games import presentation
from rollbook_replays.games.words import Words
from tests.replays.games.stage import choosing, menu_of

SEED: Final = int(os.environ.get("ROLLBOOK_SEED", "8"))
FEW, MANY = 200, 10_000
ID: Final = re.compile(r' id="([^"]+)"')


def positions(game: str) -> Iterator[tuple[int, MatchFold]]:
    """Yield moments at which a seat is to choose, of one match after the other, with different seats and options."""
    random, rules = Random(SEED), current()[game]
    for seed in count(SEED):
        options = {option.name: random.choice(list(option.values)[:5]) for option in rules.options}
        yield from choosing(game, random.choice(list(rules.seats)), options, seed)


def list_drawn(match: MatchFold, seat: int) -> set[str]:
    """The ids of all things in the picture that the seat sees, and the plates of the players."""
    shown = presentation(match.game.name)
    assert shown.picture is not None
    picture = shown.picture(match.game.view(match.state, seat), Words("en").also(shown.texts))
    ids = {name for zone in picture.zones for shape in zone.shapes for name in ID.findall(shape)}
    return ids | {f"seat-{number}" for number in range(len(match.taken))}


def compare(match: MatchFold, seat: int) -> None:
    """Assert that the things of the menu are those of the legal choices, in both modes, and are drawn."""
    shown, view, legal = (
        presentation(match.game.name),
        match.game.view(match.state, seat),
        match.game.legal(match.state),
    )
    menu, things = menu_of(match, seat), list_drawn(match, seat)
    offered = {thing.removeprefix("+") for choice in choices_of(menu) for thing in shown.touched(view, choice)}
    if isinstance(menu, tuple):
        touched = {thing.removeprefix("+") for choice in legal for thing in shown.touched(view, choice)}
        same = {thing for group in shown.alike(view) if offered & set(group) for thing in group}
        assert touched == offered | (touched & same)
    else:
        plays: Any = legal
        playable = {die for offer in plays.plays for die in offer.dice}
        assert menu.fitting == (playable | set(plays.doubles) if playable else set(plays.rerolls))
        touched = {f"die-{die}" for die in plays.rerolls}
        assert offered <= {f"die-{die}" for die in menu.fitting} <= touched
        assert touched == {f"die-{piece.name}" for piece in menu.pieces}
    assert touched | offered <= things


@pytest.mark.parametrize("most", [FEW, pytest.param(MANY, marks=[pytest.mark.slow, pytest.mark.timeout(3_600)])])
@pytest.mark.parametrize("game", current())
def test_light_is_on_what_the_legal_choices_touch(game: str, most: int) -> None:
    """At random positions of matches with different seats and options."""
    print("seed", SEED)
    for seat, match in islice(positions(game), most):
        compare(match, seat)
