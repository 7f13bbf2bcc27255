"""Adds the game of `service/ADDING_A_GAME.md`, with the files and commands of the document."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.adding_a_game.environment import ROOT, fresh, generators, run, shell
from tests.clients.terminal.pseudo import pseudo
from tests.clients.web.browsing import Reader
from tests.documents import blocks_in
from tests.server.serving import started

BLOCKS: Final = blocks_in((ROOT / "service" / "ADDING_A_GAME.md").read_text(encoding="utf-8"))
ADDRESS: Final = "localhost:50051"
"""The address of the service in the document."""

END: Final = "\x1b[F"
"""The key that jumps to the end of a replay."""


def test_the_document_installs_the_generators_of_the_repository() -> None:
    """The next test uses those of `.ci/stubs`, which have to be the same."""
    wanted = (ROOT / ".ci" / "stubs-requirements.txt").read_text(encoding="utf-8").splitlines()
    installed = re.findall(r"[a-z-]+[=<]+[0-9.]+", BLOCKS["generator"])
    assert 3 == len(installed)
    assert set(installed) <= set(wanted)


@pytest.mark.timeout(1800)
def test_the_game_of_the_document_is_used_like_a_listed_one(tmp_path: Path) -> None:
    """Installed into a fresh environment it is simulated, served, played by words, watched, audited and drawn.

    One test, because making the environment takes most of the time.
    """
    env = fresh(tmp_path / ".venv", ROOT)
    for name, text in BLOCKS.items():
        if "." in name:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / ".stubs").symlink_to(generators())
    shell(BLOCKS["stubs"], tmp_path, env)
    check_what_it_says(shell(BLOCKS["try"], tmp_path, env))
    options = ["-q", "-n0", "-p", "no:cacheprovider", "-k", "pig"]
    assert " passed" in run(["python", "-m", "pytest", *options, "tests/rules/test_every_game.py"], ROOT, env)
    words = ["serve", "--data", str(tmp_path / "data"), "--listen", "127.0.0.1:0", "--web", "127.0.0.1:0"]
    with started(["python", "-m", "rollbook", *words], env) as service:
        here = {**env, "ROLLBOOK_SERVICE": service.address}
        said = shell(BLOCKS["serve"].replace(ADDRESS, service.address), tmp_path, here)
        (file,) = (tmp_path / "files").glob("*.rollbook")
        check_what_was_played(said, file.stem)
        page = str(service.line("the page is at")["page"]).rstrip("/")
        check_the_page(page, file.stem)
    check_the_terminal(file, env)


def check_what_it_says(said: str) -> None:
    """Its own tests pass; it is listed, explained, simulated and checked."""
    assert "4 passed" in said
    assert "pig: Pig, 2 to 6 seats, ruleset 1" in said
    assert "Pig\n\nWürfle, so oft du dich traust." in said
    assert "Pig, match pig-7-0" in said
    assert "pig.jsonl: good" in said
    assert re.search(r"A heuristic +\d", said)


def check_what_was_played(said: str, match_id: str) -> None:
    """The text of the match is good, and its file is exact."""
    assert json.dumps(match_id) in said
    assert '"choice":"roll"' in said
    assert "match.jsonl: good" in said
    assert f"{match_id}.rollbook: EXACT" in said
    assert "Pig, match" in said


def check_the_page(page: str, match_id: str) -> None:
    """The page has the picture, in the language of the browser."""
    for language, words in (("en", "Points, seat by seat: "), ("de", "Punkte, Platz für Platz: ")):
        shown = Reader(page, language).get(f"/matches/{match_id}/replay").text
        assert words in shown
        assert 'id="points-0"' in shown


def check_the_terminal(file: Path, env: Mapping[str, str]) -> None:
    """The terminal draws the board and shows the end of the match, in the user's language."""
    for language, words in (("en", "throws "), ("de", "würfelt ")):
        spoken = {**env, "LANG": f"{language}_{language.upper()}.UTF-8"}
        with pseudo(["replay", str(file)], file.parent, env=spoken, python="python") as terminal:
            terminal.until("Pig ·")
            terminal.press(END)
            terminal.until(words)
