"""`rollbook audit` and the files it is given, as a judge runs it: real processes, real files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rollbook_replays import many
from rollbook_replays.auditing import audit
from rollbook_replays.container import read, without_names
from rollbook_replays.kept_heads import WitnessedHead, write_heads
from rollbook_replays.public_keys import read_keys
from rollbook_replays.recording import Keys
from rollbook_replays.sources import sources
from tests.commands.test_commands import files_of, rollbook


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of simulated matches with their keys."""
    folder = tmp_path_factory.mktemp("corpus")
    words = ("--matches", "3", "--seed", "5", "--format", "rollbook", "--out", str(folder))
    assert 0 == rollbook("simulate", "cant_stop", *words).returncode
    assert 0 == rollbook("simulate", "allie_gator", *words).returncode
    return folder


def objects(printed: str) -> list[dict[str, Any]]:
    """What was printed for programs."""
    return [json.loads(line) for line in printed.splitlines()]


def test_simulated_replays_are_exact_with_the_key_beside_them(corpus: Path) -> None:
    """One line a file, in the order of the paths; a folder stands for all that is in it."""
    done = rollbook("audit", str(corpus), "--key", str(corpus / "KEY.pub"))
    names = sorted(str(file) for file in corpus.glob("*.rollbook"))
    assert 6 == len(names)
    assert 0 == done.returncode
    assert names == [line.partition(": EXACT, ")[0] for line in done.stdout.splitlines()]
    assert "6 exact" in done.stderr
    assert "events/s" in done.stderr


def test_the_same_seed_gives_the_same_replays_under_any_hash_seed(corpus: Path, tmp_path: Path) -> None:
    """Corpora of any size can be made anywhere, and KEY.pub gathers the keys of all seeds."""
    for seed in ("5", "6", "5"):
        words = ("--matches", "3", "--seed", seed, "--format", "rollbook", "--out", str(tmp_path))
        assert 0 == rollbook("simulate", "cant_stop", *words, env={"PYTHONHASHSEED": seed}).returncode
    again = files_of(tmp_path)
    assert Keys.of(5).public + Keys.of(6).public == again.pop("KEY.pub").decode()
    assert 6 == len(again)
    first = files_of(corpus)
    assert all(first[name] == data for name, data in again.items() if "-5-" in name)


def test_every_kind_of_file_gets_its_verdict_and_none_stops_the_others(corpus: Path, tmp_path: Path) -> None:
    """The worst decides the exit code: diverged before unreadable before unverified."""
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
    assert ["path", "match", "verdict", "event", "check", "expected", "found", "missing"] == list(told[0])
    assert ("cant_stop-5-0", None, "container") == tuple(told[2][key] for key in ("match", "event", "check"))
    assert "the file was cut" in told[1]["found"]
    assert "No such file" in told[5]["found"]
    assert 3 == rollbook("audit", str(missing)).returncode
    plain = rollbook("audit", *words).stdout.splitlines()
    assert f"{tmp_path / 'c.rollbook'}: DIVERGED, container: expected file that key" in plain[2]


def test_without_keys_files_are_unverified_and_say_which_are_missing(corpus: Path) -> None:
    """A judge learns whom to ask."""
    done = rollbook("audit", str(corpus / "cant_stop-5-0.rollbook"), "--json")
    assert 2 == done.returncode
    named = [missing.rpartition(" ")[2] for missing in objects(done.stdout)[0]["missing"]]
    assert list(read_keys(Keys.of(5).public)) == named


def test_a_kept_head_of_another_history_is_found(corpus: Path, tmp_path: Path) -> None:
    """Whoever kept a head proves that the match was rewritten."""
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
        (("x", "--key", "{folder}/wrong"), 1, "wrong:1: a line is a key id and an Ed25519 public key"),
        (("x", "--head", "{folder}/wrong"), 1, "wrong:1: this is no JSON object"),
        (("x", "--key", "{folder}/bytes"), 3, "bytes: not UTF-8"),
        (("{folder}",), 3, "there are no replay files there"),
    ],
)
def test_wrong_words_and_files_are_explained(words: tuple[str, ...], code: int, said: str, tmp_path: Path) -> None:
    """Nothing is audited with other keys than the judge meant."""
    (tmp_path / "wrong").write_text("wrong\n")
    (tmp_path / "bytes").write_bytes(b"\xff")
    done = rollbook("audit", *(word.format(folder=tmp_path) for word in words))
    assert (code, "") == (done.returncode, done.stdout)
    assert said in done.stderr


def test_many_files_are_audited_by_several_processes_in_their_order(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verdicts are those that one process gives."""
    monkeypatch.setattr(many, "FEW", 1)
    monkeypatch.setattr(many, "BATCH", 2)
    keys = read_keys((corpus / "KEY.pub").read_text())
    found = list(sources(corpus))
    assert [(source, audit(source.read(), keys)) for source in found] == list(many.audit_all(found, keys, (), 2))


WATCHED = """
import sys
from pathlib import Path
from rollbook_replays.commands.audit import audit
file, key = map(Path, sys.argv[1:])
audit(file, key=[key], jobs=1)  # whatever is loaded late is loaded now
happened = []
sys.addaudithook(lambda what, args: happened.append((what, str(args[0]) if args else "")))
code = audit(file, key=[key], jobs=1)
touched = {(what, of) for what, of in happened if what.split(".")[0] in {"open", "socket", "subprocess", "import"}}
assert code == 0
assert touched == {("open", str(file)), ("open", str(key))}, touched
assert not {"grpc", "redis"} & set(sys.modules), "loaded"
"""


def test_the_audit_loads_neither_grpc_nor_redis_and_reads_nothing_but_its_arguments(corpus: Path) -> None:
    """A judge trusts no service, no network and no file but those in hand."""
    words = (str(corpus / "allie_gator-5-0.rollbook"), str(corpus / "KEY.pub"))
    done = subprocess.run([sys.executable, "-c", WATCHED, *words], capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stderr.partition("Traceback")[2])
