"""A long audit ends with all verdicts, although files are hostile and auditors are killed."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil
import pytest

from rollbook.replay_file.container import LARGEST_FILE, MAGIC, write
from rollbook.rules.catalogue import current
from rollbook_replays.audit import workers
from rollbook_replays.audit.sources import File, Source
from rollbook_replays.audit.verdicts import Verdict
from rollbook_replays.audit.workers import DIED, audit_all
from tests.replays import greedy
from tests.replays.deadly import ROOT, Deadly
from tests.replays.replaying import KEYS, PUBLIC, recorded

SEED: Final = random.SystemRandom().randrange(10**6)
GOOD_OF_TEN: Final = 6
"""The number of good files in ten."""


def good_files() -> list[bytes]:
    """Return a match of every game as a file."""
    return [write(recorded(game, rules.seats[0]), KEYS.replays) for game, rules in current().items()]


def kinds() -> dict[str, tuple[str, Callable[[Path, random.Random], object]]]:
    """Return the kinds of files in a folder, each with its verdict and a function that writes it."""
    good = good_files()
    large = greedy.files()

    def sparse(path: Path) -> None:
        with path.open("wb") as file:
            file.write(MAGIC)
            file.truncate(1 << 33)

    def flipped(path: Path, rng: random.Random) -> None:
        data = bytearray(rng.choice(good))
        data[-1 - rng.randrange(64)] ^= 1 << rng.randrange(8)
        path.write_bytes(data)

    return {
        "packed": (
            "exact",
            lambda path, rng: path.write_bytes(gzip.compress(rng.choice(good))),
        ),
        "flipped": ("diverged", flipped),
        "counted": ("diverged", lambda path, _: path.write_bytes(write(greedy.claimed(), KEYS.replays))),
        "cut": ("unreadable", lambda path, rng: path.write_bytes(rng.choice(good)[: rng.randrange(1_000)])),
        "empty": ("unreadable", lambda path, _: path.touch()),
        "noise": ("unreadable", lambda path, rng: path.write_bytes(rng.randbytes(10_000))),
        "sparse": ("unreadable", lambda path, _: sparse(path)),
        "endless": ("unreadable", lambda path, _: path.symlink_to("/dev/zero")),
        "pipe": ("unreadable", lambda path, _: os.mkfifo(path)),
        "circle": ("unreadable", lambda path, _: path.symlink_to(path)),
        "folder": ("unreadable", lambda path, _: path.mkdir()),
        "bomb": ("unreadable", lambda path, _: path.write_bytes(gzip.compress(bytes(LARGEST_FILE + 1)))),
        "large": ("unreadable", lambda path, rng: path.write_bytes(large[rng.choice(list(large))])),
    }


def fill(folder: Path, count: int, rng: random.Random) -> dict[str, str]:
    """Write this many files; returns the verdicts by name, in their expected order."""
    good, others = good_files(), kinds()
    expected = {}
    for number in range(count):
        kind = "good" if rng.randrange(10) < GOOD_OF_TEN else rng.choice(list(others))
        path = folder / f"{number:05}-{kind}.rollbook"
        verdict = "exact"
        if kind == "good":
            path.write_bytes(rng.choice(good))
        else:
            verdict, make = others[kind]
            make(path, rng)
        expected[path.name] = verdict
    return expected


def auditors_of(process: int) -> list[psutil.Process]:
    """Return the auditor processes of this process."""
    found = []
    for child in psutil.Process(process).children():
        with suppress(psutil.NoSuchProcess):  # Another process may end at any moment.
            found += [child] if workers.PROGRAM in child.cmdline() else []
    return found


@pytest.mark.parametrize("count", [150, pytest.param(2_000, marks=[pytest.mark.slow, pytest.mark.timeout(900)])])
def test_every_file_gets_its_verdict_while_auditors_are_killed(count: int, tmp_path: Path) -> None:
    """Verdicts come in order. A file is judged again after its auditor died, so only two kills blame it."""
    rng = random.Random(SEED)
    print(f"seed {SEED}")
    expected = fill(tmp_path, count, rng)
    keys = tmp_path / "KEY.pub"
    keys.write_text(KEYS.public, encoding="ascii")
    words = [
        sys.executable,
        "-u",
        "-m",
        "rollbook",
        "audit",
        str(tmp_path),
        "--key",
        str(keys),
        "--json",
        "--jobs",
        "2",
    ]
    kills = 0
    results: list[dict[str, str]] = []
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as audited:
        assert audited.stdout is not None
        assert audited.stderr is not None
        for line in audited.stdout:
            results.append(json.loads(line))
            if rng.randrange(20) == 0 and (children := auditors_of(audited.pid)):
                with suppress(psutil.NoSuchProcess):
                    rng.choice(children).kill()
                    kills += 1
        assert "Traceback" not in audited.stderr.read()
    assert 0 < kills
    assert list(expected) == [Path(found["path"]).name for found in results]
    wrong = {
        name: found["found"]
        for (name, verdict), found in zip(expected.items(), results, strict=True)
        if found["verdict"] != verdict
    }
    assert set(wrong.values()) <= {DIED}
    assert len(wrong) <= kills // 2
    assert 1 == audited.returncode


@pytest.fixture
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let auditors import the tests, which define the deadly replays."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def among_good(folder: Path, deed: str, count: int = 5) -> tuple[list[Source], Deadly]:
    """Return a deadly replay between good ones."""
    good = folder / "good.rollbook"
    good.write_bytes(good_files()[0])
    deadly = Deadly(folder / "mark", deed, good)
    return [*[File(good)] * count, deadly, *[File(good)] * count], deadly


@pytest.mark.usefixtures("at_home")
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("deed", ["kills", "eats"])
def test_a_file_that_ends_two_auditors_is_unreadable_and_no_other_is(
    deed: str, jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is tried twice; other auditors repeat the other files of its auditors."""
    monkeypatch.setattr(workers, "FEW", 1)
    monkeypatch.setattr(workers, "BATCH", 4)
    found, deadly = among_good(tmp_path, deed)
    results = list(audit_all(found, PUBLIC, (), jobs))
    assert found == [source for source, _ in results]
    assert [deadly] == [source for source, audited in results if audited.verdict is not Verdict.EXACT]
    assert {DIED, ""} == {audited.unreadable for _, audited in results}
    assert 2 == deadly.readers


@pytest.mark.usefixtures("at_home")
def test_a_file_whose_auditor_was_killed_once_is_judged_again(tmp_path: Path) -> None:
    """The kill may have had another cause than the file."""
    found, deadly = among_good(tmp_path, "kills once")
    assert [Verdict.EXACT] * len(found) == [audited.verdict for _, audited in audit_all(found, PUBLIC, (), 1)]
    assert 2 == deadly.readers


@pytest.mark.usefixtures("at_home")
def test_a_file_that_never_ends_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading it may block for ever."""
    monkeypatch.setattr(workers, "SILENT_SECONDS", 4.0)
    found, deadly = among_good(tmp_path, "never ends", 1)
    results = [(audited.verdict, audited.unreadable) for _, audited in audit_all(found, PUBLIC, (), 1)]
    assert [(Verdict.EXACT, ""), (Verdict.UNREADABLE, DIED), (Verdict.EXACT, "")] == results
    assert 2 == deadly.readers


def test_a_run_without_any_auditor_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If no auditor can start, every file gets that reason, and the run ends."""
    monkeypatch.setattr(workers, "PROGRAM", "rollbook_replays.audit.nobody")
    monkeypatch.setattr(workers, "MOST_FALSE_STARTS", 2)
    found, _ = among_good(tmp_path, "nothing", 1)
    assert [DIED] * 3 == [audited.unreadable for _, audited in audit_all(found, PUBLIC, (), 1)]


BUSY = """
from rollbook_replays.audit import bounds
bounds.MOST_SECONDS = 1
bounds.bound_time()
while True:
    pass
"""


def test_an_audit_that_works_longer_than_any_is_killed() -> None:
    """It is killed, and the run continues."""
    done = subprocess.run([sys.executable, "-c", BUSY], check=False)
    assert -signal.SIGXCPU == done.returncode


BOUND = """
import resource, sys
from rollbook_replays.audit import bounds
bounds.bound_memory()
print(resource.getrlimit(resource.RLIMIT_AS)[0] == bounds.MOST_MEMORY_BYTES)
"""


def test_auditors_of_the_command_have_the_limits_of_those_of_the_service(tmp_path: Path) -> None:
    """The limit of a running auditor is read: a gigabyte of address space."""
    assert "True\n" == subprocess.run([sys.executable, "-c", BOUND], capture_output=True, text=True, check=True).stdout
    good = tmp_path / "good.rollbook"
    good.write_bytes(good_files()[0])
    with workers.Crew(PUBLIC, (), 1) as crew:
        for _ in crew.audit([File(good)]):
            (auditor,) = auditors_of(os.getpid())
            limits = Path(f"/proc/{auditor.pid}/limits").read_text(encoding="ascii")
            assert str(1 << 30) in next(line for line in limits.splitlines() if line.startswith("Max address space"))
    assert [] == auditors_of(os.getpid())
