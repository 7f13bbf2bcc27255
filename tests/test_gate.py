"""The gate repeats a test that failed in the parallel run once, alone, and fails for any other reason."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
LIST: Final = (ROOT / "tests" / "FLAKY.md").read_text(encoding="utf-8")
COPIED: Final = (".ci/run", ".ci/again", "tests/conftest.py", "tests/failures.py")

README: Final = """# A small project

<!-- test -->
```sh
python3 --version && .venv/bin/pytest
```
"""
SETTINGS: Final = """[tool.pytest.ini_options]
addopts = ["--import-mode=importlib", "--numprocesses=2", "-pno:cacheprovider"]
pythonpath = ["."]
testpaths = ["tests"]
"""
GOOD: Final = """
def test_good():
    pass
"""
FLAKY: Final = """
import os
from pathlib import Path


def test_flaky_{0}():
    mark = Path(__file__).with_suffix(".mark")
    if not mark.exists():
        mark.touch()
        {1}
"""
FAILS: Final = "raise AssertionError('too slow {0}')"
DIES: Final = "os.kill(os.getpid(), 9)"


def flaky(name: str, how: str = FAILS) -> str:
    """Return a test that fails the first time."""
    return FLAKY.format(name, how.format(name))


Gate = Callable[..., tuple[int, str]]


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    """Run the gate on a project with these test files; returns exit code and output."""
    for name in COPIED:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "README.md").write_text(README)
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name, line in {
        ".venv/bin/pytest": f'exec {sys.executable} -m pytest -p xdist.plugin "$@"',
        ".venv/bin/ruff": "true",
        ".venv/bin/mypy": "true",
        ".ci/stubs": "echo the last step",
    }.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / name).chmod(0o755)

    def run(**files: str) -> tuple[int, str]:
        for name, text in {"good": GOOD, **files}.items():
            (tmp_path / "tests" / f"test_{name}.py").write_text(text)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "GATE", "CI"))}
        done = subprocess.run(
            [tmp_path / ".ci" / "run"],
            cwd=tmp_path.parent,
            env=kept | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    return run


def marked(output: str) -> list[str]:
    """Return the tests that the gate calls flaky."""
    return [line.split()[1] for line in output.splitlines() if line.startswith("FLAKY ")]


def test_a_suite_that_passes_runs_once(gate: Gate) -> None:
    """The output has no line about flaky tests."""
    code, output = gate()
    assert (0, []) == (code, marked(output))
    assert "once more" not in output
    assert output.endswith("the last step\n")


def test_a_flaky_test_is_named_in_the_last_lines_with_its_first_failure(gate: Gate) -> None:
    """The other steps of the gate run before."""
    code, output = gate(one=flaky("one"))
    assert (0, ["tests/test_one.py::test_flaky_one"]) == (code, marked(output)), output
    last = output.partition("the last step\n")[2]
    assert last.startswith("FLAKY tests/test_one.py::test_flaky_one passes alone. Its first failure:\n")
    assert "AssertionError: too slow one\n" in last


def test_a_test_that_was_running_when_its_worker_died_runs_once_more(gate: Gate) -> None:
    """The report of the first failure is that of the crashed worker."""
    code, output = gate(one=flaky("one", DIES), two=flaky("two"))
    assert 0 == code, output
    assert {"tests/test_one.py::test_flaky_one", "tests/test_two.py::test_flaky_two"} == set(marked(output))
    assert "crashed while running 'tests/test_one.py::test_flaky_one'" in output.partition("the last step\n")[2]


def test_three_flaky_tests_fail_the_gate(gate: Gate) -> None:
    """Three failures are no accident; their names are printed too."""
    code, output = gate(one=flaky("one"), two=flaky("two"), three=flaky("three"))
    assert (1, 3) == (code, len(marked(output))), output
    assert "3 tests are flaky" in output
    assert "the last step" not in output


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("real", "def test_real():\n    assert 1 == 2\n", "not even alone do these tests pass:\n  tests/test_real.py"),
        ("real", "import os\ndef test_real():\n    os.kill(os.getpid(), 9)\n", "not even alone do these tests pass"),
        ("broken", "import nothing_like_it\n", "cannot be imported or collected:\n  tests/test_broken.py"),
        (
            "many",
            "import pytest\n@pytest.mark.parametrize('n', range(11))\ndef test_n(n):\n    assert n < 0\n",
            "12 tests failed, too many",
        ),
    ],
    ids=["a failure", "a crash", "a module that cannot be imported", "too many to try"],
)
def test_what_fails_for_another_reason_fails_the_gate(name: str, text: str, why: str, gate: Gate) -> None:
    """A flaky test at the same time changes nothing."""
    code, output = gate(**{name: text}, one=flaky("one"))
    assert 1 == code, output
    assert why in output
    assert "the last step" not in output


def test_tests_that_were_not_run_fail_the_gate(gate: Gate) -> None:
    """After many crashes pytest stops with the same exit code, although most tests did not run."""
    crashes = "import os\nimport pytest\n@pytest.mark.parametrize('n', range(40))\ndef test_n(n):\n    {}\n"
    code, output = gate(many=crashes.format("os.kill(os.getpid(), 9)"))
    assert 1 == code, output
    assert "tests were not run" in output


def test_a_command_that_fails_before_the_tests_fails_the_gate(gate: Gate, tmp_path: Path) -> None:
    """For example, an installation fails without a network."""
    (tmp_path / "README.md").write_text(README.replace("--version", "-c 'raise SystemExit(3)'"))
    code, output = gate()
    assert (1, True) == (code, "before the tests had ended" in output)


def test_a_flaky_test_that_is_listed_is_to_be_mended_first(gate: Gate, tmp_path: Path) -> None:
    """The line about it names the list."""
    (tmp_path / "tests" / "FLAKY.md").write_text(
        "| 2026-01-01 | `tests/test_one.py::test_flaky_one` | slow | waits |\n"
    )
    code, output = gate(one=flaky("one"))
    assert (0, True) == (code, "tests/FLAKY.md lists it already" in output)


def test_every_flaky_test_that_is_listed_is_there_with_its_cause_and_its_mend() -> None:
    """An entry is removed together with its test."""
    rows = re.findall(r"^\| (\d{4}-\d\d-\d\d) \| `(.+?)::(\w+)` \| (.+) \| (.+) \|$", LIST, re.MULTILINE)
    assert len(LIST[LIST.index("|---") :].splitlines()) - 1 == len(rows) > 0
    for _, file, name, _, _ in rows:
        assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), name
