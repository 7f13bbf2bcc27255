"""The commands at real pseudo-terminals and a real service, by keys and by mouse."""

from __future__ import annotations

import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from rollbook.rules.catalogue import current
from tests.clients.terminal.persons import STRATEGIES, Person, menu, play_out
from tests.clients.terminal.pseudo import Pseudo, pseudo
from tests.ports import free_port
from tests.server.serving import started

TITLES = {game: current()[game].title for game in STRATEGIES}
NAMES = ("Anna", "Tom", "Willi")
RIGHT, UP, END, HOME = "\x1b[C", "\x1b[A", "\x1b[F", "\x1b[H"


def may_advance(text: str) -> bool:
    """Whether the screen offers an advance of Can't Stop."""
    return "1 Advance" in text or "1 Two steps" in text


def serve(data: Path, address: str) -> list[str]:
    """The command line that starts a service."""
    words = ["serve", "--data", str(data), "--listen", address, "--durability", "relaxed", "--log-level", "info"]
    return [sys.executable, "-m", "rollbook", *words]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running service."""
    with started(serve(tmp_path_factory.mktemp("service"), "127.0.0.1:0")) as one:
        yield one.address


def game_in_the_form(text: str) -> str:
    """The game that the form for a new match shows; empty while the form is being drawn."""
    found = re.search(r"Game +\u2039 (.+?) \u203a", text)
    return found[1] if found else ""


def opened(terminal: Pseudo, game: str) -> str:
    """Open a match of this game from the lobby and take a seat; returns its id."""
    terminal.until("Rollbook")
    terminal.press("o")
    terminal.until("Open the match")
    terminal.press(HOME)
    shown = ""
    while shown != TITLES[game]:
        if shown:
            terminal.press(RIGHT)
        shown = game_in_the_form(terminal.until(lambda text, shown=shown: game_in_the_form(text) not in {"", shown}))  # type: ignore[misc]  # mypy knows no defaults here
    terminal.press(END)
    terminal.press("\r")
    link = r"[\w.]+:\d+/([a-z2-7]{24})"
    found = re.search(link, terminal.until(lambda text: re.search(link, text) is not None))
    assert found
    return found[1]


def joined(terminal: Pseudo, match_id: str) -> None:
    """Take a seat in a match by its id."""
    terminal.until("Rollbook")
    terminal.press("c")
    terminal.until("Invitation, or the id")
    terminal.press(f"{match_id}\r")


def seated(  # noqa: PLR0917 - who sits where
    stack: ExitStack, address: str, game: str, home: Path, seats: int, env: dict[str, str] | None = None
) -> list[Pseudo]:
    """Return the terminals of this many players at one table, each with its own home."""
    terminals = []
    for name in NAMES[:seats]:
        words = ["play", "--service", address, "--name", name, "--pace", "0"]
        terminals.append(stack.enter_context(pseudo(words, home / name, env=env)))
    match_id = opened(terminals[0], game)
    for other in terminals[1:]:
        joined(other, match_id)
    return terminals


@pytest.mark.parametrize("game", STRATEGIES)
def test_people_at_terminals_play_a_whole_match(address: str, game: str, tmp_path: Path) -> None:
    """From the lobby to the places by keys alone: offered entries can be chosen, and all players see the end."""
    strategies = STRATEGIES[game]
    with ExitStack() as stack:
        terminals = seated(stack, address, game, tmp_path, len(strategies))
        play_out([Person(*pair) for pair in zip(terminals, strategies, strict=True)])
        places = {re.search(r"1\. (?:. )?(\w+)", terminal.until("1. "))[1] for terminal in terminals}  # type: ignore[index]  # it was waited for
        assert 1 == len(places)
        assert places <= set(NAMES)
        for terminal in terminals:
            terminal.press("\x1b")
            terminal.until("Rollbook")
            terminal.press("q")
            assert 0 == terminal.ended()


def test_the_mouse_chooses_as_well(address: str, tmp_path: Path) -> None:
    """A click on a line of the menu makes the choice of that line."""
    with ExitStack() as stack:
        terminals = seated(stack, address, "cant_stop", tmp_path, 2)
        mine = on_turn(terminals)
        text = mine.until(may_advance)
        row = next(number for number, line in enumerate(text.splitlines()) if may_advance(line))
        mine.click(5, row)
        mine.until(lambda text: menu(text).get("1", "").startswith("Throw again"))


def on_turn(terminals: list[Pseudo]) -> Pseudo:
    """The terminal of the player whose turn it is."""
    terminals[0].until(lambda text: "'s turn" in text or "Your turn" in text)
    mine = 0 if "Your turn" in terminals[0].text else 1
    terminals[mine].until("Your turn")
    return terminals[mine]


def test_a_seat_is_kept_over_a_restart_of_the_terminal(address: str, tmp_path: Path) -> None:
    """The token is in a file that only the user can read; after a restart the same guest plays on."""
    with ExitStack() as stack:
        terminals = seated(stack, address, "cant_stop", tmp_path, 2)
        mine = on_turn(terminals)
        name = NAMES[terminals.index(mine)]
        mine.until(may_advance)
        mine.close()
        (kept,) = (tmp_path / name).rglob("guests.json")
        assert 0o600 == stat.S_IMODE(kept.stat().st_mode)
        again = stack.enter_context(pseudo(["play", "--service", address], tmp_path / name))
        assert f"you are {name}" in again.until("Rollbook")
        again.until("► Can't Stop")
        again.press("\r")
        again.until(may_advance)
        again.press("1")
        again.until("Throw again")


def test_a_lost_connection_shows_and_heals(tmp_path: Path) -> None:
    """While the service is away the terminal shows it; when it is back the match continues without losing an event."""
    address = f"127.0.0.1:{free_port()}"
    data = tmp_path / "data"
    with ExitStack() as stack:
        first = stack.enter_context(started(serve(data, address)))
        first.line("listening")
        terminals = seated(stack, address, "cant_stop", tmp_path, 2)
        mine = on_turn(terminals)
        mine.until(may_advance)
        first.process.kill()
        mine.until("Connection lost")
        stack.enter_context(started(serve(data, address))).line("listening")
        for terminal in terminals:
            terminal.until(lambda text: "Connection lost" not in text)
        mine.press("1")
        mine.until("Throw again")


def test_a_spectator_watches_keeps_heads_and_looks_at_it_again(address: str, tmp_path: Path) -> None:
    """`rollbook watch` shows a match and saves the signed heads; `replay` saves the file."""
    heads = tmp_path / "heads.jsonl"
    with ExitStack() as stack:
        playing = stack.enter_context(pseudo(["play", "--service", address, "--name", "Anna"], tmp_path / "Anna"))
        match_id = opened(playing, "wuerfelzoo")
        other = stack.enter_context(pseudo(["play", "--service", address, "--name", "Tom"], tmp_path / "Tom"))
        joined(other, match_id)
        on_turn([playing, other])
        words = ["watch", match_id, "--service", address, "--keep-heads", str(heads)]
        watching = stack.enter_context(pseudo(words, tmp_path / "watching", size=(120, 40)))
        watching.until("'s turn")
        watching.until(lambda text: "starts" in text or "throws" in text)
        watching.press("\x1b")
        assert 0 == watching.ended()
        assert match_id in heads.read_text(encoding="utf-8")
        again = stack.enter_context(pseudo(["replay", match_id, "--service", address], tmp_path / "watching"))
        again.until("as the public saw it")
        again.press("q")
        assert 0 == again.ended()


def test_without_colours_nothing_is_drawn_in_colour(address: str, tmp_path: Path) -> None:
    """With NO_COLOR the output has at most shades of grey, and the board stays readable."""
    with ExitStack() as stack:
        terminals = seated(stack, address, "cant_stop", tmp_path, 2, {"NO_COLOR": "1", "COLORTERM": "truecolor"})
        on_turn(terminals).until(may_advance)
        shades = set(re.findall(rb"[34]8;2;(\d+);(\d+);(\d+)", terminals[0].raw))
        assert [] == [shade for shade in shades if len(set(shade)) > 1]
        assert {"■", "▲"} <= set(terminals[0].text)


def test_german_by_locale_and_by_flag(address: str, tmp_path: Path) -> None:
    """The language follows the environment, unless --language is given."""
    with (
        pseudo(["play", "--service", address], tmp_path / "a", env={"LANG": "de_DE.UTF-8"}) as by_locale,
        pseudo(["play", "--service", address, "--language", "de"], tmp_path / "b") as by_flag,
    ):
        by_locale.until("o neu")
        by_flag.until("o neu")


@pytest.mark.parametrize("command", [["play"], ["watch"], ["watch", "a" * 24]], ids=" ".join)
def test_without_a_service_it_says_how_to_start_one(command: list[str], tmp_path: Path) -> None:
    """Exit code 1, with the command that starts a service."""
    words = [*command, "--service", f"127.0.0.1:{free_port()}"]
    with pseudo(words, tmp_path) as terminal:
        assert 1 == terminal.ended()
        assert "`rollbook serve`" in terminal.text


def test_who_is_refused_hears_it_before_any_screen_is_drawn(address: str, tmp_path: Path) -> None:
    """A wrong token ends with 1, an unknown match with 3, and the reason stays on the terminal."""
    for words, code, said in (
        (["play", "--token", "nonsense"], 1, "not a signed JWT"),
        (["watch", "a" * 24], 3, "No such match, or you may not see it."),
    ):
        with pseudo([*words, "--service", address], tmp_path) as terminal:
            assert code == terminal.ended()
            assert said in terminal.text


@pytest.mark.parametrize("command", [["play"], ["watch"], ["replay", "match.rollbook"]], ids=" ".join)
def test_without_a_terminal_it_is_wrong_usage(command: list[str]) -> None:
    """In a pipe the command ends with exit code 64 and names a command to use instead."""
    done = subprocess.run(
        [sys.executable, "-m", "rollbook", *command],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert (64, "") == (done.returncode, done.stdout)
    assert "needs a terminal" in done.stderr
