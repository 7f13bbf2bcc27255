"""The page's verifier, written from FORMAT.md alone, gives every file of the corpus the result without rules."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from google.protobuf.descriptor import FieldDescriptor

from rollbook.match.codec.messages import hiding
from rollbook.rules.catalogue import AnyGame, find
from rollbook.v1.events_pb2 import Event
from rollbook.v1.games_pb2 import HiddenOutcome, Options
from rollbook.v1.replay_file_pb2 import ReplayBody, ReplayNames
from tests.clients.web.browsing import Person, Reader, chromium, needs_chromium
from tests.replays.conformance import FOLDER, LIST

ROOT: Final = Path(__file__).parents[3]
MODULES: Final = ROOT / "clients" / "rollbook_clients" / "web" / "static" / "verify"
SCRIPT: Final = Path(__file__).parent / "conformance.mjs"
NODE: Final = shutil.which("node")
CASES: Final = [json.loads(line) for line in (FOLDER / LIST).read_text(encoding="ascii").splitlines()]
SCALARS: Final = {
    FieldDescriptor.TYPE_INT32: "int32",
    FieldDescriptor.TYPE_UINT64: "uint64",
    FieldDescriptor.TYPE_BOOL: "bool",
    FieldDescriptor.TYPE_ENUM: "enum",
    FieldDescriptor.TYPE_STRING: "string",
    FieldDescriptor.TYPE_BYTES: "bytes",
}

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


@cache
def said_in_node() -> list[dict[str, Any]]:
    """Run the verifier in node on every case except bundles; returns its results."""
    assert NODE is not None
    words = [NODE, str(SCRIPT), str(FOLDER), str(MODULES)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=280)
    return [json.loads(line) for line in done.stdout.splitlines()]


def differences(case: dict[str, Any], said: dict[str, Any]) -> dict[str, Any]:
    """Compare a result with the expected column for readers without rules; returns the differences."""
    if case["kind"] in {"keys", "heads"}:
        return {key: said.get(key) for key in ("line", "exit") if said.get(key) != case[key]}
    column = case["without_rules"]
    if not _suits(said["headline"], case):
        return {"headline": said["headline"]}
    wrong = {key: said.get(key) for key in ("verdict", "check", "event", "exit") if said.get(key) != column[key]}
    if said.get("flawed_heads") != case.get("flawed_heads", []):
        wrong["flawed_heads"] = said.get("flawed_heads")
    if column["verdict"] == "unverified":
        # If only the rules are missing, `missing` names them; if more is missing, it names something else.
        rules_alone_lack = column.get("missing") == "rules"
        if "rules" not in said["missing"] if rules_alone_lack else said["missing"] == ["rules"]:
            wrong["missing"] = said["missing"]
    return wrong


def _suits(headline: str, case: dict[str, Any]) -> bool:
    """Whether a headline suits the expected verdicts: a perfect file with its keys is signed and unchanged."""
    if case["without_rules"]["verdict"] != "unverified":
        return headline == "changed"
    if case["with_rules"]["verdict"] == "exact":
        return headline == "signed"
    return headline in {"signed", "unknown_signer", "none"}


@needs_node
@pytest.mark.timeout(300)
def test_it_says_of_every_file_what_stands_in_the_column_without_rules() -> None:
    """Verdict, check, event, exit code, heads that prove nothing, and the refused line of keys and heads."""
    cases = [case for case in CASES if case["kind"] != "bundle"]
    said = said_in_node()
    assert [case["file"] for case in cases] == [one["file"] for one in said]
    wrong = {f"{n} {case['file']}": differences(case, said[n]["said"]) for n, case in enumerate(cases)}
    assert {} == {case: difference for case, difference in wrong.items() if difference}


def test_it_needs_nothing_but_what_a_browser_has() -> None:
    """Its modules import only each other, by relative names."""
    for module in sorted(MODULES.glob("*.js")):
        imported = re.findall(r'from "([^"]+)"', module.read_text(encoding="utf-8"))
        assert all((MODULES / name).is_file() and name.startswith("./") for name in imported), (module.name, imported)


@needs_node
def test_its_messages_are_those_of_the_protos() -> None:
    """The schema has every field of every message in a file, and the outcomes of each game that have hidden parts."""
    assert NODE is not None
    done = subprocess.run(
        [NODE, str(SCRIPT.with_name("schema.mjs")), str(MODULES)], capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    apart = {("ReplayBody.Outcome", "hidden")}
    roots: tuple[Any, ...] = (Event, ReplayBody, ReplayNames, HiddenOutcome)
    assert [_described(root.DESCRIPTOR, apart) for root in roots] == found["roots"]
    fields = {field.name: field.number for field in Options.DESCRIPTOR.fields}
    assert {game: number for game, number in fields.items() if game != "other"} == {
        game: fields[game] for game in found["hiding"]
    }
    assert found["hiding"] == {
        name: sorted(kind for kind in find(name).outcomes if _hides(find(name), kind)) for name in found["hiding"]
    }


def _hides(game: AnyGame, outcome: str) -> bool:
    kind: Any = game.outcomes[outcome]
    return hiding(game, kind) is not None


def _described(message: Any, apart: set[tuple[str, str]]) -> dict[str, Any]:
    """Return a message in the form in which `schema.mjs` prints it."""
    owner = message.full_name.removeprefix("rollbook.v1.")
    return {
        str(field.number): {
            "name": field.name,
            "type": "bytes"
            if (owner, field.name) in apart
            else SCALARS.get(field.type) or _described(field.message_type, apart),
            "repeated": field.is_repeated,
            "optional": (owner, field.name) in apart
            or (field.has_presence and field.type in SCALARS and _group(field) is None),
            "oneof": _group(field),
        }
        for field in message.fields
    }


def _group(field: Any) -> str | None:
    """Return the oneof of a field, or None; protobuf gives each optional field a oneof named after it."""
    group = field.containing_oneof
    return None if group is None or group.name == f"_{field.name}" else str(group.name)


def case_key(case: dict[str, Any]) -> tuple[str, ...]:
    """The files of a case."""
    return tuple(str(case.get(name)) for name in ("file", "keys", "heads"))


def in_chromium(case: dict[str, Any], folder: Path) -> list[Path]:
    """Write the files of a case: replay, keys, heads."""
    file = FOLDER / case["file"]
    if "made" in case:
        file = folder / "made"
        file.write_bytes(b"".join(bytes.fromhex(part["hex"]) * part["times"] for part in case["made"]))
    return [file, FOLDER / case["keys"], *([FOLDER / case["heads"]] if "heads" in case else [])]


@needs_chromium
@needs_node
@pytest.mark.timeout(600)
@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.slow), 12])
def test_the_saved_page_says_so_too_without_a_network(every: int, pages: str, tmp_path: Path) -> None:
    """The saved page works offline in Chromium: verdict, check and event of every file, and the announced bytes."""
    said_by_node = {case_key(each): each["said"] for each in said_in_node()}
    cases = [case for case in CASES if case["kind"] == "replay"][::every]
    assert cases
    copy = Reader(pages).get("/verify/copy").body
    digest = Reader(pages).get("/verify").text.partition('class="digest">')[2].partition("<")[0]
    assert hashlib.sha256(copy).hexdigest() == digest
    saved = tmp_path / "verify.html"
    saved.write_bytes(copy)

    async def scenario() -> None:
        async with chromium() as browser:
            person = await Person.arrive(browser)
            await person.page.context.set_offline(True)
            await person.page.goto(saved.as_uri())
            await person.page.wait_for_selector("#digest:not(:empty)")
            assert digest == await person.page.inner_text("#digest")
            wrong: dict[str, Any] = {}
            for case in cases:
                await person.page.evaluate("() => { delete document.getElementById('verdict').dataset.verdict; }")
                files = in_chromium(case, tmp_path)
                for number, name in enumerate(("file", "keys", "heads")):
                    await person.page.set_input_files(f"#{name}", files[number : number + 1])
                await person.page.click("#verify button")
                await person.page.wait_for_selector("#verdict[data-verdict]", timeout=20_000)
                said = await person.page.evaluate("() => ({ ...document.getElementById('verdict').dataset })")
                column = case["without_rules"]
                expected = {
                    "verdict": column["verdict"],
                    "check": column.get("check") or "",
                    "event": "" if column.get("event") is None else str(column["event"]),
                    "headline": said_by_node[case_key(case)]["headline"],
                }
                if expected != said:
                    wrong[str(case)] = said
            assert {} == wrong
            assert [] == person.errors

    asyncio.run(scenario())


HEADLINES: Final = {
    "en": ("Signed and unchanged", "Unchanged. The signer is unknown", "Changed, or damaged, at event 56"),
    "de": (
        "Unterschrieben und unverändert",
        "Unverändert. Wer unterschrieb, ist unbekannt",
        "Verändert oder beschädigt, bei Ereignis 56",
    ),
}
COLOURS: Final = """() => {
  const [red, green] = getComputedStyle(document.querySelector("#verdict h2")).color.match(/\\d+/g).map(Number);
  return green > red ? "green" : green > red / 2 ? "yellow" : "red";
}"""


@needs_chromium
@pytest.mark.parametrize("language", HEADLINES)
def test_a_file_gets_one_of_three_headlines(language: str, pages: str, tmp_path: Path) -> None:
    """With its key green, without it yellow, with a changed bit red; under each what was checked, and what was not."""
    genuine, key = FOLDER / "genuine" / "raffzahn-eventful.rollbook", FOLDER / "keys" / "judge.pub"
    forged = tmp_path / "forged.rollbook"
    changed = bytearray(genuine.read_bytes())
    changed[len(changed) // 2] ^= 1
    forged.write_bytes(changed)

    async def scenario() -> None:
        async with chromium() as browser:
            person = await Person.arrive(browser, language=language)
            page = person.page
            await person.goto(f"{pages}/verify")
            found, colours = [], []
            for file, keys in ((genuine, [key]), (genuine, []), (forged, [key])):
                await page.evaluate("() => document.getElementById('verdict').replaceChildren()")
                await page.set_input_files("#file", file)
                await page.set_input_files("#keys", keys)
                await page.click("#verify button")
                await page.wait_for_selector("#verdict h2")
                found.append(await page.inner_text("#verdict h2"))
                colours.append(await page.evaluate(COLOURS))
                assert await page.locator("#verdict .held li").count() > 4
                assert await page.locator("#verdict .missing code", has_text="rollbook audit").count() == 1
                signs = await page.locator("#verdict .held small", has_text="heads").count()
                assert signs == (file is genuine and bool(keys))
            assert HEADLINES[language] == tuple(found)
            assert ["green", "yellow", "red"] == colours
            assert [] == person.errors

    asyncio.run(scenario())


@needs_chromium
def test_a_browser_that_cannot_verify_says_so(pages: str) -> None:
    """Without Ed25519 there is no verdict."""

    async def scenario() -> None:
        async with chromium() as browser:
            person = await Person.arrive(browser)
            await person.page.add_init_script("crypto.subtle.importKey = () => Promise.reject(new Error('no'));")
            await person.goto(f"{pages}/verify")
            await person.page.set_input_files("#file", FOLDER / "genuine" / "raffzahn-eventful.rollbook")
            await person.page.click("#verify button")
            await person.page.wait_for_selector("#verdict h2")
            assert "This browser cannot check" == await person.page.inner_text("#verdict h2")
            assert not await person.page.locator("#verdict[data-verdict]").count()

    asyncio.run(scenario())
