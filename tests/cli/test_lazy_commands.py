"""The table of commands: which modules it imports, its summaries, and the shell completion made from it."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import pytest
from cyclopts import App

from rollbook.cli.summaries import summary
from tests.cli.test_commands import rollbook

COMMANDS = sorted(entry_points(group="rollbook.commands"), key=lambda point: point.name)

MOST_OWN_MODULES = 15
"""The modules of the command table, and the packages of the command modules."""

IMPORTED = """
import sys
from rollbook.cli.app import run
code = run(sys.argv[1:])
print(*sys.modules, file=sys.stderr)
sys.exit(code)
"""

COMPLETED = """
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_rollbook
printf '%s\\n' "${COMPREPLY[@]}"
"""


def imported(*words: str) -> list[str]:
    """Return the modules that a process has imported after it ran the command."""
    done = subprocess.run([sys.executable, "-c", IMPORTED, *words], capture_output=True, text=True, check=True)
    return done.stderr.split()


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_the_list_of_commands_imports_none_of_them(flag: str) -> None:
    """It imports few modules of this project and no command: about as many modules in all as a small command."""
    modules, of_games = imported(flag), imported("games")
    assert not {point.module for point in COMMANDS} & set(modules)
    assert len([module for module in modules if module.startswith("rollbook")]) <= MOST_OWN_MODULES
    assert len(modules) <= 1.3 * len(of_games)


@pytest.mark.parametrize("point", COMMANDS, ids=lambda point: point.name)
def test_the_list_has_the_first_line_of_each_help(point: EntryPoint) -> None:
    """The summary read from the source equals that of the imported command."""
    command = point.load()
    text = command.help if isinstance(command, App) else inspect.getdoc(command)
    assert (text or "").splitlines()[:1] == [summary(point)]


def test_a_command_without_a_readable_source_is_listed_without_a_summary(tmp_path: Path) -> None:
    """A missing or broken package must not hide the other commands."""
    broken = tmp_path / "broken-1.0.dist-info"
    broken.mkdir()
    lines = ["[rollbook.commands]", "aa = no_such_package.commands:aa", "bb = broken_module:bb", "cc = typing:no_such"]
    (broken / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n", encoding="utf-8")
    (tmp_path / "broken_module.py").write_text("def bb(:", encoding="utf-8")
    done = rollbook("--help", env={"PYTHONPATH": str(tmp_path)})
    assert 0 == done.returncode, done.stderr
    assert {"aa", "bb", "cc", "games"} <= set(done.stdout.split())
    assert "List the games" in done.stdout


def test_a_command_that_lacks_a_package_names_the_extra() -> None:
    """The command prints one sentence instead of a traceback, also where its own module imports the package."""
    script = "import sys; sys.modules['cachetools'] = None; from rollbook.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", script, "token"], capture_output=True, text=True, check=False)
    assert "rollbook: cachetools is not installed; pip install 'rollbook[all]' brings it\n" == done.stderr


@pytest.fixture(scope="module")
def completion(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bash completion script, installed in a temporary home."""
    home = tmp_path_factory.mktemp("home")
    done = rollbook("--install-completion", "--shell", "bash", env={"HOME": str(home)})
    assert 0 == done.returncode, done.stderr
    (script,) = (path for path in home.rglob("rollbook") if path.is_file())
    assert str(script) in (home / ".bashrc").read_text(encoding="utf-8")
    return script


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["ind"], {"index"}),
        (["bundle", ""], {"create"}),
        (["matches", "--mi"], {"--mine"}),
        (["matches", "--state", "f"], {"finished"}),
        (["audit", "--k"], {"--key"}),
    ],
)
def test_bash_completes_commands_flags_and_values(completion: Path, words: list[str], expected: set[str]) -> None:
    """A real bash with the installed script; programs that only a service starts are left out."""
    script = ["bash", "-c", COMPLETED, "bash", str(completion), "rollbook"]
    done = subprocess.run([*script, *words], capture_output=True, text=True, check=True)
    assert expected == set(done.stdout.split())
    whole = subprocess.run([*script, ""], capture_output=True, text=True, check=True).stdout.split()
    assert {point.name for point in COMMANDS} == {word for word in whole if not word.startswith("-")}
