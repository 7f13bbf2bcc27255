"""The commands as a user runs them: real processes, real files, a real terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest

from rollbook.rules.catalogue import current

GAMES = list(current())


def rollbook(*words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command in a separate process."""
    return subprocess.run(
        [sys.executable, "-m", "rollbook", *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "PYTHONUTF8": "1", **(env or {})},
    )


def in_terminal(*words: str) -> str:
    """Run the command on a pseudo-terminal and return what it prints."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-m", "rollbook", *words])  # noqa: S606 - our own command
    shown = b""
    while select.select([terminal], [], [], 60)[0]:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    return shown.decode()


def files_of(folder: Path) -> dict[str, bytes]:
    """The files of a folder with their bytes."""
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_help_names_every_command_and_every_command_explains_itself() -> None:
    """Users can learn every command from `--help`."""
    done = rollbook("--help")
    assert 0 == done.returncode
    for command, purpose in (
        ("games", "List the games"),
        ("simulate", "Let bots play"),
        ("check", "Check matches"),
        ("show", "Narrate a match"),
    ):
        assert re.search(rf"{command} +{purpose}", done.stdout)
        explained = rollbook(command, "--help")
        assert 0 == explained.returncode
        assert "Usage: rollbook" in explained.stdout
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", rollbook("--version").stdout)


def test_games_lists_games_seats_and_options_in_words() -> None:
    """Users can see what they can play without reading code."""
    done = rollbook("games")
    assert 0 == done.returncode
    for game in current().values():
        assert f"{game.name}: {game.title}, {game.seats[0]} to {game.seats[-1]} seats" in done.stdout
        for option in game.options:
            assert f"  {option.name}: {option.rule}" in done.stdout


def test_games_speaks_to_programs_too() -> None:
    """`--json` prints one JSON object per line."""
    facts = [json.loads(line) for line in rollbook("games", "--json").stdout.splitlines()]
    assert GAMES == [game["game"] for game in facts]
    assert {"from": 0, "to": 999} == facts[GAMES.index("wuerfelzoo")]["options"][0]["values"]


@pytest.mark.parametrize("game", GAMES)
def test_simulate_without_out_tells_one_match(game: str) -> None:
    """The whole match on standard output, from the seats to the places; the drawn seed on standard error."""
    done = rollbook("simulate", game)
    assert 0 == done.returncode
    assert re.fullmatch(r"seed \d+\n", done.stderr)
    assert "sits down" in done.stdout
    assert "\n1. " in done.stdout


def test_simulate_writes_files_that_check_accepts(tmp_path: Path) -> None:
    """Files are named GAME-SEED-NUMBER.jsonl; the rates go to standard error."""
    done = rollbook("simulate", "raffzahn", "--seats", "4", "--matches", "3", "--seed", "-7", "--out", str(tmp_path))
    assert (0, "") == (done.returncode, done.stdout)
    assert re.search(r"3 matches, [\d,]+ events in .* matches/s, .* events/s", done.stderr)
    names = [f"raffzahn--7-{number}.jsonl" for number in range(3)]
    assert names == sorted(files_of(tmp_path))
    checked = rollbook("check", *[str(tmp_path / name) for name in names])
    assert 0 == checked.returncode
    assert 3 == checked.stdout.count(": good, ")
    assert 3 == checked.stdout.count("dice proved")


def test_the_same_seed_gives_the_same_bytes_under_any_hash_seed(tmp_path: Path) -> None:
    """The bytes must be equal on every machine and Python version, so they must not depend on the order of a set."""
    for hash_seed in ("0", "1"):
        for game in GAMES:
            words = ("simulate", game, "--matches", "2", "--seed", "9", "--out", str(tmp_path / hash_seed))
            assert 0 == rollbook(*words, env={"PYTHONHASHSEED": hash_seed}).returncode
    assert files_of(tmp_path / "0") == files_of(tmp_path / "1")
    plain = rollbook("simulate", "cant_stop", "--seed", "9", "--json").stdout
    assert (tmp_path / "0" / "cant_stop-9-0.jsonl").read_text(encoding="utf-8") == plain


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("simulate", "chess"), f"games: {', '.join(current())}"),
        (("simulate", "cant_stop", "--seats", "9"), "seats: 2 to 4"),
        (("simulate", "cant_stop", "--option", "hasty=perhaps"), "allowed: false, true"),
        (("simulate", "cant_stop", "--option", "hasty"), "allowed: false, true"),
        (("simulate", "cant_stop", "--option", "blitz=true"), "options: columns_to_win, hasty, free_fields"),
        (("simulate", "cant_stop", "--option", "columns_to_win=5", "--seats", "3"), "5 with two"),
        (("simulate", "wuerfelzoo", "--option", "rounds_to=1000"), "allowed: 0 to 999"),
        (("simulate", "cant_stop", "--matches", "0"), "at least 1"),
        (("simulate", "cant_stop", "--matches", "2"), "needs --out"),
        (("simulate", "cant_stop", "--json", "--out", "x"), "--json is for one match"),
        (("simulate", "cant_stop", "--seed", "seven"), "seed"),
        (("simulate", "cant_stop", "--seed", "9" * 61), "at most 60"),
        (("simulate",), "GAME"),
        (("check",), "at least one file"),
        (("chek",), "chek"),
        (("games", "--jsn"), "--jsn"),
    ],
)
def test_wrong_usage_is_explained_and_ends_with_64(words: tuple[str, ...], said: str) -> None:
    """The message on standard error lists the allowed values; standard output stays empty."""
    done = rollbook(*words)
    assert (64, "") == (done.returncode, done.stdout)
    assert said.lower() in done.stderr.lower()


@pytest.mark.parametrize("value", ["0", "1", "30", "999"])
def test_every_kind_of_value_of_rounds_to_can_be_simulated(tmp_path: Path, value: str) -> None:
    """The values include one that lets the match run until the log is full."""
    words = ("--seats", "5", "--option", f"rounds_to={value}", "--seed", "1", "--out", str(tmp_path))
    assert 0 == rollbook("simulate", "wuerfelzoo", *words).returncode
    assert 0 == rollbook("check", str(tmp_path / "wuerfelzoo-1-0.jsonl")).returncode


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that `check` accepts."""
    folder = tmp_path_factory.mktemp("good")
    rollbook("simulate", "cant_stop", "--seed", "1", "--out", str(folder))
    return folder / "cant_stop-1-0.jsonl"


def test_check_names_file_line_and_reason_for_every_wrong_file_and_goes_on(good: Path, tmp_path: Path) -> None:
    """A wrong file does not stop the check of the others; it only decides the exit code."""
    lines = good.read_text(encoding="utf-8").splitlines(keepends=True)
    die = next(number for number, line in enumerate(lines, start=1) if '"roll","dice"' in line)
    changed = tmp_path / "changed.jsonl"
    changed.write_text(
        "".join([*lines[: die - 1], f'{{"seq":{die},"chance":"roll","dice":[1,1,1,1]}}\n', *lines[die:]])
    )
    dropped = tmp_path / "dropped.jsonl"
    dropped.write_text("".join([*lines[:9], *lines[10:]]))
    done = rollbook("check", str(changed), str(tmp_path / "none.jsonl"), str(dropped), str(good))
    said = done.stdout.splitlines()
    assert 1 == done.returncode
    assert said[0].startswith(f"{changed}:{die}: the secret gives ")
    assert f"{tmp_path / 'none.jsonl'}: No such file or directory" == said[1]
    assert said[2].startswith(f"{dropped}:10: seq is 11, but 10 is next")
    assert said[3].startswith(f"{good}: good, {len(lines)} events")


def test_check_tells_unfinished_from_wrong_and_speaks_to_programs(good: Path, tmp_path: Path) -> None:
    """`--unfinished` accepts a match without a seal; `--json` prints the same facts, one object per line."""
    part = tmp_path / "part.jsonl"
    part.write_text("".join(good.read_text(encoding="utf-8").splitlines(keepends=True)[:20]))
    refused = rollbook("check", str(part))
    assert (1, True) == (refused.returncode, refused.stdout.startswith(f"{part}:20: the match is unfinished"))
    done = rollbook("check", "--unfinished", "--json", str(part), str(good))
    unfinished, finished = map(json.loads, done.stdout.splitlines())
    assert 0 == done.returncode
    assert ("good", 20, False, "unproved") == tuple(
        unfinished[key] for key in ("verdict", "events", "finished", "dice")
    )
    assert (True, "proved") == (finished["finished"], finished["dice"])


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", ":1: the file is empty"),
        (b"\xff\xfe\n", ":1: not UTF-8"),
        (b"{}", ":1: the line has no end"),
        (b" " * 100_000, ":1: longer than 65536 bytes"),
        (b"\n" * 20_000, ":10001: no match has more than 10000 events"),
        (b"PK\x03\x04\n", ":1: not JSON"),
    ],
)
def test_files_that_hold_anything_else_are_refused_by_line(data: bytes, said: str, tmp_path: Path) -> None:
    """A file of any content gets a message with its line, never a traceback."""
    file = tmp_path / "file.jsonl"
    file.write_bytes(data)
    done = rollbook("check", str(file))
    assert (1, "") == (done.returncode, done.stderr)
    assert said in done.stdout


def test_a_folder_that_cannot_be_written_is_said_to_be_so(tmp_path: Path) -> None:
    """The message has the system's reason and no traceback."""
    (tmp_path / "file").write_text("")
    done = rollbook("simulate", "cant_stop", "--seed", "1", "--out", str(tmp_path / "file"))
    assert (1, True) == (done.returncode, "cannot write to" in done.stderr)
    assert "Traceback" not in done.stderr


def test_a_reader_that_has_seen_enough_ends_the_command_quietly() -> None:
    """`rollbook simulate … | head -1` is no error."""
    done = subprocess.run(
        f"{sys.executable} -m rollbook simulate raffzahn --seed 1 | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ("", 1) == (done.stderr, len(done.stdout.splitlines()))


def test_long_work_shows_a_bar_on_a_terminal(tmp_path: Path) -> None:
    """Work that takes more than a second shows a progress bar with its rate; the summary remains."""
    shown = in_terminal("simulate", "raffzahn", "--seed", "1", "--matches", "400", "--out", str(tmp_path))
    assert "events/s" in shown
    assert "400 matches" in shown
    assert "/400" in shown
