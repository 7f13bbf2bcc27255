"""The help of every command: it has an example, and the command can print an example of each file that it needs."""

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
    """The help of a command and the names of its subcommands, `[""]` if it has none."""
    command = point.load()
    if not isinstance(command, App):
        return command.__doc__ or "", [""]
    words = [word for word in command if not word.startswith("-")]
    documents = [str(command.help), *(command[word].default_command.__doc__ or "" for word in words)]
    return "\n".join(documents), words


@pytest.mark.parametrize("point", COMMANDS, ids=lambda point: point.name)
def test_every_command_has_an_example_that_it_understands(point: EntryPoint) -> None:
    """Each command and subcommand has an example line that its own parser accepts."""
    text, words = explained(point)
    examples = re.findall(rf"^ +(?:Example: `.*?)?\b(rollbook {point.name}\b[^`\n;|>)]*)", text, re.MULTILINE)
    for word in words:
        assert [line for line in examples if f"{point.name} {word}".strip() in line], word
    for line in examples:
        given = re.sub(r"\$\(.*", "MATCH --out files", line).removeprefix("rollbook ")
        app().parse_args(shlex.split(given), exit_on_error=False, print_error=True)


@pytest.mark.parametrize("point", COMMANDS, ids=lambda point: point.name)
def test_no_line_of_a_help_becomes_an_item_of_a_list_by_chance(point: EntryPoint) -> None:
    """A line of a paragraph that begins with a number and a full stop would be rendered as a list item."""
    text, _ = explained(point)
    assert [] == re.findall(r"^ *\d+[.)](?: .*)?$", text, re.MULTILINE)


def test_a_manifest_begins_with_an_example() -> None:
    """The printed manifest can be read."""
    done = rollbook("bundle", "create", "--example")
    assert 0 == done.returncode
    assert "Spring cup" == read_manifest(done.stdout.encode()).title
    assert 64 == rollbook("bundle", "create", "files").returncode


def test_settings_begin_with_an_example(tmp_path: Path) -> None:
    """The printed file is valid, and variables of the environment do not change it."""
    done = rollbook("serve", "--example", env={"ROLLBOOK_LIMITS_MATCHES": "7"})
    assert 0 == done.returncode
    assert 10_000 == tomllib.loads(done.stdout)["limits"]["matches"]
    file = tmp_path / "rollbook.toml"
    file.write_text(done.stdout, encoding="utf-8")
    assert 0 == rollbook("serve", "--config", str(file), "--show-config").returncode


def test_a_key_file_begins_with_an_example(tmp_path: Path) -> None:
    """An audit accepts the printed file; a judge then replaces the key."""
    (tmp_path / "KEY.pub").write_text(rollbook("key", "--example").stdout, encoding="utf-8")
    (tmp_path / "match.rollbook").write_bytes(b"no replay")
    done = rollbook("audit", str(tmp_path / "match.rollbook"), "--key", str(tmp_path / "KEY.pub"))
    assert "KEY.pub" not in done.stderr
    assert 3 == done.returncode


def test_games_lead_to_the_table() -> None:
    """The last line of `rollbook games` names `rollbook play`."""
    assert "rollbook play" in rollbook("games").stdout.splitlines()[-1]
