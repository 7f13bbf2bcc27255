"""The page's answers reveal no hidden card, no event before its delay, no erased name, and no ending."""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.replay_file.container import read, write
from rollbook.rules.game import Watcher
from rollbook_clients.sdk import Events, Match
from rollbook_clients.web.boards import REVISION
from tests.clients.commands.test_tail import rollbook
from tests.clients.sdk.tables import pick, play, running, tables, turn
from tests.clients.web.browsing import Answer, Reader, served_page
from tests.server.test_whole_service import run

SEED = int(os.environ.get("ROLLBOOK_SEED", "4"))
GOLDEN = Path(__file__).parents[3] / "replays" / "golden"
NEVER = "a" * 24


def answers(reader: Reader, match_id: str, moments: int = 40) -> Iterator[tuple[str, Answer]]:
    """Yield the page's answers about a match at all its addresses, also for events that do not exist."""
    match = f"/matches/{match_id}"
    paths = ["/", match, f"{match}?eyes=public", f"{match}?eyes=seat-0", f"{match}?eyes=seat-1", f"{match}/overlay"]
    paths += [f"/stream?topic={match_id}{eyes}~" for eyes in ("", ".public", ".seat-0", ".seat-1")]
    paths += [f"{match}/choices?piece=1", f"{match}/file", f"{match}/verify"]
    paths += [f"{match}/boards/{REVISION}/en/{number}.svg" for number in range(1, moments, 3)]
    paths += [f"{match}/seats/{seat}/boards/{REVISION}/en/{moments}.svg" for seat in range(2)]
    paths += [f"{match}/replay", f"{match}/replay?at={moments}", f"{match}/replay?at={moments}&eyes=seat-0"]
    for path in paths:
        yield path, reader.get(path)
    yield "moment", reader.get(f"{match}/replay?at=9", "application/json")


def all_answers(reader: Reader, match_id: str) -> list[tuple[str, Answer]]:
    """Return all answers as a list."""
    return list(answers(reader, match_id))


async def choices(matches: list[Match], number: int, random: Random) -> None:
    """Make this many random choices, each by the awaited player."""
    for _ in range(number):
        match, moment = await turn(matches)
        assert moment.legal
        await match.choose(pick(moment.legal, random))


def test_a_delay_holds_byte_for_byte(tmp_path: Path) -> None:
    """A delayed spectator receives the same bytes at every address, for all choices that players make meanwhile."""
    print("seed", SEED)

    async def scenario() -> None:
        async with served_page(tmp_path) as (service, web), tables(service.address, "Anna", "Ben") as players:
            matches = await running(players, spectator_delay_seconds=300)
            reader = Reader(web.url)
            await asyncio.to_thread(lambda: dict(answers(reader, matches[0].id)))
            before = await asyncio.to_thread(lambda: dict(answers(reader, matches[0].id)))
            await choices(matches, 12, Random(SEED))
            after = await asyncio.to_thread(lambda: dict(answers(reader, matches[0].id)))
            assert before.pop("/").status == after.pop("/").status
            assert {path: answer.content for path, answer in before.items()} == {
                path: answer.content for path, answer in after.items()
            }
            assert "You see this match 300 s late." in after[f"/matches/{matches[0].id}"].text

    run(scenario)


def test_hidden_cards_stay_hidden_byte_for_byte(tmp_path: Path) -> None:
    """Two deals that differ only in hidden cards give the public the same bytes."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (service, web), tables(service.address, "Anna", "Ben") as players:
            matches = await running(players, "allie_gator")
            await choices(matches, 4, Random(SEED))
            hands = [await _hand(match) for match in matches]
            assert all(hands)
            for path, answer in await asyncio.to_thread(lambda: list(answers(Reader(web.url), matches[0].id))):
                assert b'id="hand-' not in answer.body, path
                if path.endswith("/file"):
                    assert read(answer.body).replay.private == {}
                if "eyes=seat" in path or "/seats/" in path or "/replay" in path:
                    assert answer.status in {404, 409}, path
                if path.endswith("/replay"):
                    assert "some of it is hidden: it can be replayed when it is finished" in answer.text

    run(scenario)


async def _hand(match: Match) -> tuple[int, ...]:
    async for frame in match.watch():
        if isinstance(frame, Events):
            ((_, view),) = frame.view.ListFields()
            cards = next((tuple(player.hand) for player in view.players if player.hand), ())
            if cards:
                return cards
    return ()


def test_a_private_match_is_not_told_from_none(tmp_path: Path) -> None:
    """A private match and an unknown one give the same status and the same bytes except the address."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (service, web), tables(service.address, "Anna", "Ben") as players:
            matches = await running(players, is_private=True)
            match_id, code = matches[0].id, matches[0].invitation_code
            reader = Reader(web.url)

            def compare() -> None:
                reader.get("/")
                there = [answer for _, answer in answers(reader, match_id)]
                nowhere = [answer for _, answer in answers(reader, NEVER)]
                for one, other in zip(there[1:], nowhere[1:], strict=True):
                    assert one.status == other.status
                    assert one.content.replace(match_id.encode(), NEVER.encode()) == other.content
                    assert one.headers.get("cache-control") == other.headers.get("cache-control") == "no-store"
                assert reader.post(f"/matches/{match_id}/enter", {"code": "b" * len(code)}).status == 404
                assert 'id="enter"' in reader.get(f"/matches/{match_id}").text
                assert reader.post(f"/matches/{match_id}/enter", {"code": code}).status == 200
                assert 'id="player-1"' in reader.get(f"/matches/{match_id}").text
                assert 'id="enter"' in Reader(web.url).get(f"/matches/{match_id}").text
                assert code not in web.said()

            await asyncio.to_thread(compare)

    run(scenario)


def test_a_name_that_was_taken_out_leaves_no_answer(tmp_path: Path) -> None:
    """Cached answers about running and finished matches lose the name with the next request."""
    gone = "Xanthippe-7f3"

    async def scenario() -> None:
        async with served_page(tmp_path) as (service, web), tables(service.address, gone, "Ben") as players:
            over, now = await running(players), await running(players)
            await asyncio.gather(*(play(match, Random(SEED)) for match in over))
            await choices(now, 3, Random(SEED))
            reader, shown = Reader(web.url), 0
            for match in (over[0], now[0]):
                for _, answer in await asyncio.to_thread(all_answers, reader, match.id):
                    shown += gone.encode() in answer.body
            assert shown
            code, _, said = await rollbook("forget", "--data", str(tmp_path / "data"), "--player", gone)
            assert 0 == code, said
            deadline = time.monotonic() + 30
            for match in (over[0], now[0]):
                while True:
                    told = await asyncio.to_thread(all_answers, reader, match.id)
                    left = [path for path, answer in told if gone.encode() in answer.body]
                    if not left:
                        break
                    # Processes that cache names are notified within seconds.
                    assert time.monotonic() < deadline, left
                    await asyncio.sleep(0.5)

    run(scenario)


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*-eventful.rollbook")), ids=lambda file: file.stem)
def test_a_replay_tells_no_ending(file: Path, pages: str) -> None:
    """What a viewer has not seen changes no byte: a match that ends here gives the same answers as one that goes on."""
    whole = read(file.read_bytes()).replay
    events = len(whole.events)
    seen = events // 2
    hidden = {number: part for number, part in whole.private.items() if number <= seen}
    begun = replace(whole, perspective=Watcher.JUDGE, events=whole.events[:seen], private=hidden, heads=())
    files = [file.read_bytes(), write(begun, Ed25519PrivateKey.from_private_bytes(bytes(32)))]
    reader = Reader(pages)
    paths = [_path_of(reader.upload("/replays", "file", data)) for data in files]
    queries = ["", *(f"?at={at}" for at in (1, 2, seen // 2, seen - 1))]
    queries += [f"?at=9&far={seen - 1}", f"?at=9&far={seen - 1}&eyes=public", f"?far={seen - 1}&slide=437"]
    queries += [f"?at={seen - 9}&to=previous&far={seen - 1}", "?at=9&to=next", "?at=0", "?at=x", f"?at={10**9}"]
    queries += [f"?at={seen - 1}&far={10**9}"]
    for query in queries:
        for accept in ("text/html", "application/json"):
            one, other = (reader.get(path + query, accept) for path in paths)
            assert one.status == other.status
            bodies = [
                answer.content.replace(path.encode(), b"") for answer, path in zip((one, other), paths, strict=True)
            ]
            assert bodies[0] == bodies[1], query
            headers = [{name: answer.headers.get(name) for name in _TELLING} for answer in (one, other)]
            assert headers[0] == headers[1]
    for beyond in (events + 1, events + 50, 99_999):
        for query in (f"?at={beyond}", f"?at=9&far={beyond}"):
            assert 404 == reader.get(paths[0] + query).status
    assert json.loads(reader.get(f"{paths[0]}?at={events}", "application/json").text)["is_last"]
    reader.post("/me/spoilers", {"spoilers": "on", "back": paths[0]})
    assert f'data-furthest="{events}"' in reader.get(f"{paths[0]}?at={seen}").text
    reader.post("/me/spoilers", {"spoilers": "off", "back": paths[0]})
    assert f'data-furthest="{seen}"' in reader.get(f"{paths[0]}?at={seen}").text


_TELLING = ("content-disposition", "content-location", "link", "location", "etag", "set-cookie")


def _path_of(answer: Answer) -> str:
    path = re.search(r'data-path="(/replays/[0-9a-f]{64})"', answer.text)
    assert path is not None
    return path[1]
