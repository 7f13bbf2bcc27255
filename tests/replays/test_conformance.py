"""Every file of `replays/conformance/` gets its listed verdict from our audit and from other readers."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest

from rollbook.cli.exits import Exit, worst
from rollbook.replay_file.key_lines import read_keys
from rollbook.v1.events_pb2 import Event
from rollbook_replays.audit.audit import audit
from rollbook_replays.audit.facts import match_facts, tournament_facts
from rollbook_replays.audit.verdicts import Audited, Check, Verdict
from rollbook_replays.commands.audit import CODES
from rollbook_replays.commands.audit import audit as audit_command
from rollbook_replays.commands.evidence import Evidence
from rollbook_replays.tournament.bundle import NotABundle, looks_like_bundle, open_bundle
from rollbook_replays.tournament.judgement import judge
from tests.cli.test_commands import rollbook
from tests.replays import mini_audit, mini_bundle, mini_reader
from tests.replays.conformance import FOLDER, KINDS, LIST
from tests.replays.mini_file import Head
from tests.replays.test_one_meaning import GAMES

CASES: Final = [json.loads(line) for line in (FOLDER / LIST).read_text(encoding="ascii").splitlines()]
JUDGED: Final = [case for case in CASES if case["kind"] in {"replay", "bundle"}]
REFUSED: Final = [case for case in CASES if case["kind"] in {"keys", "heads"}]
FOLDERS: Final = sorted({case["file"].partition("/")[0] for case in JUDGED})
KEYS_OF_MOST: Final = "keys/judge.pub"
LARGEST_STORED: Final = 450_000
MOST_STORED: Final = 5_000_000
NOT_IN_AN_EVENTFUL_MATCH: Final = {"forfeited", "seat_left"}


def bytes_of(case: dict[str, Any]) -> bytes:
    """Return the bytes of a case; builds them if the list has only their parts."""
    if "made" not in case:
        return (FOLDER / str(case["file"])).read_bytes()
    return b"".join(bytes.fromhex(part["hex"]) * part["times"] for part in case["made"])


def path_of(case: dict[str, Any], folder: Path) -> Path:
    """Return the path of a case; a file that is not stored is written into the folder."""
    if "made" not in case:
        return FOLDER / str(case["file"])
    path = folder / str(case["file"]).replace("/", "-")
    path.write_bytes(bytes_of(case))
    return path


def told(line: dict[str, Any]) -> dict[str, Any]:
    """Convert a line of the audit to the form of the list, without the exit code."""
    if line["kind"] == "tournament":
        faults = [[finding["fault"], finding["where"]] for finding in line["findings"]]
        return {"verdict": line["verdict"], "check": None, "event": None, "faults": faults}
    return {key: line[key] for key in ("verdict", "check", "event")}


def expected(case: dict[str, Any], line: dict[str, Any]) -> dict[str, Any]:
    """Convert a case to the same form; an archive that is no bundle is judged as a file."""
    unsaid = {"exit", "faults"} if line["kind"] == "match" else {"exit"}
    return {key: value for key, value in case["with_rules"].items() if key not in unsaid}


def test_the_command_says_of_all_files_what_the_corpus_says(tmp_path: Path) -> None:
    """One run as a judge would do it, over all files with the same keys; the worst sets the exit code."""
    cases = [case for case in JUDGED if case["keys"] == KEYS_OF_MOST and "heads" not in case]
    assert len(cases) > len(JUDGED) * 9 // 10
    paths = [str(path_of(case, tmp_path)) for case in cases]
    done = rollbook("audit", *paths, "--key", str(FOLDER / KEYS_OF_MOST), "--json")
    found = {line["path"]: line for line in map(json.loads, done.stdout.splitlines())}
    for case, path in zip(cases, paths, strict=True):
        assert expected(case, found[path]) == told(found[path]), case["file"]
    assert 1 == done.returncode


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_file_alone_has_its_verdict_and_its_exit_code(folder: str, tmp_path: Path) -> None:
    """Each case has its own keys and kept heads; heads that prove nothing are found by line."""
    for case in JUDGED:
        if not case["file"].startswith(f"{folder}/"):
            continue
        heads = [FOLDER / case["heads"]] if "heads" in case else []
        evidence = Evidence.read([FOLDER / case["keys"]], heads)
        assert [f"{heads[0]}:{line}" for line in case.get("flawed_heads", [])] == [
            flawed.where for flawed in evidence.flawed
        ], case["file"]
        line = judged_alone(path_of(case, tmp_path), evidence)
        code = worst({CODES[Verdict(line["verdict"])], Exit.UNVERIFIED if evidence.flawed else Exit.GOOD})
        assert (case["with_rules"]["exit"], expected(case, line)) == (code, told(line)), case["file"]


def judged_alone(path: Path, evidence: Evidence) -> dict[str, Any]:
    """Return the JSON facts of a file, audited in this process."""

    def audited(data: bytes) -> Audited:
        return audit(data, evidence.keys, evidence.heads)

    if not looks_like_bundle(path):
        return match_facts(str(path), audited(path.read_bytes()))
    try:
        bundle = open_bundle(path)
    except NotABundle as wrong:
        return match_facts(str(path), Audited(Verdict.UNREADABLE, unreadable=str(wrong)))
    judgement = judge(bundle, [audited(source.read()) for source in bundle.sources], evidence.keys)
    return tournament_facts(str(path), judgement.facts())


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["file"])
def test_files_of_keys_and_heads_that_are_none_are_refused_by_their_line(
    case: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """The files are refused before any file is judged."""
    path = FOLDER / case["file"]
    keys, heads = ([path], []) if case["kind"] == "keys" else ([], [path])
    assert case["exit"] == audit_command(FOLDER, key=keys, head=heads, jobs=1, as_json=True)
    said = capsys.readouterr()
    assert ("", True) == (said.out, f"{path}:{case['line']}: " in said.err)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_reader_without_rules_says_what_the_second_column_says(folder: str) -> None:
    """`mini_audit` is written from the pages alone and shares no code with the audit."""
    for case in JUDGED:
        if not case["file"].startswith(f"{folder}/"):
            continue
        keys = mini_reader.public_keys((FOLDER / case["keys"]).read_text(encoding="utf-8"))
        column, data = case["without_rules"], bytes_of(case)
        said: dict[str, Any]
        if case["kind"] == "bundle":
            verdict, faults = mini_bundle.judge(data, keys)
            said = {"verdict": verdict, "check": None, "event": None}
            said["faults"] = [list(fault) for fault in faults]
        else:
            verdict, check, event = mini_audit.audit(data, keys, heads_of(case))
            said = {"verdict": verdict, "check": check, "event": event}
        code = {"diverged": 1, "unverified": 2, "unreadable": 3}[str(said["verdict"])]
        assert {**said, "exit": code} == {key: column[key] for key in column if key != "missing"}, case["file"]


def heads_of(case: dict[str, Any]) -> tuple[Head, ...]:
    """Return the kept heads of a case."""
    if "heads" not in case:
        return ()
    lines = map(json.loads, (FOLDER / case["heads"]).read_text(encoding="utf-8").splitlines())
    return tuple(
        Head(
            line["match"].encode(),
            line["sequence"],
            bytes.fromhex(line["link"]),
            line["key_id"],
            bytes.fromhex(line["signature"]),
        )
        for line in lines
    )


def test_the_list_names_every_file_and_nothing_large_is_stored() -> None:
    """The list is complete for testing a reader, and the repository stays small enough to clone."""
    named = {case[key] for case in CASES for key in ("file", "keys", "heads") if key in case and "made" not in case}
    named |= {case["keys"] for case in JUDGED} | {LIST, ".gitattributes"}
    stored = {str(file.relative_to(FOLDER)): file.stat().st_size for file in FOLDER.rglob("*") if file.is_file()}
    assert sorted(named) == sorted(stored)
    assert {LIST} >= {name for name, size in stored.items() if size > LARGEST_STORED}
    assert MOST_STORED > sum(stored.values())
    assert sorted(FOLDERS) == sorted(KINDS)


def test_there_is_a_forgery_for_every_check_and_game_and_for_every_message() -> None:
    """A reader can miss an error in one game and find it in another."""
    checks = [case for case in JUDGED if case["file"].startswith("checks/")]
    found = {(case["file"].split("/")[1].split("-")[0], case["with_rules"]["check"]) for case in checks}
    assert {(game, check.value) for game in GAMES for check in Check} == found
    verdicts = Counter(case["with_rules"]["verdict"] for case in JUDGED)
    assert {"exact", "unverified", "diverged", "unreadable"} == set(verdicts)
    spoilt = {
        case["file"].removesuffix(".rollbook") for case in JUDGED if case["file"].startswith("unknown_fields/event")
    }
    bodies = {field.name for field in Event.DESCRIPTOR.oneofs_by_name["body"].fields}
    there = {name.rpartition("-")[2].partition(".")[0] for name in spoilt}
    assert bodies - NOT_IN_AN_EVENTFUL_MATCH == there - {"Event"}


def test_no_case_is_exact_without_rules_and_only_what_needs_them_differs() -> None:
    """Without rules no file is accused that is not accused with rules."""
    for case in JUDGED:
        with_rules, without = case["with_rules"], case["without_rules"]
        assert "exact" != without["verdict"]
        if without["verdict"] == "diverged":
            assert "diverged" == with_rules["verdict"], case["file"]
        if with_rules["verdict"] in {"unverified", "unreadable"}:
            assert with_rules == without, case["file"]
        assert ("missing" in without) == (with_rules["verdict"] != without["verdict"]), case["file"]


def test_a_file_of_keys_that_is_spread_out_is_read_as_the_plain_one() -> None:
    """A byte-order mark, other line ends, comments, blank lines and a doubled line are ignored."""
    plain, spread = ((FOLDER / "keys" / name).read_text(encoding="utf-8") for name in ("judge.pub", "spread-out.pub"))
    assert set(read_keys(plain)) == {each.hex() for each in mini_reader.public_keys(spread)}
