"""`rollbook export` as users run it, beside a real service."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path

from rollbook.replay_file.container import read
from rollbook.rules.game import Watcher
from rollbook_clients.commands.export import export
from tests.cli.json_output import objects
from tests.clients.commands.test_tail import rollbook
from tests.server.strangers import Line, Stranger
from tests.server.test_whole_service import run, seated, serving

SEED = 12
NEVER = "a" * 24


def test_matches_are_taken_home_and_audited_with_the_keys_of_the_service(tmp_path: Path) -> None:
    """A finished match is EXACT with the published keys alone; the file of a running one names its perspective.

    A user who has only an address gets the same keys, with a note on what they prove.
    """

    async def scenario() -> None:
        rng = random.Random(SEED)
        out = tmp_path / "home"
        async with serving(tmp_path) as service:
            line = Line(service.address)
            over, people = await seated(line, 2, rng, allie_gator={})
            await asyncio.gather(*[person.watch(over, play=True) for person in people])
            running, players = await seated(line, 2, rng, allie_gator={})
            where = ("--service", service.address, "--out", str(out))
            code, printed, said = await rollbook("export", over, running, *where)
            assert (0, [f"{out}/{over}.rollbook", f"{out}/{running}.rollbook"]) == (code, printed.splitlines())
            assert f"2 of 2: {running}" in said
            stored = {
                match_id: read((out / f"{match_id}.rollbook").read_bytes()).replay for match_id in (over, running)
            }
            assert [people[0].told[number] for number in sorted(people[0].told)] == list(stored[over].events)
            assert (None, Watcher.PUBLIC) == (stored[over].perspective, stored[running].perspective)
            assert ("Stranger 0", "Stranger 1") == stored[over].names
            again, _, complained = await rollbook("export", over, *where)
            assert (1, True) == (again, "is there already; --force overwrites it" in complained)
            token = ("--token", players[0].token, "--force", "--without-names")
            assert 0 == (await rollbook("export", running, *where, *token))[0]
            mine = read((out / f"{running}.rollbook").read_bytes()).replay
            assert (0, ()) == (mine.perspective, mine.names)
            assert 0 == (await rollbook("export", running, *where, *token, "--public"))[0]
            assert Watcher.PUBLIC is read((out / f"{running}.rollbook").read_bytes()).replay.perspective
            key = tmp_path / "KEY.pub"
            key.write_text((await rollbook("key", str(service.data), "--published"))[1], "utf-8")
            asked, keys, warned = await rollbook("key", "--service", service.address, "--published")
            assert (0, key.read_text("utf-8")) == (asked, keys)
            assert "come from" in warned
            code, told, _ = await rollbook("audit", str(out / f"{over}.rollbook"), "--key", str(key), "--json")
            assert (0, "exact") == (code, json.loads(told.splitlines()[0])["verdict"])
            await line.channel.close()

    run(scenario)


def test_what_cannot_be_exported_is_said_and_stops_nothing(tmp_path: Path) -> None:
    """Unknown matches, malformed ids, a file in place of the folder, and a service that does not answer."""

    async def scenario() -> None:
        out = tmp_path / "home"
        (tmp_path / "file").write_bytes(b"")
        async with serving(tmp_path) as service:
            line = Line(service.address)
            one = Stranger(line, "One", random.Random(SEED))
            await one.sign_in()
            match_id = await one.open(2, cant_stop={})
            where = ("--service", service.address, "--out")
            code, printed, said = await rollbook("export", NEVER, "../up", match_id, *where, str(out))
            assert (3, f"{out}/{match_id}.rollbook\n") == (code, printed)
            assert f"{NEVER}: " in said
            assert "../up: no match has such an id" in said
            assert [f"{match_id}.rollbook"] == [file.name for file in out.iterdir()]
            code, printed, _ = await rollbook("export", NEVER, match_id, *where, str(out), "--force", "--json")
            failed, saved = objects(export, printed)
            assert (3, [NEVER, None, None]) == (code, [failed[name] for name in ("match", "file", "bytes")])
            assert failed["error"]
            file = out / f"{match_id}.rollbook"
            size = file.stat().st_size
            assert {"match": match_id, "file": str(file), "bytes": size, "error": None} == saved
            assert 1 == (await rollbook("export", match_id, *where, str(tmp_path / "file")))[0]
            assert 64 == (await rollbook("export", *where, str(out)))[0]
            await line.channel.close()
            service.end()
            code, _, said = await rollbook("export", match_id, *where, str(out), "--force")
            assert (3, True) == (code, "no service answers" in said)

    run(scenario)
