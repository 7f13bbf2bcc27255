"""Matches in words: the player of each move, its effect, and nothing beyond the reader's perspective."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from rollbook.match.events import Chosen, Event, Happened, Sealed
from rollbook.match.fold import MatchFold
from rollbook.rules.allie_gator.moves import Drawn, Stolen
from rollbook.rules.catalogue import current
from rollbook.rules.chance import FirstSeat
from rollbook.rules.game import Perspective, Watcher
from rollbook.rules.raffzahn import moves as raffzahn
from rollbook.rules.wuerfelzoo import moves as wuerfelzoo
from rollbook_replays.games.presentation import Sentence
from rollbook_replays.games.seats import SIGNS
from rollbook_replays.games.wuerfelzoo.animals import SIGNS as SIGNS_OF_FACES
from rollbook_replays.narration import Narrator
from tests.replays.games.stage import Given, seated, simulation

DOUBLED = SIGNS_OF_FACES["x2"]


def told(  # noqa: PLR0917 - what a match and its reader are
    game: str,
    seats: int | None = None,
    options: Given | None = None,
    seed: int = 7,
    eyes: Perspective = Watcher.JUDGE,
    language: str = "en",
) -> Iterator[tuple[Event, list[Sentence], MatchFold, MatchFold]]:
    """Yield every event in this perspective with its lines, and the match before and after it."""
    played = simulation(game, seats, options, seed)
    before = played.match.copy()
    seating = seated(before, None, language)
    narrator = Narrator(before.game, before.opened)
    for _, event in played.events():
        after = played.match.copy()
        seen = before.as_seen(event, eyes)
        yield seen, narrator.tell(seen, seating), before, after
        before = after


def words_of(lines: list[Sentence]) -> list[str]:
    """Return the plain text of lines."""
    return [line.text.plain for line in lines]


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("game", current())
def test_every_event_of_a_match_is_told_and_the_places_come_last(game: str, language: str) -> None:
    """Every event has a line, also in short accounts, which omit only what the next line repeats."""
    lines: list[str] = []
    for event, said, _, after in told(game, language=language):
        assert said
        assert all(line.text.plain.strip() for line in said)
        lines += words_of(said)
        if isinstance(event, Sealed):
            assert event.places is not None
            first = event.places.index(1)
            assert f"1. {SIGNS[first]} {after.opened.names[first]}" == lines[-len(event.places)]


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("game", current())
def test_every_kind_of_move_is_told_in_both_languages(game: str, language: str) -> None:
    """A move without words would end a program in the middle of a match."""
    kinds = {*current()[game].choices.values(), *current()[game].outcomes.values()}
    for options in (
        {},
        {option.name: option.values[-1] for option in current()[game].options if option.values[-1] is True},
    ):
        for seed in range(4):
            if not kinds:
                break
            for event, said, _, _ in told(game, None, options, seed, language=language):
                if isinstance(event, Happened | Chosen):
                    assert said
                    kinds.discard(type(event.outcome if isinstance(event, Happened) else event.choice))
    assert set() == kinds


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("game", "seats", "options"),
    [
        ("cant_stop", 2, {}),
        ("cant_stop", 4, {"hasty": True}),
        ("raffzahn", 3, {}),
        ("raffzahn", 4, {"announce": True}),
        ("raffzahn", 3, {"announce": True, "edition": "original"}),
    ],
    ids=str,
)
def test_a_throw_is_told_of_the_seat_that_the_rules_say_threw(
    game: str, seats: int, options: dict[str, Any], seed: int
) -> None:
    """Throws do not contain a seat; the fold knows it, through busts, own hits and extra turns."""
    thrown = 0
    for event, lines, before, _ in told(game, seats, options, seed):
        if isinstance(event, Happened) and not isinstance(event.outcome, FirstSeat):
            assert {SIGNS[before.state.seat]} == {line[0] for line in words_of(lines)}
            thrown += 1
    assert thrown > 30


def test_dice_of_wuerfelzoo_are_thrown_by_whoever_drew_them() -> None:
    """A squirrel makes another seat draw, and a bear throws a die of another seat again."""
    whose = Counter[str]()
    for event, lines, before, _ in told("wuerfelzoo", 4, {"rounds_to": 30}):
        if isinstance(event, Happened) and before.state.stage == 2:
            assert words_of(lines)[0].startswith(SIGNS[before.state.drawer])
            whose["own" if before.state.drawer == before.state.seat else "other"] += 1
    assert whose["other"] > 3


def test_a_bust_of_cants_stop_is_told_with_the_throw() -> None:
    """The line appears exactly where the rules give the turn to another seat after a throw."""
    busts = 0
    for event, lines, before, after in told("cant_stop", 3):
        if isinstance(event, Happened) and not isinstance(event.outcome, FirstSeat):
            assert (before.state.seat != after.state.seat) == ("busts!" in words_of(lines)[-1])
            busts += before.state.seat != after.state.seat
    assert busts > 3


def told_of(game: str, kind: type[Any], options: Given | None = None) -> Iterator[tuple[Any, str, Any, Any]]:
    """Yield every choice of this kind in some matches: its line in a short account, and the views around it."""
    for seed in range(6):
        for event, lines, before, after in told(game, None, options, seed):
            if isinstance(event, Chosen) and isinstance(event.choice, kind):
                said = "; ".join(line.text.plain for line in lines if not line.is_implied)
                view = before.game.view
                yield event.choice, said, view(before.state, Watcher.JUDGE), view(after.state, Watcher.JUDGE)


@pytest.mark.parametrize("edition", ["revised", "original"])
def test_a_tile_that_stars_give_is_told_with_the_stars(edition: str) -> None:
    """Two stars give the lowest tile of the middle, three the highest; a tile by its sum needs no reason."""
    found = Counter[str]()
    for choice, said, before, _ in told_of("raffzahn", raffzahn.Take, {"edition": edition}):
        stars = before.dice.count("star")
        is_sum = choice.tile == sum(int(face) for face in before.dice if face.isdigit())
        reason = "" if is_sum else {2: "two stars, the lowest tile", 3: "three stars, the highest tile"}.get(stars, "")
        assert is_sum or reason
        assert ("star" in said) == bool(reason)
        assert reason in said
        found[reason] += 1
        if reason:
            assert choice.tile == (min, max)[stars - 2](before.middle)
    assert found["two stars, the lowest tile"]


def test_dice_that_are_thrown_again_are_named() -> None:
    """Raffzahn names dice by colour, Würfelzoo by face."""
    for choice, said, _, _ in told_of("raffzahn", raffzahn.Roll):
        names = ("yellow", "1st", "2nd")
        assert said.endswith("again")
        named = [number for number, name in enumerate(names) if name in said]
        assert tuple(named) == choice.dice or ("all dice" in said and len(choice.dice) == 3)
    for choice, said, before, _ in told_of("wuerfelzoo", wuerfelzoo.Reroll):
        faces = {die.die: die.face for row in before.dice for die in row}
        counts = Counter(faces[die] for die in choice.dice)
        assert sum(map(int, re.findall(r"(\d+) ", said))) == len(choice.dice)
        assert all(f"{counts[face]} {face.replace('x2', DOUBLED)}" in said for face in counts)


def test_a_rotten_tooth_and_a_miss_are_told_with_what_they_cost() -> None:
    """A rotten tooth ends the turn; a miss names the tiles that are paid for it."""
    for event, lines, before, after in told("raffzahn", 5, seed=3):
        if isinstance(event, Happened) and "rotten" in str(event.outcome):
            assert words_of(lines)[-1].endswith("the turn ends")
            assert before.state.seat != after.state.seat
    paid = 0
    for choice, said, _, _ in told_of("raffzahn", raffzahn.Surrender):
        assert "pays for the miss with" in said
        assert all(re.search(rf"\b{tile}\b", said) for tile in choice.tiles)
        paid += 1
    assert paid


def test_own_hits_and_losses_of_raffzahn_are_told_apart() -> None:
    """Each automatic effect of a throw has its own sentence: a tile turned up, a tile lost, or all tiles lost."""
    found = Counter[str]()
    for seed in range(8):
        if len(found) == 4:
            break
        for event, lines, before, after in told("raffzahn", 5, seed=seed):
            said = words_of(lines)[-1]
            seat = before.state.seat
            found.update(key for key in ("turned face up", "leaves the game", "costs all", "misses") if key in said)
            if "costs all tiles" in said:
                assert (0, 0) == (after.state.open_tiles[seat], after.state.safe_tiles[seat])
            view = before.game.view
            gone = set(view(after.state, 0).out) - set(view(before.state, 0).out)  # type: ignore[attr-defined]  # of any game
            if gone and isinstance(event, Happened):
                assert "leaves the game" in said or "costs all tiles" in said
            if isinstance(event, Happened) and before.started and after.state.seat != seat and len(lines) == 1:
                assert "rotten tooth" in said or "starts" in said
    assert 4 == len(found), found


@pytest.mark.parametrize("eyes", [0, 1, 2, Watcher.PUBLIC], ids=str)
def test_a_story_tells_hidden_cards_to_those_who_saw_them_alone(eyes: Perspective) -> None:
    """The words are made from the view of the perspective, and contain nothing beyond it."""
    counted = 0
    everything = [words_of(lines) for _, lines, _, _ in told("allie_gator", 3)]
    for (event, lines, _, _), known in zip(told("allie_gator", 3, eyes=eyes), everything, strict=True):
        outcome = event.outcome if isinstance(event, Happened) else None
        if isinstance(outcome, Drawn):
            assert (words_of(lines) == known) == (eyes == outcome.seat)
            counted += any("draws 5 cards" in line for line in words_of(lines))
    assert counted


def test_a_story_goes_on_behind_what_is_hidden() -> None:
    """A viewer who may not see a card still reads who stole it from whom, and who played which card."""
    for (event, lines, before, _), (_, known, _, _) in zip(
        told("allie_gator", 3, eyes=Watcher.PUBLIC), told("allie_gator", 3), strict=True
    ):
        if isinstance(event, Chosen):
            assert words_of(lines) == words_of(known)
        elif isinstance(event, Happened) and isinstance(event.outcome, Stolen):
            assert [f"{SIGNS[before.state.seat]} The card stays hidden"] == words_of(lines)
