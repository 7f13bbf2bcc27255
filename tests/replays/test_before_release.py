"""Files from before the first release are recognised and are not called forged or broken."""

from __future__ import annotations

import gzip
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rollbook.match.simulation import Simulation
from rollbook.replay_file.container import BeforeRelease, read, write
from rollbook.replay_file.key_lines import read_keys
from rollbook.replay_file.recording import Keys, record
from rollbook.rules.catalogue import find
from rollbook.v1.events_pb2 import Event
from rollbook_replays.audit.audit import audit
from rollbook_replays.audit.verdicts import Verdict

FOLDER = Path(__file__).parent / "before_release"
FILES = sorted(FOLDER.glob("*.rollbook"))
KEYS = Keys.of(5)
OLD = ("the file was written before the first release",)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_of_the_first_form_is_unverified(file: Path) -> None:
    """No release reads the file, and no error is reported against it."""
    with pytest.raises(BeforeRelease):
        read(file.read_bytes())
    audited = audit(file.read_bytes(), read_keys((FOLDER / "KEY.pub").read_text("ascii")))
    assert (Verdict.UNVERIFIED, None, OLD) == (audited.verdict, audited.divergence, audited.missing)


def test_so_is_a_log_of_the_first_envelope() -> None:
    """Event 1 has the envelope of the whole log; chain and signatures are not checked."""
    replay = record(Simulation(find("cant_stop"), {}, 2, 5, 0), KEYS.heads)
    first = Event.FromString(replay.events[0])
    first.opened.envelope = 1
    old = replace(replay, events=(first.SerializeToString(deterministic=True),), heads=())
    audited = audit(write(old, KEYS.replays), read_keys(KEYS.public))
    assert (Verdict.UNVERIFIED, None) == (audited.verdict, audited.divergence)
    assert OLD[0] in audited.missing


def test_the_command_says_so(tmp_path: Path) -> None:
    """Exit code 2, as for other unverified files; a good file in gzip is exact."""
    replay = record(Simulation(find("cant_stop"), {}, 2, 5, 0), KEYS.heads)
    packed = tmp_path / "match.rollbook.gz"
    packed.write_bytes(gzip.compress(write(replay, KEYS.replays)))
    (tmp_path / "keys").write_text(KEYS.public)
    words = [sys.executable, "-m", "rollbook", "audit", "--key", str(tmp_path / "keys")]
    for paths, code, word in (([*FILES], 2, OLD[0]), ([packed], 0, "EXACT"), ([tmp_path], 0, "EXACT")):
        done = subprocess.run([*words, *map(str, paths)], capture_output=True, text=True, check=False)
        assert (code, True) == (done.returncode, word in done.stdout), done
    shown = subprocess.run([*words[:3], "show", str(packed)], capture_output=True, text=True, check=False)
    assert 0 == shown.returncode, shown
