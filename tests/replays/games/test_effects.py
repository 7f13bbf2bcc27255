"""What a move does to a table that moves and sounds: known kinds, and a line in every language for what hurts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from rollbook.match.events import Chosen, Happened
from rollbook.match.fold import MatchFold
from rollbook.rules.catalogue import current
from rollbook.rules.game import Watcher
from rollbook_clients.web.effects import FELT
from rollbook_replays.games import presentation
from rollbook_replays.games.presentation import Effect, Moment
from tests.replays.games.stage import after_each_event, seated

QUIET = {"", "throw", "step", "draw", "take", "place"}
SEEDS = range(7, 12)


def effects(name: str) -> Iterator[tuple[Effect, str, MatchFold]]:
    """The effect of every move of some matches, with its highlight and the match after it."""
    shown = presentation(name)
    for seed in SEEDS:
        before: Any = None
        for _, event, match in after_each_event(name, seed=seed):
            view: Any = match.game.view(match.state, Watcher.JUDGE)
            seat = event.seat if isinstance(event, Chosen) else getattr(before, "seat", None)
            if isinstance(event, Chosen | Happened) and seat is not None:
                move = event.choice if isinstance(event, Chosen) else event.outcome
                moment = Moment(seat, before, view)
                yield shown.effect(move, moment), shown.highlight(move, moment), match
                assert shown.effect(move, Moment(seat)).kind in FELT | QUIET
            before = view


@pytest.mark.parametrize("name", current())
def test_every_move_has_a_known_kind_and_what_hurts_a_line(name: str) -> None:
    """The same moves are felt as are highlights of a replay; a line names the seat, in both languages."""
    kinds: Counter[str] = Counter()
    for effect, highlight, match in effects(name):
        kinds[effect.kind] += 1
        assert effect.kind in FELT | QUIET
        if highlight in FELT and effect.kind not in FELT:
            # A payment for a miss has been felt at the throw before.
            assert (highlight, effect.kind) == ("bust", "place")
        for language in ("en", "de"):
            seating = seated(match, language=language)
            for key in filter(None, (effect.line, effect.log)):
                assert effect.seat is not None
                assert seating.name(effect.seat) in effect.say(key, seating)
    assert sum(kinds[kind] for kind in FELT) > 3, kinds
    assert sum(kinds[kind] for kind in QUIET - {""}) > 30, kinds


def test_a_bust_says_what_it_costs() -> None:
    """The steps of all runners, counted from the markers; the dice of the throw are kept, as the view lacks them."""
    found = [effect for effect, _, _ in effects("cant_stop") if effect.kind == "bust" and effect.count is not None]
    assert found
    assert all(len(effect.dice) == 4 for effect in found)
    assert {effect.line for effect in found if effect.count != ("step", 0)} == {"effect.bust"}
    assert all(effect.count is not None and effect.count[1] >= 0 for effect in found)
