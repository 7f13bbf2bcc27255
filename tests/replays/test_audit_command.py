"""`rollbook audit` and its files as a judge runs it: real processes, real files."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from rollbook.replay_file.container import read, without_names, write
from rollbook.replay_file.kept_heads import WitnessedHead, write_heads
from rollbook.replay_file.key_lines import read_keys
from rollbook.replay_file.recording import Keys
from rollbook_replays.audit import workers as many
from rollbook_replays.audit.audit import audit
from rollbook_replays.audit.auditor import audit_one
from rollbook_replays.audit.sources import File, sources
from rollbook_replays.audit.verdicts import Audited, Verdict
from rollbook_replays.commands.audit import _Verdicts
from tests.cli.test_commands import files_of, rollbook
from tests.replays.replaying import KEYS, recorded


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of simulated matches with their keys."""
    folder = tmp_path_factory.mktemp("corpus")
    words = ("--matches", "3", "--seed", "5", "--format", "rollbook", "--out", str(folder))
    assert 0 == rollbook("simulate", "cant_stop", *words).returncode
    assert 0 == rollbook("simulate", "allie_gator", *words).returncode
    return folder


def objects(printed: str) -> list[dict[str, Any]]:
    """Parse the JSON lines of the output."""
    return [json.loads(line) for line in printed.splitlines()]


def test_simulated_replays_are_exact_with_the_key_beside_them(corpus: Path) -> None:
    """One line a file, in the order of the paths; a folder means all files in it."""
    done = rollbook("audit", str(corpus), "--key", str(corpus / "KEY.pub"))
    names = sorted(str(file) for file in corpus.glob("*.rollbook"))
    assert 6 == len(names)
    assert 0 == done.returncode
    assert names == [line.partition(": EXACT, ")[0] for line in done.stdout.splitlines()]
    assert "6 exact" in done.stderr
    assert "events/s" in done.stderr


def test_the_same_seed_gives_the_same_replays_under_any_hash_seed(corpus: Path, tmp_path: Path) -> None:
    """Corpora of any size can be made anywhere, and KEY.pub has the keys of all seeds."""
    for seed in ("5", "6", "5"):
        words = ("--matches", "3", "--seed", seed, "--format", "rollbook", "--out", str(tmp_path))
        assert 0 == rollbook("simulate", "cant_stop", *words, env={"PYTHONHASHSEED": seed}).returncode
    again = files_of(tmp_path)
    assert Keys.of(5).public + Keys.of(6).public == again.pop("KEY.pub").decode()
    assert 6 == len(again)
    first = files_of(corpus)
    assert all(first[name] == data for name, data in again.items() if "-5-" in name)


def test_every_kind_of_file_gets_its_verdict_and_none_stops_the_others(corpus: Path, tmp_path: Path) -> None:
    """The worst file sets the exit code: diverged before unreadable before unverified."""
    good = (corpus / "cant_stop-5-0.rollbook").read_bytes()
    (tmp_path / "a.rollbook").write_bytes(without_names(good))
    (tmp_path / "b.rollbook").write_bytes(good[:-1])
    (tmp_path / "c.rollbook").write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    (tmp_path / "d.rollbook").write_bytes(b"")
    (tmp_path / "e.rollbook").mkdir()
    missing = tmp_path / "f.rollbook"
    words = (str(tmp_path), str(missing), "--key", str(corpus / "KEY.pub"))
    done = rollbook("audit", *words, "--json")
    assert 1 == done.returncode
    told = objects(done.stdout)
    verdicts = ["exact", "unreadable", "diverged", "unreadable", "unreadable", "unreadable"]
    assert verdicts == [found["verdict"] for found in told]
    assert ("cant_stop-5-0", None, "container") == tuple(told[2][key] for key in ("match", "event", "check"))
    assert "the file was cut" in told[1]["found"]
    assert "No such file" in told[5]["found"]
    assert 3 == rollbook("audit", str(missing)).returncode
    plain = rollbook("audit", *words).stdout.splitlines()
    assert f"{tmp_path / 'c.rollbook'}: DIVERGED, container: expected file that key" in plain[2]


def test_without_keys_files_are_unverified_and_say_which_are_missing(corpus: Path) -> None:
    """The output names the missing keys, so the judge knows whom to ask."""
    done = rollbook("audit", str(corpus / "cant_stop-5-0.rollbook"), "--json")
    assert 2 == done.returncode
    named = [missing.rpartition(" ")[2] for missing in objects(done.stdout)[0]["missing"]]
    assert list(read_keys(Keys.of(5).public)) == named


def test_a_kept_head_of_another_history_is_found(corpus: Path, tmp_path: Path) -> None:
    """A kept head proves that the match was rewritten."""
    file = corpus / "cant_stop-5-0.rollbook"
    replay = read(file.read_bytes()).replay
    head = replay.heads[-1]
    kept = WitnessedHead(replay.match_id, head.sequence, head.link, head.key_id, head.signature)
    heads = tmp_path / "heads.jsonl"
    heads.write_text(write_heads([kept]), encoding="utf-8")
    words = ("audit", str(file), "--key", str(corpus / "KEY.pub"), "--head", str(heads))
    assert 0 == rollbook(*words).returncode


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 64, "at least one file or folder"),
        (("x", "--jobs", "0"), 64, "--jobs must be at least 1"),
        (("x", "--key", "{folder}/nothing"), 3, "nothing: No such file or directory"),
        (("x", "--key", "{folder}/wrong"), 3, "wrong:1: a line is a key id and an Ed25519 public key"),
        (("x", "--head", "{folder}/wrong"), 3, "wrong:1: this is no JSON object"),
        (("x", "--key", "{folder}/bytes"), 3, "bytes:1: not UTF-8"),
        (("{folder}",), 3, "there are no replay files there"),
    ],
)
def test_wrong_words_and_files_are_explained(words: tuple[str, ...], code: int, said: str, tmp_path: Path) -> None:
    """No file is audited with other keys than the judge meant."""
    (tmp_path / "wrong").write_text("wrong\n")
    (tmp_path / "bytes").write_bytes(b"\xff")
    done = rollbook("audit", *(word.format(folder=tmp_path) for word in words))
    assert (code, "") == (done.returncode, done.stdout)
    assert said in done.stderr


def test_many_files_are_audited_by_several_processes_in_their_order(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verdicts equal those of a single process."""
    monkeypatch.setattr(many, "FEW", 1)
    monkeypatch.setattr(many, "BATCH", 2)
    keys = read_keys((corpus / "KEY.pub").read_text())
    found = list(sources(corpus))
    assert [(source, audit(source.read(), keys)) for source in found] == list(many.audit_all(found, keys, (), 2))


def test_a_lack_of_memory_ends_the_auditor_instead_of_its_answer(corpus: Path) -> None:
    """An empty answer would mean that the auditor is ready, and the caller would wait for the file."""

    class Large(File):
        def read(self) -> bytes:
            raise MemoryError

    with pytest.raises(MemoryError):
        audit_one(Large(corpus / "cant_stop-5-0.rollbook"), {}, ())


WATCHED = """
import sys
from pathlib import Path
from rollbook.replay_file.key_lines import read_keys
from rollbook_replays.audit.auditor import audit_one
from rollbook_replays.audit.sources import File
file, key = map(Path, sys.argv[1:])
keys = read_keys(key.read_text())
audit_one(File(file), keys, ())  # whatever is loaded late is loaded now
happened = []
sys.addaudithook(lambda what, args: happened.append((what, str(args[0]) if args else "")))
audited = audit_one(File(file), keys, ())
touched = {(what, of) for what, of in happened if what.split(".")[0] in {"open", "socket", "subprocess", "import"}}
assert audited.verdict == "exact"
assert touched == {("open", str(file))}, touched
import rollbook_replays.commands.audit
assert not {"grpc", "redis"} & set(sys.modules), "loaded"
"""


def test_the_audit_loads_neither_grpc_nor_redis_and_reads_nothing_but_its_arguments(corpus: Path) -> None:
    """A judge has to trust no service, no network and no other file."""
    words = (str(corpus / "allie_gator-5-0.rollbook"), str(corpus / "KEY.pub"))
    done = subprocess.run([sys.executable, "-c", WATCHED, *words], capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stderr.partition("Traceback")[2])


def test_a_name_of_a_file_cannot_be_taken_for_a_verdict(corpus: Path, tmp_path: Path) -> None:
    """File names that look like a line of the output, or that are not UTF-8, stay within their line."""
    good = (corpus / "cant_stop-5-0.rollbook").read_bytes()
    for name in (b"a\nforged.rollbook: EXACT, 99 events\n.rollbook", b"b\xff.rollbook", b"c\x1b[31m.rollbook"):
        (tmp_path / os.fsdecode(name)).write_bytes(good)
    page = tmp_path / "page.html"
    words = ("audit", str(tmp_path), "--key", str(corpus / "KEY.pub"), "--report", str(page))
    done = rollbook(*words, env={"PYTHONIOENCODING": "utf-8:strict"})
    assert (0, 3) == (done.returncode, len(done.stdout.splitlines()))
    assert done.stdout.replace("\n", "").isprintable()
    assert "b\N{REPLACEMENT CHARACTER}.rollbook" in page.read_text("utf-8")
    done = rollbook(*words, "--json", env={"PYTHONIOENCODING": "utf-8:strict"})
    told = [Path(found["path"]) for found in objects(done.stdout)]
    assert sorted(tmp_path.glob("*.rollbook")) == told


def test_a_name_of_a_key_cannot_be_taken_for_a_verdict(tmp_path: Path) -> None:
    """The file names the keys of its heads, the audit prints missing ones, and a forger chooses these names."""
    replay = recorded("cant_stop", 2)
    heads = tuple(replace(head, key_id="k\nx: EXACT\x1b[2J") for head in replay.heads)
    file = tmp_path / "file.rollbook"
    file.write_bytes(write(replace(replay, heads=heads), KEYS.replays))
    done = rollbook("audit", str(file))
    assert (2, 1) == (done.returncode, len(done.stdout.splitlines()))
    assert "\x1b" not in done.stdout


def test_what_is_no_file_is_told_and_nobody_waits_for_it(corpus: Path, tmp_path: Path) -> None:
    """A pipe without a writer, circular links and a device are reported; a linked folder is searched once."""
    (tmp_path / "good.rollbook").write_bytes((corpus / "cant_stop-5-0.rollbook").read_bytes())
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "circle.rollbook").symlink_to(tmp_path / "circle.rollbook")
    (tmp_path / "device.rollbook").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.rollbook")
    done = rollbook("audit", str(tmp_path), "--key", str(corpus / "KEY.pub"))
    expected = {
        "circle": "UNREADABLE: Too many levels of symbolic links",
        "device": "UNREADABLE: a pipe or a device, and no file",
        "good": "EXACT",
        "pipe": "UNREADABLE: a pipe or a device, and no file",
    }
    lines = [f"{tmp_path / name}.rollbook: {why}" for name, why in expected.items()]
    assert (3, lines) == (
        done.returncode,
        [line.partition(", 3")[0].partition(", 2")[0] for line in done.stdout.splitlines()],
    )
    shown = rollbook("show", str(tmp_path / "pipe.rollbook"))
    assert (3, "") == (shown.returncode, shown.stdout)
    assert "a pipe or a device" in shown.stderr


AS_NOBODY = """
import os, sys
from pathlib import Path
from rollbook_replays.audit.auditor import audit_one
from rollbook_replays.audit.sources import sources
from rollbook_replays.audit.verdicts import Audited, Verdict
from rollbook_replays.commands.audit import _Verdicts
if os.geteuid() == 0:
    os.seteuid(65534)  # nothing is locked for root
for source in sources(Path(sys.argv[1])):
    print(source.name, audit_one(source, {}, ()).unreadable)
"""


def test_a_folder_that_cannot_be_looked_into_is_told() -> None:
    """Its files are unproved, so skipping the folder silently would leave the other verdicts EXACT."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "locked").mkdir(mode=0)
        words = [sys.executable, "-c", AS_NOBODY, name]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        (folder / "locked").chmod(0o755)
    assert (f"{folder / 'locked'} Permission denied\n", "") == (done.stdout, done.stderr)


@pytest.mark.parametrize("files", [1, 200])
def test_a_reader_who_leaves_changes_no_verdict(files: int, corpus: Path, tmp_path: Path) -> None:
    """`rollbook audit … | head -1` ends without an error message, with the exit code of all files."""
    folder = tmp_path / "files"
    folder.mkdir()
    good = (corpus / "cant_stop-5-0.rollbook").read_bytes()
    for number in range(files):
        (folder / f"{number:03}-{'x' * 200}.rollbook").write_bytes(good)
    (folder / "z.rollbook").write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    words = [sys.executable, "-m", "rollbook", "audit", str(folder), "--key", str(corpus / "KEY.pub")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as audited:
        assert audited.stdout is not None
        audited.stdout.close()
        assert audited.stderr is not None
        said = audited.stderr.read()
    assert (1, False) == (audited.returncode, "Error" in said)
    assert f"{files} exact, 1 diverged" in said


def test_a_full_disk_is_said_in_a_line(corpus: Path) -> None:
    """The exit code is 3, because 1 would mean that a file diverged."""
    with Path("/dev/full").open("w") as full:
        words = [sys.executable, "-m", "rollbook", "audit", str(corpus), "--key", str(corpus / "KEY.pub")]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert 3 == done.returncode
    assert "verdicts cannot be written: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_page_that_cannot_be_written_changes_no_verdict(corpus: Path, tmp_path: Path) -> None:
    """The verdicts are printed, and the exit code is not 1, which would mean a divergence."""
    words = (str(corpus), "--key", str(corpus / "KEY.pub"), "--report", str(tmp_path / "nowhere" / "page.html"))
    done = rollbook("audit", *words)
    assert (3, 6) == (done.returncode, done.stdout.count(": EXACT, "))
    assert "page.html: No such file or directory" in done.stderr


def test_a_path_that_cannot_be_looked_at_is_told_like_any_file(corpus: Path, tmp_path: Path) -> None:
    """A name that is too long for the file system does not end the run."""
    long = tmp_path / ("x" * 300)
    done = rollbook("audit", str(long), str(corpus), "--key", str(corpus / "KEY.pub"))
    assert (3, 7) == (done.returncode, len(done.stdout.splitlines()))
    assert f"{long}: UNREADABLE: File name too long" == done.stdout.splitlines()[0]


def run_into(output: str, *words: str | Path, before: str = "") -> tuple[int, str]:
    """Run an audit in a shell with this standard output; returns exit code and errors."""
    command = f'{before}exec "$0" -m rollbook audit "$@" {output}'
    shell = ["sh", "-c", command, sys.executable, *map(str, words)]
    done = subprocess.run(shell, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize(("output", "expected"), [(">/dev/full", (3, 1)), (">&-", (0, 1))])
def test_a_code_does_not_depend_on_who_can_write_it_down(
    output: str, expected: tuple[int, int], corpus: Path, tmp_path: Path
) -> None:
    """Exit code 1 always means that a file diverged, even if the verdict could not be written."""
    good = corpus / "cant_stop-5-0.rollbook"
    bad = tmp_path / "bad.rollbook"
    bad.write_bytes(good.read_bytes()[:-1] + bytes([good.read_bytes()[-1] ^ 1]))
    known = ("--key", corpus / "KEY.pub")
    outcomes = [run_into(output, *files, *known) for files in ([good], [bad, good])]
    assert expected == tuple(code for code, _ in outcomes)
    assert not any("Traceback" in said for _, said in outcomes)
    assert "1 exact, 1 diverged" in outcomes[1][1]


def test_an_audit_that_can_start_no_auditor_says_so(corpus: Path) -> None:
    """The exit code is not 1, because no file diverged."""
    words = (corpus / "cant_stop-5-0.rollbook", "--key", corpus / "KEY.pub")
    code, said = run_into("", *words, before="ulimit -n 6; ")
    assert 3 == code
    assert "rollbook audit: the audit was broken off: Too many open files" in said


def test_a_verdict_can_be_read_as_soon_as_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader at the other end of a pipe receives each verdict at once."""
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BufferedWriter(cast("Any", written)), "utf-8"))
    _Verdicts(as_json=False).tell("first", Audited(Verdict.UNREADABLE, unreadable="no replay"))
    assert b"first: UNREADABLE: no replay\n" == written.getvalue()
