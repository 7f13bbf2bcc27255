"""The bytes of bundles, and the commands as a user runs them."""

from __future__ import annotations

import json
import re
import stat
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from rollbook.files import appearing
from rollbook.identity.keys import load, load_or_create
from rollbook.replay_file.container import SUFFIX
from rollbook.replay_file.key_lines import KeyRole, KnownKey, key_id, write_keys
from rollbook_replays.commands.bundle import create as create_command
from rollbook_replays.tournament.bundle import Bundle, open_bundle
from tests.cli.json_output import objects
from tests.clients.terminal.pseudo import pseudo
from tests.replays.replaying import KEYS
from tests.replays.tournaments import IDS, NUMBERS, STANDINGS, bundled, manifest, replays


def rollbook(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command."""
    return subprocess.run(
        [sys.executable, "-m", "rollbook", *map(str, words)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    """A folder with matches, manifest, the organiser's key and the judge's keys."""
    (tmp_path / "matches").mkdir()
    for match_id, data in replays(*NUMBERS).items():
        (tmp_path / "matches" / f"{match_id}{SUFFIX}").write_bytes(data)
    (tmp_path / "cup.toml").write_text(manifest(), encoding="utf-8")
    organiser = load_or_create(tmp_path / "organiser.key").public_key()
    (tmp_path / "judge.pub").write_text(
        KEYS.public + write_keys([KnownKey(organiser, KeyRole.BUNDLE, "Cup committee")])
    )
    return tmp_path


def create(
    cup: Path, *matches: str, out: str = "cup.zip", flags: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Pack the tournament."""
    words = ("--manifest", cup / "cup.toml", "--signing-key", cup / "organiser.key", "--out", cup / out)
    return rollbook("bundle", "create", *(cup / match for match in matches or ("matches",)), *words, *flags)


def test_a_bundle_is_made_and_judged(cup: Path) -> None:
    """From a folder of matches to the verdict on the tournament; both commands print the standings."""
    made = create(cup)
    assert (0, True) == (made.returncode, "    1. Willi  6.5\n" in made.stdout)
    judged = rollbook("audit", cup / "cup.zip", "--key", cup / "judge.pub")
    assert 0 == judged.returncode
    assert 3 == judged.stdout.count(": EXACT, ")
    organiser = key_id(load(cup / "organiser.key").public_key())
    assert f"{cup / 'cup.zip'}: Cup: EXACT\n{cup / 'cup.zip'}:     1. Willi  6.5\n" in judged.stdout
    assert f"{cup / 'cup.zip'}:   signed by Cup committee (bundle key {organiser})\n" in judged.stdout
    assert 2 == rollbook("audit", cup / "cup.zip").returncode


def test_programs_get_the_judgement_behind_the_files(cup: Path) -> None:
    """One JSON object a line, as for files."""
    create(cup)
    lines = rollbook("audit", cup / "cup.zip", "--key", cup / "judge.pub", "--json").stdout.splitlines()
    *files, judgement = map(json.loads, lines)
    assert [f"{cup / 'cup.zip'}/matches/{IDS[number]}{SUFFIX}" for number in NUMBERS] == [
        file["path"] for file in files
    ]
    organiser = key_id(load(cup / "organiser.key").public_key())
    assert ("exact", {"name": "Cup committee", "bundle_key": organiser}) == (judgement["verdict"], judgement["key"])
    assert STANDINGS == {each["player"]: (each["place"], each["points"]) for each in judgement["standings"]}


@pytest.mark.parametrize("env", [{}, {"NO_COLOR": "1"}], ids=["colours", "NO_COLOR"])
def test_verdicts_have_colours_on_a_terminal(cup: Path, env: dict[str, str]) -> None:
    """Verdicts have colours, file names that look like verdicts have none, and NO_COLOR disables all."""
    create(cup)
    (cup / "EXACT.rollbook").write_bytes(b"")
    words = ["audit", str(cup / "cup.zip"), str(cup / "EXACT.rollbook"), "--key", str(cup / "judge.pub")]
    with pseudo(words, cup, (200, 24), env) as terminal:
        assert 3 == terminal.ended()
        coloured = re.findall(rb"\x1b\[([\d;]+)m([^\x1b]*)\x1b\[0m", terminal.raw)
    verdicts = [(b"1;32", b"EXACT")] * 4 + [(b"1;35", b"UNREADABLE")]
    assert ([] if env else verdicts) == [each for each in coloured if each[1].isupper()]
    assert 4 == terminal.text.count(": EXACT")
    piped = rollbook(*words)
    assert (3, False) == (piped.returncode, "\x1b" in piped.stdout)


def test_programs_get_what_was_packed_or_what_is_wrong(cup: Path) -> None:
    """One JSON object, whether the bundle was written or refused."""
    made = create(cup, flags=["--json"])
    (facts,) = objects(create_command, made.stdout)
    assert (0, str(cup / "cup.zip"), "Cup", []) == (
        made.returncode,
        *map(facts.get, ("file", "tournament", "findings")),
    )
    assert STANDINGS == {each["player"]: (each["place"], each["points"]) for each in facts["standings"]}
    (cup / "cup.toml").write_text(manifest(standings={**STANDINGS, "Tom": (1, "9")}), encoding="utf-8")
    refused = create(cup, out="wrong.zip", flags=["--json"])
    (facts,) = objects(create_command, refused.stdout)
    assert (1, None, "standings") == (refused.returncode, facts["file"], facts["findings"][0]["fault"])
    assert {"where", "expected", "found"} < facts["findings"][0].keys()


def test_the_same_tournament_gives_the_same_bytes(cup: Path) -> None:
    """The bytes depend neither on the time nor on the order of the arguments."""
    create(cup)
    create(cup, *(f"matches/{IDS[number]}{SUFFIX}" for number in reversed(NUMBERS)), out="again.zip")
    assert (cup / "cup.zip").read_bytes() == (cup / "again.zip").read_bytes()


def test_what_is_not_true_is_not_packed(cup: Path) -> None:
    """A wrong manifest is refused with the reason, and no bundle is written."""
    described = manifest(standings={**STANDINGS, "Tom": (1, "9")})
    (cup / "cup.toml").write_text(described, encoding="utf-8")
    done = create(cup)
    assert (1, "") == (done.returncode, done.stdout)
    assert "standings (Tom): expected place 2 with 4; found place 1 with 9 claimed" in done.stderr
    assert not (cup / "cup.zip").exists()
    assert [] == [file.name for file in cup.iterdir() if file.name.endswith(".part")]


@pytest.mark.parametrize(
    ("broken", "code", "said"),
    [
        ("none", 3, "No such file"),
        ("manifest", 1, "cup.toml: title is missing"),
        ("key", 1, "organiser.key: it holds no unencrypted private key"),
        ("match", 3, "the file was cut"),
        ("doubled", 1, f"match {IDS[0]} is given twice"),
        ("empty", 3, "there are no replay files there"),
        ("out", 3, "No such file or directory"),
    ],
)
def test_create_says_what_it_cannot_use(broken: str, code: int, said: str, cup: Path) -> None:
    """Each refusal names the file, on standard error."""
    out, matches = "cup.zip", ["matches"]
    first = cup / "matches" / f"{IDS[0]}{SUFFIX}"
    if broken == "none":
        (cup / "cup.toml").unlink()
    elif broken == "manifest":
        (cup / "cup.toml").write_text(manifest(title=""))
    elif broken == "key":
        (cup / "organiser.key").write_text("no key")
    elif broken == "match":
        first.write_bytes(first.read_bytes()[:-1])
    elif broken == "doubled":
        (cup / "matches" / f"again{SUFFIX}").write_bytes(first.read_bytes())
    elif broken == "empty":
        (cup / "empty").mkdir()
        matches = ["empty"]
    else:
        out = "no/such/folder.zip"
    done = create(cup, *matches, out=out)
    assert (code, "") == (done.returncode, done.stdout if broken != "out" else "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_broken_bundle_never_stops_the_others(cup: Path) -> None:
    """The broken bundle is UNREADABLE with its reason; later files get their verdicts."""
    create(cup)
    (cup / "cut.zip").write_bytes((cup / "cup.zip").read_bytes()[:-1])
    done = rollbook("audit", cup / "cut.zip", cup / "matches", "--key", cup / "judge.pub")
    assert 3 == done.returncode
    assert f"{cup / 'cut.zip'}: UNREADABLE: the archive was cut or extended" in done.stdout
    assert 3 == done.stdout.count(": EXACT, ")


def opened(data: bytes, folder: Path) -> Bundle:
    """Open a bundle from a file."""
    (folder / "opened.zip").write_bytes(data)
    return open_bundle(folder / "opened.zip")


def test_a_bundle_gives_its_replays_back_byte_for_byte(tmp_path: Path) -> None:
    """The replays come in the order of their names."""
    bundle = opened(bundled(manifest(), replays(*NUMBERS)), tmp_path)
    assert replays(*NUMBERS) == {source.match_id: source.read() for source in bundle.sources}


def test_whoever_unpacks_a_bundle_may_read_its_files(tmp_path: Path) -> None:
    """Entries have the mode of regular files; without it some programs unpack unreadable files."""
    (tmp_path / "cup.zip").write_bytes(bundled(manifest(), replays(*NUMBERS)))
    with zipfile.ZipFile(tmp_path / "cup.zip") as archive:
        assert {"-rw-r--r--"} == {stat.filemode(info.external_attr >> 16) for info in archive.infolist()}


def test_a_writer_that_is_killed_leaves_what_stood_there(tmp_path: Path) -> None:
    """A published page or bundle is complete at every moment."""
    target = tmp_path / "file"
    target.write_bytes(b"old")
    script = (
        "import sys, time\nfrom pathlib import Path\nfrom rollbook.files import appearing\n"
        f"with appearing(Path({str(target)!r})) as file:\n"
        "    file.write(b'new'); file.flush(); print('written', flush=True); time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as writer:
        try:
            assert writer.stdout is not None
            assert b"written\n" == writer.stdout.readline()
            assert b"old" == target.read_bytes()
        finally:
            writer.kill()
    assert b"old" == target.read_bytes()
    with appearing(target) as file:
        file.write(b"new")
    assert b"new" == target.read_bytes()
