"""`rollbook show` as a user runs it: real files, a real pipe, a real terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from rollbook.match.check import check
from rollbook.match.codec.notation import write as write_plain
from rollbook.match.events import Chosen, Event, Happened
from rollbook.match.fold import Misplaced
from rollbook.match.simulation import Simulation
from rollbook.replay_file.container import SUFFIX, Replay, read, without_names, write
from rollbook.rules.allie_gator.moves import Card, Drawn, Number
from rollbook.rules.catalogue import current, find
from rollbook.rules.game import Watcher
from rollbook_replays.games import presentation
from rollbook_replays.games.chart import chart_lines
from rollbook_replays.history import look
from rollbook_replays.narration import draw_board, seating_of, tell
from rollbook_replays.text import WIDTH, plain
from tests.match.table import Table
from tests.replays.games.snapshots import page
from tests.replays.greedy import events
from tests.replays.replaying import KEYS, SEED, cut, recorded

GAMES = list(current())
GOLDEN = sorted((Path(__file__).parents[2] / "replays" / "golden").glob(f"*{SUFFIX}"))
ESCAPE = "\x1b["


def kept(replay: Replay, folder: Path, name: str = "match") -> Path:
    """Write the replay to a file."""
    file = folder / f"{name}{SUFFIX}"
    file.write_bytes(write(replay, KEYS.replays))
    return file


def show(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command with its output in a pipe."""
    return subprocess.run(
        [sys.executable, "-m", "rollbook", "show", *map(str, words)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def in_terminal(*words: str | Path, env: Mapping[str, str]) -> str:
    """Run the command on a terminal; returns its output."""
    child, terminal = pty.fork()
    if child == 0:
        inherited = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "PAGER", "LESS"}}
        words_of_command = [sys.executable, "-m", "rollbook", "show", *map(str, words)]
        os.execve(sys.executable, words_of_command, {**inherited, "TERM": "xterm", **env})  # noqa: S606 - our own command
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
    assert 0 == os.waitstatus_to_exitcode(status)
    return shown.decode()


@pytest.mark.parametrize("game", GAMES)
def test_no_line_is_wider_than_a_terminal_even_with_the_longest_names(game: str) -> None:
    """Names include characters of two columns and accents of none."""
    seats = current()[game].seats[-1]
    names = [letter * 40 for letter in ("W", "龍", "e\u0301", "x", "y", "z")[:seats]]
    replay = recorded(game, seats, names=names)
    seen = look(replay)
    drawn = plain(draw_board(seen.at(seen.count // 2), 0))
    lines = [*drawn.splitlines(), *page(game).splitlines(), *plain(tell(seen.header, seen.events)).splitlines()[3:]]
    assert [] == [line for line in lines if cell_len(line) > WIDTH]


@pytest.mark.parametrize("game", GAMES)
def test_the_plain_form_of_a_file_is_that_of_the_match(game: str) -> None:
    """The output equals that of the simulation, so both can be compared."""
    seats = current()[game].seats[0]
    seen = look(recorded(game, seats))
    played = Simulation(find(game), find(game).settle({}, seats), seats, SEED, 0)
    expected = "".join(write_plain(played.header, played.events()))
    assert expected == "".join(write_plain(seen.header, seen.events))


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.stem)
def test_every_golden_replay_is_told_and_written_as_the_golden_match(golden: Path) -> None:
    """Time-outs, caretakers, forfeits and outages all have sentences."""
    seen = look(read(golden.read_bytes()).replay)
    told = plain(tell(seen.header, seen.events))
    assert seen.count - 2 == len(re.findall(r"^ +\d+  ", told, re.MULTILINE))
    assert "\n1. " in told
    lines = list(write_plain(seen.header, seen.events))
    written = golden.with_suffix(".jsonl")
    if written.exists():
        assert written.read_text(encoding="utf-8") == "".join(lines)
    assert check([line.removesuffix("\n") for line in lines]).dice_proved


def test_show_tells_who_did_what_and_ends_with_the_board(tmp_path: Path) -> None:
    """The output in a pipe has no escape codes."""
    done = show(kept(recorded("cant_stop", 4), tmp_path))
    assert (0, "") == (done.returncode, done.stderr)
    assert "   12  ◆ Willi throws 1 2 2 5\n   13  ◆ Willi advances in 4 and 6\n" in done.stdout
    assert "1. ▼ Heike\n" in done.stdout
    assert done.stdout.endswith("\nStanding: 1. Heike, 2. Anna, 3. Tom, 4. Willi\n")
    assert ESCAPE not in done.stdout


def test_json_is_accepted_by_check_also_as_a_seat_saw_it(tmp_path: Path) -> None:
    """The secret proves every draw, so every copy is checked equally strictly."""
    file = kept(recorded("allie_gator", 3), tmp_path)
    for eyes in ((), ("--seat", "1"), ("--public",)):
        done = show(file, "--json", *eyes)
        checked = check(done.stdout.splitlines())
        assert (0, True) == (done.returncode, checked.dice_proved)
        assert bool(eyes) == ('"cards":null' in done.stdout)


def test_a_seat_sees_its_own_cards_and_no_others(tmp_path: Path) -> None:
    """Hidden cards are neither in the account nor on the board."""
    file = kept(recorded("allie_gator", 3), tmp_path)
    draws = re.findall(r"(\w+) draws (.*)", show(file, "--seat", "1").stdout)
    assert {True} == {bool(re.fullmatch(r"\d+ cards?", what)) for who, what in draws if who != "Tom"}
    assert {False} == {bool(re.fullmatch(r"\d+ cards?", what)) for who, what in draws if who == "Tom"}
    board = show(file, "--seat", "1", "--at", "40").stdout
    hidden = re.compile(r"(?:▒▒ ?)+")
    assert (2, "seat 1 saw") == (len(hidden.findall(board)), re.search("seat . saw", board)[0])  # type: ignore[index]
    assert 3 == len(hidden.findall(show(file, "--public", "--at", "40").stdout))
    assert 0 == len(hidden.findall(show(file, "--at", "40").stdout))


def test_at_draws_the_board_after_an_event_and_nothing_else(tmp_path: Path) -> None:
    """From the empty table of the first event to the last."""
    file = kept(recorded("raffzahn", 3), tmp_path)
    first = show(file, "--at", "1")
    assert first.stdout.startswith("After event 1 of 552, ")
    assert re.search(r"^   1       2       3 .*\n   ▾       ▾", first.stdout, re.MULTILINE)
    assert 0 == show(file, "--at", "552").returncode


def test_a_running_match_is_told_as_far_as_its_file_goes(tmp_path: Path) -> None:
    """The board is omitted where it needs hidden cards; --json gives the input of `check --unfinished`."""
    whole = recorded("allie_gator", 3)
    public = kept(cut(whole, 60, Watcher.PUBLIC), tmp_path, "public")
    told = show(public)
    assert 0 == told.returncode
    assert "draws 5 cards" in told.stdout
    assert told.stdout.startswith("As everybody saw it:\n\nAllie Gator")
    assert "The match was running: the file ends with event 60.\n" in told.stdout
    assert told.stdout.endswith("No board: event 12 hides something, so the board after it is not known.\n")
    assert 0 == show(public, "--at", "11").returncode
    refused = show(public, "--at", "12")
    assert (3, "") == (refused.returncode, refused.stdout)
    judge = kept(cut(whole, 60, Watcher.JUDGE), tmp_path, "judge")
    lines = show(judge, "--json").stdout.splitlines()
    assert 60 == check(lines, unfinished=True).events
    assert 0 == show(judge, "--seat", "0").returncode


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--at", "0"), 3, "there is no event 0: the file has 1 to 313"),
        (("--at", "314"), 3, "there is no event 314: the file has 1 to 313"),
        (("--seat", "3"), 3, "there is no seat 3: the match has seats 0 to 2"),
        (("--seat", "-1"), 3, "there is no seat -1"),
        (("--seat", "1", "--public"), 64, "name one"),
        (("--json", "--at", "3"), 64, "name one"),
        (("--at", "three"), 64, "--at"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(
    words: tuple[str, ...], code: int, said: str, tmp_path: Path
) -> None:
    """The message is on standard error, and standard output is empty."""
    done = show(kept(recorded("allie_gator", 3), tmp_path), *words)
    assert (code, "") == (done.returncode, done.stdout)
    assert said in done.stderr


def test_a_file_shows_no_more_than_the_eyes_it_was_made_for_saw(tmp_path: Path) -> None:
    """A request for another seat is refused, instead of showing a table with gaps."""
    whole = recorded("allie_gator", 3)
    for eyes, whose in ((2, "seat 2"), (Watcher.PUBLIC, "the public")):
        file = kept(cut(whole, 60, eyes), tmp_path)
        done = show(file, "--seat", "0")
        assert (3, "") == (done.returncode, done.stdout)
        assert f"holds only what {whose} saw" in done.stderr
        assert 0 == show(file, "--public").returncode


def test_files_that_are_no_replays_and_matches_that_cannot_be_are_refused(tmp_path: Path) -> None:
    """Exit code 3 for unreadable files, 1 for wrong ones, and no traceback."""
    (tmp_path / "other").write_bytes(b"PK\x03\x04")
    replay = recorded("cant_stop", 2)
    unordered = replace(replay, events=(*replay.events[:11], replay.events[12], *replay.events[12:]))
    other_game = replace(replay, events=(recorded("raffzahn", 3).events[0], *replay.events[1:]), names=())
    for file, code, said in (
        (tmp_path / "none", 3, "no such file"),
        (tmp_path, 3, "Is a directory"),
        (tmp_path / "other", 3, "no replay file"),
        (kept(unordered, tmp_path, "unordered"), 1, "event 12 calls itself event 13"),
        (kept(other_game, tmp_path, "game"), 3, "no outcome of raffzahn"),
        (kept(replace(replay, names=("Anna",)), tmp_path, "names"), 1, "2 seats"),
    ):
        done = show(file)
        assert (code, "") == (done.returncode, done.stdout)
        assert done.stderr.startswith(f"{file}: ")
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_a_seat_without_a_name_is_called_by_its_number(tmp_path: Path) -> None:
    """The match stays readable without names."""
    file = tmp_path / "nameless.rollbook"
    file.write_bytes(without_names(write(recorded("cant_stop", 2), KEYS.replays)))
    assert "Seats: 0 ■ seat 0, 1 ▲ seat 1\n" in show(file).stdout
    assert '"seats":["",""]' in show(file, "--json").stdout


def test_a_name_cannot_steer_a_terminal(tmp_path: Path) -> None:
    """A file's names cannot send control codes to the reader's terminal."""
    file = kept(recorded("cant_stop", 2, names=("\x1b[2J\x9b31m", "To\u202em")), tmp_path)
    for words in ((), ("--json",), ("--at", "30")):
        done = show(file, *words)
        assert 0 == done.returncode
        assert not re.search("[\x1b\x9b\u202e]|\\\\u001b", done.stdout)


def test_a_terminal_gets_colours_and_pages(tmp_path: Path) -> None:
    """The user's own pager receives the whole account at once."""
    file = kept(recorded("cant_stop", 2), tmp_path)
    seen = tmp_path / "paged"
    in_terminal(file, env={"PAGER": f"tee {seen}"})
    paged = seen.read_text(encoding="utf-8")
    assert re.search(rf"{re.escape(ESCAPE)}[0-9;]+m■{re.escape(ESCAPE)}0m Anna", paged)
    clean = [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", paged).splitlines()]
    assert show(file).stdout.splitlines() == clean


def test_a_terminal_without_colours_or_pager_gets_clean_text(tmp_path: Path) -> None:
    """NO_COLOR and --no-pager apply, and a missing pager is skipped."""
    file = kept(recorded("cant_stop", 2), tmp_path)
    expected = show(file).stdout
    seen = tmp_path / "paged"
    for words, env in (
        (("--no-pager",), {"PAGER": f"tee {seen}", "NO_COLOR": "1"}),
        ((), {"PAGER": "/no/such/pager", "NO_COLOR": "1"}),
    ):
        assert expected == in_terminal(file, *words, env=env).replace("\r\n", "\n")
    assert not seen.exists()


def test_an_event_that_names_a_pile_that_is_not_there_cannot_be_told() -> None:
    """Events after a hidden part are unchecked; such an event is refused by its number."""
    header = Table("allie_gator", seats=2).header
    events: list[tuple[int, Event]] = [(9, Happened(Drawn(0, (None,) * 5))), (10, Chosen(0, Number(Card(3), 9)))]
    told = tell(header, events)
    with pytest.raises(Misplaced, match="event 10 names a seat or a piece that is not there"):
        list(told)


def test_a_file_made_for_a_seat_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """An audit finds a divergence; `show` prints a sentence."""
    for seat in (-1, 9):
        done = show(kept(replace(recorded("allie_gator", 2), perspective=seat), tmp_path))
        assert (1, f"the file was made for seat {seat} of 2" in done.stderr) == (done.returncode, True)
        assert "Traceback" not in done.stderr


def test_what_a_forger_made_long_is_told_in_short(tmp_path: Path) -> None:
    """A sentence that quotes a long value of an event is cut, too."""
    done = show(kept(events()["many places"], tmp_path))
    assert (1, True) == (done.returncode, len(done.stderr) < 3_000)
    assert done.stderr.endswith("; `rollbook audit` explains more\n")


@pytest.mark.parametrize("game", GAMES)
def test_the_board_is_written_in_words(game: str, tmp_path: Path) -> None:
    """For people who have a text read to them: each table of the page, instead of the drawing."""
    seats = current()[game].seats[0]
    done = show(kept(recorded(game, seats), tmp_path), "--at", "30", "--seat", "0", "--words")
    seen = look(recorded(game, seats), 0)
    match = seen.at(30)
    view = match.game.view(match.state, 0)
    charts = presentation(game).charts(view, seating_of(match.game, match.opened, 0))
    titles = [line for line in done.stdout.splitlines() if line in {chart.title for chart in charts}]
    assert [chart.title for chart in charts] == titles
    assert plain(chart_lines(charts, WIDTH)) in done.stdout
