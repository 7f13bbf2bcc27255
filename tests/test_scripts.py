"""Every script that a document names runs to its end and remakes the kept files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests import golden
from tests.clients.terminal import pictures
from tests.fuzz import seeds
from tests.replays import conformance, example, game_pages
from tests.replays.games import snapshots
from tests.rules.perft import positions
from tests.scripts import ROOT, run_script
from tests.v1 import kept

PLACES = {
    "tests.golden": golden.FOLDER,
    "tests.replays.games.snapshots": snapshots.FOLDER,
    "tests.clients.terminal.pictures": pictures.SNAPSHOTS,
    "tests.fuzz.seeds": seeds.CORPUS,
    "tests.replays.example": example.PAGE.parent,
    "tests.replays.conformance": conformance.FOLDER,
    "tests.replays.game_pages": game_pages.FOLDER,
    "tests.v1.kept": kept.KEPT.parent,
}
"""Scripts that remake files, with the place of these files."""

TRIED = {
    *PLACES,
    *("tests.rules.perft", "tests.sim", "tests.fuzz", "tests.bench", "tests.mutants", "tests.faults"),
    *("tests.clients.web.pictures", "tests.clients.web.readme_picture", "tests.tidy.sample_sentences"),
}
"""Scripts with tests of their own, or whose output is reviewed by people."""


def documents() -> Iterator[Path]:
    """Yield the files that name scripts: pages and docstrings."""
    yield ROOT / "README.md"
    yield ROOT / ".github" / "CONTRIBUTING.md"
    for folder in ("service", "replays", "clients", "tests"):
        yield from (ROOT / folder).rglob("*.md")
        yield from (ROOT / folder).rglob("*.py")


def test_every_script_that_a_document_names_is_tried() -> None:
    """A newly named script has to be added to the lists."""
    named = {
        module
        for document in documents()
        for module in re.findall(r"python -m (tests(?:\.\w+)*)", document.read_text(encoding="utf-8"))
    }
    assert TRIED == named


@pytest.mark.parametrize("script", PLACES)
def test_a_script_remakes_what_is_kept(script: str, tmp_path: Path) -> None:
    """The files are equal byte for byte; other tests find files that no script makes."""
    run_script(script, "--folder", str(tmp_path))
    made = {file.relative_to(tmp_path): file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    assert made
    assert {file: (PLACES[script] / file).read_bytes() for file in made} == made


def test_perft_prints_what_the_files_say() -> None:
    """Its lines are copied into the files after an intended change of a rule."""
    lines = run_script("tests.rules.perft").splitlines()
    kept = list(positions())
    assert [f"{counted.game.name}: {counted.name}" for counted in kept] == [line for line in lines if line[0] != " "]
    assert [f"  counts = {counted.counts}" for counted in kept] == [line for line in lines if "counts =" in line]


def test_the_simulation_runs() -> None:
    """One seed with few faults; exit code 0 means that no promise was broken."""
    assert run_script("tests.sim", "--seeds", "1", "--steps", "20")
    assert run_script("tests.sim", "--seeds", "2", "--steps", "20", "--jobs", "2")


@pytest.mark.skipif(find_spec("atheris") is None, reason="wants the extra fuzz")
def test_the_fuzzer_runs_and_finds_nothing(tmp_path: Path) -> None:
    """One second from the corpus; new interesting inputs are no failure."""
    run_script("tests.fuzz", "texts", "--seconds", "1", "--seed", "1", "--found", str(tmp_path))
    assert [] == list(tmp_path.glob("crash-*"))
