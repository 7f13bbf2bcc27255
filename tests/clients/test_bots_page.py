"""A reader who follows the page for authors of bots gets a bot that plays."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rollbook_clients.sdk.sync import connect
from tests.clients.sdk.tables import service
from tests.documents import blocks_in
from tests.server.serving import until

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "clients" / "BOTS.md").read_text(encoding="utf-8")


@pytest.mark.timeout(600)  # it installs from package indexes
def test_a_reader_installs_the_three_files_and_their_bot_plays(tmp_path: Path) -> None:
    """Runs the commands of the page in a new environment: a duel, the bot's own test, and a match at a service."""
    commands, folder = blocks_in(PAGE), tmp_path / "my-bots"
    install = commands.pop("run")
    assert {"my_bots.py", "pyproject.toml", "test_my_bots.py"} == commands.keys()
    (tmp_path / "rollbook").symlink_to(ROOT)
    folder.mkdir()
    for name, text in commands.items():
        (folder / name).write_text(text, encoding="utf-8")
    # The other environment gets only this one's interpreter and settings of pip.
    kept = {name: value for name, value in os.environ.items() if name in {"HOME", "LANG"} or name.startswith("PIP_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = run(["bash", "-euxc", install], folder, kept | {"PATH": path})
    assert "A timid" in done
    assert "1 passed" in done
    (line,) = re.findall(r"`(rollbook bot [^`]+)`", PAGE)
    _, *words = shlex.split(line)
    with service(tmp_path / "service") as served, connect(served.address) as table:
        match = table.open("cant_stop", 2)
        rollbook = [str(folder / ".venv" / "bin" / "rollbook"), *words]
        with ThreadPoolExecutor() as pool:
            running = pool.submit(run, [*rollbook, "--match", match.id, "--service", served.address], folder, kept)
            until(lambda: running.done() or match.state().summary.seats[0].taken)
            match.add_bot()
            played = running.result()
    assert re.search(rf"{match.id}  cant_stop  Tina: place \d of 2", played)


def run(words: list[str], folder: Path, env: dict[str, str]) -> str:
    """Run a command that has to succeed; returns its output."""
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stdout + done.stderr
    return done.stdout


def test_the_bot_is_as_short_as_the_page_says() -> None:
    """At most 20 lines, empty ones not counted."""
    assert len([line for line in blocks_in(PAGE)["my_bots.py"].splitlines() if line.strip()]) <= 20
