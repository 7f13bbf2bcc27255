"""The other output of `rollbook audit`: JSON as `replays/AUDIT.md` documents it, and text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rollbook.match.commands import Abort, AbortUnready
from rollbook.match.decide import decide
from rollbook.match.events import SeatTaken
from rollbook.replay_file.container import Replay, write
from rollbook.replay_file.kept_heads import write_heads
from rollbook.replay_file.key_lines import key_id, read_keys
from rollbook.replay_file.recording import Keys
from rollbook_replays.audit.audit import LONGEST_GAME, MOST_MISSING, audit
from rollbook_replays.audit.facts import match_facts
from rollbook_replays.audit.verdicts import Audited, Verdict
from rollbook_replays.history import look
from rollbook_replays.narration import tell
from rollbook_replays.report import Report
from rollbook_replays.text import plain
from tests.cli.test_commands import rollbook
from tests.match.played import Played
from tests.replays.forging import ENTROPY, PUBLIC, SERVICE, eventful, kept, put_together, replay_of, taken_apart
from tests.replays.replaying import KEYS, recorded
from tests.replays.tournaments import NUMBERS, bundled, manifest, replays

PAGE = Path(__file__).parents[2] / "replays" / "AUDIT.md"
NOBODY = "no seat added randomness"


def documented(section: str) -> list[str]:
    """Return the keys of one table of the page, in order."""
    text = PAGE.read_text(encoding="utf-8").split("\n## ")
    (table,) = [part for part in text if part.startswith(section)]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return [key for row in rows for key in re.findall(r"`(\w+)`", row)]


def by_house(replay: Replay, seats: Iterable[int]) -> Replay:
    """Return the match with bots of the house in these seats."""
    lines = taken_apart(replay)
    for number, line in enumerate(lines):
        if isinstance(line.event, SeatTaken) and line.event.seat in seats:
            lines[number] = replace(line, event=replace(line.event, house=True))
    return put_together(lines, SERVICE)


def audited(replay: Replay) -> Audited:
    """Return the verdict of a judge who has the service's keys."""
    return audit(write(replay, SERVICE.replays), PUBLIC)


def started(entropy: bytes = ENTROPY) -> Replay:
    """Return a match that an operator ended after its start."""
    played = Played(entropy=entropy).start()
    played.append(decide(played.ledger, Abort(played.by())))
    return replay_of(played)


def unready() -> Replay:
    """Return a match that was aborted because its second seat was not ready."""
    played = Played(entropy=ENTROPY).sit()
    played.append(played.ready(0))
    played.append(decide(played.ledger, AbortUnready(played.by(after_ms=60_000))))
    return replay_of(played)


def test_the_page_names_every_key_of_a_line_in_its_order(tmp_path: Path) -> None:
    """The page documents all keys for authors of programs."""
    (tmp_path / "cup.zip").write_bytes(bundled(manifest(), replays(*NUMBERS)))
    (tmp_path / "cut.rollbook").write_bytes(b"")
    told = [json.loads(line) for line in rollbook("audit", str(tmp_path), "--json").stdout.splitlines()]
    assert ["match"] * 3 + ["tournament", "match"] == [line["kind"] for line in told]
    assert {1} == {line["version"] for line in told}
    head = re.findall(r"^\| `(\w+)`", PAGE.read_text(encoding="utf-8").partition("\n## ")[0], re.MULTILINE)
    for line in told:
        section = "A match" if line["kind"] == "match" else "A tournament"
        assert [*head, *documented(section)] == list(line)


def test_a_line_says_what_was_played_by_whom_when_and_who_vouches() -> None:
    """The values in the JSON line are those of the log."""
    replay = replace(by_house(replay_of(eventful()), {1}), names=("Anna", "Bot", "Tom"))
    witnessed = [kept(replay, 3), kept(replay, 5)]
    found = audit(write(replay, SERVICE.replays), PUBLIC, [*witnessed, replace(witnessed[0], match_id="another")])
    told = match_facts("a.rollbook", found)
    assert ("exact", "m", "cant_stop", 1, 3) == tuple(told[k] for k in ("verdict", "match", "game", "ruleset", "seats"))
    assert {"columns_to_win", "free_fields", "hasty"} <= told["options"].keys()
    assert ["Anna", "Bot", "Tom"] == told["names"]
    assert ([1], [0, 2], False) == (told["house"], told["seats_with_entropy"], told["dice_by_secret_alone"])
    assert [1, 2, 3] == sorted(told["places"])
    assert told["opened_ms"] < told["sealed_ms"]
    assert {"file": 1, "kept": 2} == told["heads_compared"]
    assert key_id(SERVICE.replays.public_key()) == told["keys"]["replay_key"]
    assert [key_id(SERVICE.heads.public_key())] == told["keys"]["head_keys"]
    assert (None, None, None, []) == tuple(told[k] for k in ("event", "check", "aborted", "missing"))


def test_a_line_on_a_match_that_was_aborted_names_the_seats() -> None:
    """Programs can count the seats that were not ready."""
    told = match_facts("a.rollbook", audited(unready()))
    assert ("exact", None, {"reason": "not_ready", "seats": [1]}) == (told["verdict"], told["places"], told["aborted"])
    assert {"reason": "by_operator", "seats": []} == match_facts("b", audited(started()))["aborted"]


def test_a_line_on_what_is_no_replay_knows_nothing_of_a_match() -> None:
    """Unknown values are null, not zero."""
    told = match_facts("a.rollbook", audit(b"", {}))
    known = {key: value for key, value in told.items() if value is not None}
    assert {"version", "kind", "path", "verdict", "found", "missing", "events", "heads_compared"} == known.keys()


def test_what_a_forger_made_long_is_told_in_short() -> None:
    """A long game name, or ten thousand keys, would fill the memory of a program that collects verdicts."""
    replay = recorded("cant_stop", 2)
    assert LONGEST_GAME == len(audit(write(replace(replay, game="x" * 10**6), KEYS.replays), {}).game)
    strangers = [replace(kept(replay, number), key_id=f"{number:016}") for number in range(1, 101)]
    missing = audit(write(replay, KEYS.replays), {}, strangers).missing
    assert (MOST_MISSING + 1, "82 more") == (len(missing), missing[-1])


@pytest.mark.parametrize(
    ("entropy", "house", "alone"),
    [(ENTROPY, (), False), (ENTROPY, (0,), False), (ENTROPY, (0, 1), True), (b"", (), True)],
)
def test_everybody_is_told_when_no_seat_brought_entropy(
    entropy: bytes, house: tuple[int, ...], alone: bool, tmp_path: Path
) -> None:
    """The service knows the entropy of its own bots, so these seats count as seats without entropy."""
    replay = by_house(started(entropy), house)
    file = tmp_path / "a.rollbook"
    file.write_bytes(write(replay, SERVICE.replays))
    keys = tmp_path / "KEY.pub"
    keys.write_text(SERVICE.public, encoding="ascii")
    words = ("audit", str(file), "--key", str(keys), "--report", str(tmp_path / "page.html"))
    done = rollbook(*words)
    assert (0, alone) == (done.returncode, NOBODY in done.stdout)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert (alone, alone) == (
        f"<small>{NOBODY}</small>" in page,
        "In 1 of the matches no seat added randomness" in page,
    )
    assert alone is json.loads(rollbook(*words, "--json").stdout)["dice_by_secret_alone"]
    assert alone is ("No seat added randomness" in rollbook("show", str(file)).stdout)
    seen = look(replay)
    assert set(house) == seen.house
    assert alone is ("No seat added randomness" in plain(tell(seen.header, seen.events, house=seen.house)))


def test_a_match_that_never_started_had_no_dice() -> None:
    """The output does not mention entropy, because seats that were not ready could not bring any."""
    assert not audited(unready()).is_by_secret_alone


def named(replay: Replay, *names: str) -> Audited:
    """Return the verdict on the match with these names."""
    return audited(replace(replay, names=names))


def test_the_page_counts_how_often_a_name_was_not_ready() -> None:
    """Counts are by name, with the number of its matches and a note that names are not identities."""
    report = Report()
    finished = replace(recorded("cant_stop", 2), names=("Tom", "Anna"))
    for number, found in enumerate(
        [
            named(unready(), "Anna", "Tom"),
            replace(named(unready(), "Anna", "Tom"), match_id="m2"),
            replace(named(unready(), "Tom", "Anna"), match_id="m3"),
            replace(named(unready(), "<b>", ""), match_id="m4"),
            audit(write(finished, KEYS.replays), read_keys(KEYS.public)),
        ]
    ):
        report.add(f"{number}.rollbook", found)
    html = report.html()
    rows = re.findall(r"<tr><td>(\w+)</td><td class=\"number\">(\d+)</td><td class=\"number\">(\d+)</td></tr>", html)
    assert [("Tom", "2", "4"), ("Anna", "1", "4")] == rows
    assert "Names are not identities" in html


def test_a_match_that_is_not_exact_accuses_nobody() -> None:
    """A forger could write any name into the file; the genuine match is still counted."""
    report = Report()
    found = named(unready(), "Anna", "Tom")
    report.add("a.rollbook", replace(found, verdict=Verdict.DIVERGED, divergence=diverged()))
    report.add("b.rollbook", audit(write(replace(unready(), names=("Anna", "Tom")), Keys.of(99).replays), PUBLIC))
    assert "Not ready in time" not in report.html()
    for _ in range(2):
        report.add("c.rollbook", found)
    assert '<td class="number">1</td><td class="number">1</td>' in report.html()


def diverged() -> Any:
    """Return a divergence."""
    replay = recorded("cant_stop", 2)
    return audit(write(replace(replay, game="raffzahn"), KEYS.replays), {}).divergence


def test_bundles_in_a_folder_are_found_by_how_they_begin(tmp_path: Path) -> None:
    """Bundles are recognised by their first bytes, at any depth; broken ones are reported, other archives ignored."""
    good = bundled(manifest(), replays(*NUMBERS))
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "cup").write_bytes(good)
    (tmp_path / "c.zip").write_bytes(good[:-1])
    (tmp_path / "a.rollbook").write_bytes(write(recorded("cant_stop", 2), KEYS.replays))
    (tmp_path / "d.rollbook").write_bytes(b"")
    (tmp_path / "other.zip").write_bytes(good.replace(b"manifest.toml", b"manifest.text", 1))
    (tmp_path / "notes.txt").write_text("notes")
    done = rollbook("audit", str(tmp_path), "--json")
    told: list[Mapping[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [(Path(line["path"]).relative_to(tmp_path).parts[0], line["kind"], line["verdict"]) for line in told]
    match = ("match", "unverified")
    assert 3 == done.returncode
    assert [
        ("a.rollbook", *match),
        *[("b", *match)] * 3,
        ("b", "tournament", "unverified"),
        ("c.zip", "match", "unreadable"),
        ("d.rollbook", "match", "unreadable"),
    ] == kinds
    twice = rollbook("audit", str(tmp_path / "b"), str(tmp_path / "b" / "cup"), "--json")
    assert 4 == len(twice.stdout.splitlines())


def test_heads_that_were_kept_are_counted_if_they_could_be_compared(tmp_path: Path) -> None:
    """A head with an unknown key, or of an event beyond the log, is not counted."""
    replay = replay_of(eventful())
    heads = [kept(replay, 3), replace(kept(replay, 4), key_id="0" * 16)]
    (tmp_path / "heads.jsonl").write_text(write_heads(heads), encoding="utf-8")
    found = audit(write(replay, SERVICE.replays), PUBLIC, heads)
    assert (Verdict.UNVERIFIED, 1) == (found.verdict, found.kept_heads)
