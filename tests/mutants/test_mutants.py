"""The tool that changes code at random finds missing tests, and leaves the tree unchanged."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants.__main__ import ROOT, main
from tests.mutants.changes import changes, means_something_else
from tests.mutants.drawing import draw, modules

MODULE = "service/counting/votes.py"

CODE = '''"""Votes."""

import logging

_log = logging.getLogger()

LONGEST = 3


def has_won(votes: int, needed: int = 3) -> bool:
    """Well tested."""
    _log.info("looked %d times", 1)
    return votes >= needed


def tie(one: int, other: int) -> bool:
    """Only tested where it is called by a subprocess."""
    return one == other


def is_close(one: int, other: int) -> bool:
    """Its test was left out."""
    return abs(one - other) < 2
'''

TESTS = '''"""Tests of votes."""

import subprocess
import sys

from counting.votes import LONGEST, has_won, is_close


def test_three_votes_win() -> None:
    """Two are too few."""
    assert [False, True, True, True] == [has_won(2), has_won(3), has_won(4), has_won(4, 4)]


def test_a_tie_is_seen_from_outside() -> None:
    """A program may ask as well."""
    script = "from counting.votes import tie; raise SystemExit(not (tie(2, 2) and not tie(2, 3)))"
    assert 0 == subprocess.run([sys.executable, "-c", script], check=False).returncode


def test_the_longest_vote_is_known() -> None:
    """This executes no line of the module itself."""
    assert 3 == LONGEST


def test_is_close_can_be_called() -> None:
    """But what it says is not looked at."""
    is_close(1, 5)
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small tree of the same shape, without tests for one function."""
    for path, text in {
        MODULE: CODE,
        "tests/test_votes.py": TESTS,
        "pyproject.toml": "[tool.pytest.ini_options]\nasyncio_default_fixture_loop_scope = 'function'\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    for folder in ("replays", "clients", "tests/mutants"):
        (tmp_path / folder).mkdir()
    shutil.copy(ROOT / "tests" / "mutants" / "plugin.py", tmp_path / "tests" / "mutants")
    return tmp_path


def test_what_no_test_notices_survives_and_everything_else_does_not(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Code that only a subprocess executes is covered too, and the tree is unchanged afterwards."""
    before = (project / MODULE).read_bytes()
    assert 1 == main(["--seed", "5", "--count", "19"], project)
    first, *survivors, summary = capsys.readouterr().out.splitlines()
    assert "seed 5" == first
    assert [f"{MODULE}:{CODE.splitlines().index('    return abs(one - other) < 2') + 1}"] == [
        ":".join(line.split(":")[:2]) for line in survivors
    ]
    assert summary.startswith("seed 5: 5 changes: 4 killed, 0 timeout, 1 survived; 20.0% survived")
    assert before == (project / MODULE).read_bytes()


def test_the_same_seed_draws_the_same_changes_and_a_larger_count_only_more() -> None:
    """A result can be reproduced, and a run be continued."""
    paths = modules(ROOT, ["service/rollbook/match"])
    some = draw(ROOT, paths, 1, 5)
    assert some == draw(ROOT, paths, 1, 10)[:5]
    assert some != draw(ROOT, paths, 2, 5)


@pytest.mark.parametrize(
    "harmless",
    [
        '"""Words 1."""',
        "import a.b",
        "__slots__ = ('a', 'b')",
        "def f(a: Literal[1, 2]) -> Literal[1]: ...",
        "_log.info('words', a=1, b=not c)",
        "@lru_cache(64)\ndef f(): ...",
        "T = TypeVar('T', bound=int)",
        "x: tuple[int, int]",
        "word = f'{a + 1}'",
        "Choice: TypeAlias = Roll | Stop | Pass",
    ],
)
def test_messages_logs_annotations_and_layout_are_left_alone(harmless: str) -> None:
    """Tests need not notice such changes."""
    assert [] == changes("a.py", harmless.encode())


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a < b", {"a <= b", "a >= b"}),
        ("a is not b", {"a is b"}),
        ("a and (b)", {"a or (b)"}),
        ("x = 0", {"x = 1", "x = (-1)"}),
        ("def f(): return True", {"def f(): return False"}),
        ("x = not ä", {"x = ä"}),
        ("if a: b()", {"if not a: b()", "if a: pass"}),
        ("def f():\n    raise Wrong(1, 'no')", {"def f():\n    pass"}),
        ("def f():\n    a.b = c", {"def f():\n    pass"}),
        ("A = frozenset({b, c})", {"A = frozenset({c})", "A = frozenset({b,})"}),
        ("A = {b: c, d: e}", {"A = {d: e}", "A = {b: c,}"}),
        ("x = a in (b, c)", {"x = a not in (b, c)", "x = a in (c)", "x = a in (b,)"}),
        ("x = min(a)", {"x = max(a)"}),
        ("for a in b: continue", {"for a in b: break", "for a in b: pass"}),
        ("x += y", {"x -= y", "pass"}),
    ],
)
def test_each_kind_of_change_is_made_in_the_text_alone(code: str, expected: set[str]) -> None:
    """Only the bytes of the change differ, with any encoding of the text before them."""
    source = code.encode()
    made = {change.made_in(source).decode() for change in changes("a.py", source)}
    assert expected == {text for text in made if means_something_else(source, text.encode())}


def test_the_help_says_what_it_does_and_how_it_is_called() -> None:
    """The help explains the command without another page."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.mutants", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "--seed 7 --count 20 --only service/rollbook/rules" in done.stdout
