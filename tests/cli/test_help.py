"""What every command says of itself: an example, and the files that it wants."""

from __future__ import annotations

import re
import shlex
import tomllib
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import pytest
from cyclopts import App

from rollbook.cli.app import app
from rollbook_replays.tournament.manifest import read_manifest
from tests.cli.test_commands import rollbook

COMMANDS = sorted(entry_points(group="rollbook.commands"), key=lambda point: point.name)


def explained(point: EntryPoint) -> tuple[str, list[str]]:
    """What a command says of itself, and the words that may follow it, if there are any."""
    command = point.load()
    if not isinstance(command, App):
        return command.__doc__ or "", [""]
    words = [word for word in command if not word.startswith("-")]
    documents = [str(command.help), *(command[word].default_command.__doc__ or "" for word in words)]
    return "\n".join(documents), words


@pytest.mark.parametrize("point", COMMANDS, ids=lambda point: point.name)
def test_every_command_has_an_example_that_it_understands(point: EntryPoint) -> None:
    """A line to copy, of this command and of each that follows it, whose words it takes."""
    text, words = explained(point)
    examples = re.findall(rf"^ +(?:Example: `.*?)?\b(rollbook {point.name}\b[^`\n;|>)]*)", text, re.MULTILINE)
    for word in words:
        assert [line for line in examples if f"{point.name} {word}".strip() in line], word
    for line in examples:
        given = re.sub(r"\$\(.*", "MATCH --out files", line).removeprefix("rollbook ")
        app().parse_args(shlex.split(given), exit_on_error=False, print_error=True)


@pytest.mark.parametrize("point", COMMANDS, ids=lambda point: point.name)
def test_no_line_of_a_help_becomes_an_item_of_a_list_by_chance(point: EntryPoint) -> None:
    """A line of a paragraph that begins with a number and a full stop is torn out of its sentence."""
    text, _ = explained(point)
    assert [] == re.findall(r"^ *\d+[.)](?: .*)?$", text, re.MULTILINE)


def test_a_manifest_begins_with_an_example() -> None:
    """It is one that can be read."""
    done = rollbook("bundle", "create", "--example")
    assert 0 == done.returncode
    assert "Spring cup" == read_manifest(done.stdout.encode()).title
    assert 64 == rollbook("bundle", "create", "files").returncode


def test_settings_begin_with_an_example(tmp_path: Path) -> None:
    """What it prints is a file that a service takes, and nothing that is set here changes it."""
    done = rollbook("serve", "--example", env={"ROLLBOOK_LIMITS_MATCHES": "7"})
    assert 0 == done.returncode
    assert 10_000 == tomllib.loads(done.stdout)["limits"]["matches"]
    file = tmp_path / "rollbook.toml"
    file.write_text(done.stdout, encoding="utf-8")
    assert 0 == rollbook("serve", "--config", str(file), "--show-config").returncode


def test_a_key_file_begins_with_an_example(tmp_path: Path) -> None:
    """It is one that an audit takes; a judge puts other keys in the place of this one."""
    (tmp_path / "KEY.pub").write_text(rollbook("key", "--example").stdout, encoding="utf-8")
    (tmp_path / "match.rollbook").write_bytes(b"no replay")
    done = rollbook("audit", str(tmp_path / "match.rollbook"), "--key", str(tmp_path / "KEY.pub"))
    assert "KEY.pub" not in done.stderr
    assert 3 == done.returncode


def test_games_lead_to_the_table() -> None:
    """Whoever has seen what there is wants to play it."""
    assert "rollbook play" in rollbook("games").stdout.splitlines()[-1]
