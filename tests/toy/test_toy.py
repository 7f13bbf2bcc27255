"""A fifth game needs only its own files: the toy is played from its folder alone, like an installed package.

The tests add only the folder `toy`, with rules and messages, and its entry point; shared code does not name it. They
show what works for any game that meets the contract.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from rollbook.match.codec.messages import write_choice
from rollbook.match.codec.views import read_view, write_legal, write_view, write_view_bytes
from rollbook.match.events import Happened
from rollbook.match.simulation import Simulation
from rollbook.replay_file.container import read, write
from rollbook.replay_file.key_lines import read_keys
from rollbook.replay_file.recording import Keys, record
from rollbook.rules import catalogue
from rollbook.rules.catalogue import find
from rollbook.rules.game import Watcher
from rollbook.v1.events_pb2 import Event, Private
from rollbook.v1.match_pb2 import MATCH_STATE_FINISHED
from rollbook.v1.refusals_pb2 import RefusalReason
from rollbook_clients.sdk import Confirmed, Ended, Events, Legal, Match, Refused, Revealed, Table, choices, connect
from rollbook_replays.audit.audit import audit
from rollbook_replays.audit.verdicts import Check, Verdict
from rollbook_replays.games import presentation
from rollbook_replays.games.words import Words
from rollbook_replays.narration import draw_board, tell
from tests.replays.forging import SERVICE, judged, relinked
from tests.server.serving import started

FOLDER = Path(__file__).parent
SEED = 8
PATIENCE_SECONDS = 100


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make the toy importable in this process and its children."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setenv("PYTHONPATH", str(FOLDER))
    for found in (catalogue.rulesets, presentation):
        found.cache_clear()
    yield
    for found in (catalogue.rulesets, presentation):
        found.cache_clear()


def rollbook(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command of the program."""
    command = [sys.executable, "-m", "rollbook", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_it_is_listed_among_the_games() -> None:
    """It is listed in alphabetical order, with its options in words."""
    games = list(catalogue.current())
    assert sorted({*games, "toy", "wuerfelzoo"}) == games
    said = rollbook("games")
    assert 0 == said.returncode
    assert all(words in said.stdout for words in ("The Toy", "most, fewest", "3, 2, 4"))


def test_it_is_simulated_and_its_plain_form_checks(tmp_path: Path) -> None:
    """The option and the ace are words in the plain form, and all hidden cards are revealed at the end."""
    files = []
    for seed in range(10):
        file = tmp_path / f"{seed}.jsonl"
        made = rollbook("simulate", "toy", "--seats", "3", "--seed", str(seed), "--option", "aim=fewest", "--json")
        assert 0 == made.returncode, made.stderr
        file.write_text(made.stdout, encoding="utf-8")
        files.append(file)
    assert 0 == rollbook("check", *files).returncode
    lines = "".join(file.read_text(encoding="utf-8") for file in files)
    assert '"options":{"aim":"fewest","hand":3}' in lines
    assert '"ace"' in lines


@pytest.mark.parametrize("aim", ["most", "fewest"])
def test_its_replays_are_exact_and_what_they_hid_is_checked(aim: str) -> None:
    """The audit recomputes everything from the secret, including private data."""
    keys = Keys.of(SEED)
    replay = record(Simulation(find("toy"), {"aim": aim}, 3, SEED, 0), keys.heads)
    audited = audit(write(replay, keys.replays), read_keys(keys.public))
    assert (Verdict.EXACT, {"aim": aim, "hand": 3}) == (audited.verdict, audited.options)
    tampered = replace(replay, private={**replay.private, **dict.fromkeys(list(replay.private)[:1], b"")})
    assert Verdict.EXACT is not audit(write(tampered, keys.replays), read_keys(keys.public)).verdict


def test_what_an_unlisted_game_puts_into_a_file_is_canonical_as_well() -> None:
    """Readers of listed games do not decode an Any, so only the audit with its rules can find hidden data in it."""
    unknown = b"\xfa\x07\x04Anna"
    replay = record(Simulation(find("toy"), {}, 3, SEED, 0), SERVICE.heads)
    audited = judged(replay, SERVICE)
    assert (Verdict.EXACT, "toy") == (audited.verdict, audited.game)
    number = min(replay.private)
    inside, outside = (Private.FromString(replay.private[number]) for _ in range(2))
    inside.hidden.other.value += unknown
    outside.hidden.other.MergeFromString(unknown)
    within, around = (message.SerializeToString(deterministic=True) for message in (inside, outside))
    found = judged(replace(replay, private={**replay.private, number: within}), SERVICE).divergence
    assert found is not None
    assert (number, Check.HIDDEN) == (found.event, found.check)
    assert Verdict.UNREADABLE is judged(replace(replay, private={**replay.private, number: around}), SERVICE).verdict
    kinds = {"opened": "options", "happened": "outcome", "chosen": "choice"}
    for body, wrapper in kinds.items():
        for is_inside in (True, False):
            events = map(Event.FromString, replay.events)
            index, event = next((at, event) for at, event in enumerate(events) if event.WhichOneof("body") == body)
            other = getattr(getattr(event, body), wrapper).other
            if is_inside:
                other.value += unknown
            else:
                other.MergeFromString(unknown)
            found = judged(relinked(replay, index, event.SerializeToString(deterministic=True)), SERVICE).divergence
            assert found is not None
            assert (index + 1, Check.CONTAINER) == (found.event, found.check)


def test_its_views_come_back_from_their_messages() -> None:
    """An empty hand differs from a hidden one."""
    game = find("toy")
    match = Simulation(game, {}, 2, SEED, 0)
    for _ in match.events():
        state = match.match.state
        for perspective in (*Watcher, 0, 1):
            view: Any = game.view(state, perspective)
            expected = replace(
                view,
                players=tuple(
                    replace(player, hand=() if not player.hand_size else player.hand) for player in view.players
                ),
            )
            written = write_view(game, view)
            assert expected == read_view(game, written)
            assert written.SerializeToString(deterministic=True) == write_view_bytes(game, view)


@pytest.mark.parametrize(("language", "said"), [("en", "Lay cards; as many"), ("de", "Leg Karten aus")])
def test_its_rules_are_its_help_where_it_has_no_guide(language: str, said: str) -> None:
    """A game without a guide shows at least a paragraph."""
    explained = rollbook("rules", "toy", "--language", language)
    assert (0, "The Toy", "") == (explained.returncode, *explained.stdout.splitlines()[:2])
    assert explained.stdout.splitlines()[2].startswith(said)


def test_its_choices_are_made_and_shown_by_their_words() -> None:
    """The SDK handles them like those of a listed game: in a list, by name, and as words for `match.choose`."""
    game = find("toy")
    match = Simulation(game, {}, 2, SEED, 0)
    state = next(
        match.match.state
        for _, event in match.events()
        if isinstance(event, Happened) and match.match.state.served == 2
    )
    legal = Legal(write_legal(game, game.legal(state)))
    assert "Legal(name 0, name 1)" == repr(legal)
    assert "[name 0, name 1]" == repr(list(legal))
    lay = choices.Toy.lay(1, 5)
    assert write_choice(game, game.choices["lay"]((1, 5))) == lay == choices.from_words("toy", str(lay))
    assert "lay 1 5" == str(lay)
    assert {"Toy", "CantStop"} < set(dir(choices))
    with pytest.raises(ValueError, match="is no choice of toy, which has lay, name"):
        choices.from_words("toy", "jump")


def test_it_is_served_watched_archived_and_audited(tmp_path: Path) -> None:
    """At a real service two guests play, a seat and a stranger watch, and the file is exact."""
    data = tmp_path / "data"
    words = ["serve", "--data", str(data), "--listen", "127.0.0.1:0", "--durability", "relaxed", "--archive-after", "0"]
    with started([sys.executable, "-m", "rollbook", *words]) as service:
        address = service.address
        match_id = asyncio.run(played(address))
        file = data / "archive" / f"{match_id}.rollbook"
        asyncio.run(archived(file))
        keys = tmp_path / "keys"
        keys.write_text(rollbook("key", data, "--published").stdout, encoding="ascii")
        service.process.terminate()
        assert 0 == service.ended()
    assert "toy" == read(file.read_bytes()).replay.game
    said = rollbook("audit", "--key", keys, file)
    assert (0, True) == (said.returncode, "EXACT" in said.stdout), said


async def archived(file: Path) -> None:
    """Wait until the match is in the archive."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not file.exists():  # noqa: ASYNC110 - another process's work
            await asyncio.sleep(0.05)


async def played(address: str) -> str:
    """Play a whole match at this service; returns its id."""
    async with (
        asyncio.timeout(PATIENCE_SECONDS),
        connect(address, name="Anna") as anna,
        connect(address, name="Ben") as ben,
        connect(address, name="Eve") as eve,
    ):
        (ruleset,) = [each for each in await anna.games() if each.game == "toy"]
        assert ["aim", "hand"] == [option.name for option in ruleset.options]
        with pytest.raises(Refused) as refused:
            await anna.open("toy", 4)
        assert "SEATS_OUT_OF_RANGE" == refused.value.reason
        match = await anna.open("toy", 2, {"aim": "fewest", "hand": 4})
        stranger = asyncio.create_task(watched(eve, match.id))
        seats = [play(each, Random(SEED + number)) for number, each in enumerate((match, ben.match(match.id)))]
        await asyncio.gather(*seats)
        assert_hidden(await stranger)
        state = await match.state()
        assert MATCH_STATE_FINISHED == state.summary.state
        assert "rollbook" not in state.summary.options.other.type_url
        return match.id


async def play(match: Match, rng: Random) -> None:
    """Play a seat to the end; tries one illegal choice, which the toy's rules refuse."""
    game = find("toy")
    seat = (await match.join()).number
    await match.ready()
    tried = False
    async for moment in match.play():
        if not moment.legal:
            continue
        view = read_view(game, moment.view)
        hand = view.players[seat].hand
        assert all(player.hand in {None, ()} for number, player in enumerate(view.players) if number != seat)
        if view.seat is not None and 1 in hand and len(hand) > 1 and not tried:
            tried = True
            with pytest.raises(Refused) as refused:
                await match.choose("lay 1")
            assert ("RULE", "ace_goes_last") == (refused.value.reason, refused.value.facts["rule"])
        await match.choose(str(rng.choice(list(moment.legal))))


async def watched(table: Table, match_id: str) -> list[object]:
    """Return all frames that a stranger receives."""
    return [frame async for frame in table.match(match_id).watch()]


def assert_hidden(frames: list[object]) -> None:
    """Assert that a stranger saw no hand before the end, and all hidden cards after it."""
    game = find("toy")
    assert isinstance(frames[0], Confirmed)
    assert isinstance(frames[-1], Ended)
    views = [read_view(game, frame.view) for frame in frames if isinstance(frame, Events)]
    assert views
    assert all(player.hand in {None, ()} for view in views for player in view.players)
    (revealed,) = [frame for frame in frames if isinstance(frame, Revealed)]
    assert 2 == len(revealed.outcomes)


@pytest.mark.parametrize(("language", "said"), [("en", "lays"), ("de", "legt")])
def test_it_is_drawn_and_told_in_both_languages(language: str, said: str) -> None:
    """Every event has its sentence, and every moment a board with the size of each hand."""
    match = Simulation(find("toy"), {}, 3, SEED, 0)
    words = Words(language)
    drawn = ["\n".join(line.plain for line in draw_board(match.match, Watcher.PUBLIC, words)) for _ in match.events()]
    again = Simulation(find("toy"), {}, 3, SEED, 0)
    story = [line.plain for line in tell(again.header, again.events(), words)]
    assert any(said in line for line in story)
    assert {"en": "3 cards", "de": "3 Karten"}[language] in drawn[11]
    assert all(len(board.splitlines()) >= 3 for board in drawn)


def test_a_file_of_it_is_shown(tmp_path: Path) -> None:
    """`rollbook show` prints the account and a board."""
    file = tmp_path / "toy.rollbook"
    keys = Keys.of(SEED)
    file.write_bytes(write(record(Simulation(find("toy"), {}, 2, SEED, 0), keys.heads), keys.replays))
    for words, expected in (((), " lays "), (("--at", "12"), "points"), (("--public",), "3 cards")):
        shown = rollbook("show", file, *words)
        assert (0, True) == (shown.returncode, expected in shown.stdout), shown


def test_its_refusal_is_one_of_the_contract() -> None:
    """A client without the toy knows the reason, and shows the sentence."""
    assert RefusalReason.Name(RefusalReason.REFUSAL_REASON_RULE).endswith("_RULE")
