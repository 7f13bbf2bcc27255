"""The units in `service/deploy/systemd`, read by systemd-analyze. No unit is started: PID 1 is no systemd here."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from rollbook.server.configuration.flags import FLAGS
from rollbook.storage.embedded.server import find_server
from tests.tools import tool

UNITS: Final = sorted((Path(__file__).parents[2] / "service" / "deploy" / "systemd").glob("*.service"))
MOST_EXPOSED: Final = 15
"""The exposure that `systemd-analyze security` may compute, in tenths; a unit without any hardening has 96."""


def test_there_is_a_unit_for_the_service_the_page_and_the_store() -> None:
    """The tests below read these three."""
    assert ["rollbook-page", "rollbook-valkey", "rollbook"] == [unit.stem for unit in UNITS]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_systemd_accepts_every_line_and_finds_the_unit_hardened(unit: Path, tmp_path: Path) -> None:
    """No unknown key, no impossible value; only the programs are those of this machine."""
    text = unit.read_text(encoding="utf-8")
    text = text.replace("/opt/rollbook/bin/rollbook", str(Path(sys.executable).with_name("rollbook")))
    text = text.replace("/usr/bin/valkey-server", str(find_server()))
    here = tmp_path / unit.name
    here.write_text(text, encoding="utf-8")
    analyze = tool("systemd-analyze")
    done = subprocess.run([analyze, "verify", "--man=no", here], capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stderr)
    done = subprocess.run(
        [analyze, "security", "--no-pager", "--offline=true", f"--threshold={MOST_EXPOSED}", here],
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_units_set_only_variables_that_there_are_and_drain_before_they_are_killed(unit: Path) -> None:
    """A variable with a typing error would be ignored without a word."""
    text = unit.read_text(encoding="utf-8")
    known = {setting.variable for setting in FLAGS} | {"ROLLBOOK_SERVICE", "ROLLBOOK_WEB_LISTEN", "ROLLBOOK_TOKEN"}
    assert set(re.findall(r"(ROLLBOOK_\w+)=", text)) <= known
    (seconds,) = re.findall(r"^TimeoutStopSec=(\d+)$", text, re.MULTILINE)
    assert int(seconds) >= 30
    # Otherwise systemd would end the workers and the page beside their supervisor.
    assert ("KillMode=mixed" in text) == (unit.stem == "rollbook")
