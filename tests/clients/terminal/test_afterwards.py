"""After a match, at real terminals: the end, the list of own matches, time-outs, and leaving."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from rollbook_clients.sdk import connect
from tests.clients.terminal.persons import STRATEGIES, Person, first, menu, play_out
from tests.clients.terminal.pseudo import Pseudo, pseudo
from tests.clients.terminal.test_pseudo_terminal import NAMES, joined, may_advance, on_turn, seated, serve
from tests.ports import free_port
from tests.server.serving import started

GAME = "wuerfelzoo"
"""Two players finish it in a few moves."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running service."""
    with started(serve(tmp_path_factory.mktemp("service"), "127.0.0.1:0")) as one:
        yield one.address


def with_clock(address: str, game: str, turn_seconds: int) -> str:
    """Open a match with a turn clock, without taking a seat; returns its id."""

    async def opened() -> str:
        async with connect(address, name="Opener") as table:
            return (await table.open(game, 2, turn_seconds=turn_seconds)).id

    return asyncio.run(opened())


def at_table(stack: ExitStack, address: str, match_id: str, home: Path) -> list[Pseudo]:
    """Two terminals that join the match by its id."""
    terminals = []
    for name in NAMES[:2]:
        words = ["play", "--service", address, "--name", name, "--pace", "0"]
        terminals.append(stack.enter_context(pseudo(words, home / name)))
        joined(terminals[-1], match_id)
    return terminals


def copied(terminal: Pseudo) -> set[str]:
    """The texts that the program has copied to the clipboard."""
    return {base64.b64decode(found).decode() for found in re.findall(rb"\x1b\]52;c;([^\x07]*)\x07", terminal.raw)}


def titles(terminal: Pseudo) -> list[str]:
    """The titles that the program has given to the terminal, in order."""
    return [found.decode() for found in re.findall(rb"\x1b\]2;([^\x07]*)\x07", terminal.raw)]


def test_a_finished_match_says_who_won_and_offers_what_can_be_done_with_it(address: str, tmp_path: Path) -> None:
    """Both players see their places, watch the replay, verify it, save it, copy its id, and find it in the lobby."""
    with ExitStack() as stack:
        terminals = seated(stack, address, GAME, tmp_path, 2)
        play_out([Person(*pair) for pair in zip(terminals, STRATEGIES[GAME], strict=True)])
        assert {True, False} == {"You win!" in terminal.text for terminal in terminals}
        winner, loser = sorted(terminals, key=lambda terminal: "You win!" not in terminal.text)
        assert re.search(r"(Anna|Tom) wins\. You come second\.", loser.text)
        assert re.search(r"1\. \w+ \(\d+ penalty points?\)", loser.text)
        match_id = match_on(winner)

        winner.press("2")
        winner.until("event ")
        winner.press("q")
        winner.until("Verify it")
        winner.press("4")
        winner.until("Verified: all")
        file = tmp_path / "kept.rollbook"
        winner.press("3")
        winner.until("Save as:")
        winner.press("\x15")
        winner.until(lambda text: f"{match_id}.rollbook" not in text)
        winner.press(f"{file}\r")
        winner.until("Saved as")
        assert file.read_bytes()
        winner.press("\x19")
        winner.until("Copied")
        assert {match_id} == copied(winner)

        winner.press("\x1b")
        mine = winner.until("you won")
        assert "My matches" in mine
        assert f"Match {match_id}" in mine
        winner.press("\r")
        winner.until("You win!")
        loser.press("\x1b")
        loser.until("2nd of 2")


def test_those_who_play_again_meet_at_the_same_table(address: str, tmp_path: Path) -> None:
    """The first who asks opens the rematch and waits there; the second takes a seat, and the match begins."""
    with ExitStack() as stack:
        terminals = seated(stack, address, "cant_stop", tmp_path, 2)
        mine = on_turn(terminals)
        mine.resign()
        for terminal in terminals:
            terminal.until("Play again")
            assert "\u25ba" not in terminal.text
        before = match_on(mine)
        terminals[0].press("1")
        terminals[0].until("Waiting for players: 1 seat free.")
        terminals[0].until("Seats kept 5 minutes")
        terminals[1].press("1")
        for terminal in terminals:
            terminal.until(lambda text: before not in text)
        assert match_on(terminals[0]) == match_on(terminals[1])
        on_turn(terminals)


@pytest.mark.parametrize("key", ["x", "\r"])
def test_the_other_player_sees_the_offer_of_a_rematch_and_answers_it(address: str, tmp_path: Path, key: str) -> None:
    """With bell and title; whoever has asked reads the answer."""
    with ExitStack() as stack:
        terminals = seated(stack, address, "cant_stop", tmp_path, 2)
        mine = on_turn(terminals)
        other = terminals[1 - terminals.index(mine)]
        names = dict(zip(terminals, NAMES, strict=False))
        mine.resign()
        for terminal in terminals:
            terminal.until("Play again")
        mine.press("1")
        other.until(f"{names[mine]} wants to play again.")
        other.until("No thanks")
        other.until(lambda _: any(title.startswith(f"{names[mine]} wants") for title in titles(other)))
        lefts: set[str] = set()

        def counts_down(text: str) -> bool:
            lefts.update(re.findall(rf"Waiting for {names[other]}, ([45]:\d\d)", text))
            return len(lefts) > 2

        mine.until(counts_down)
        if key == "\r":
            # From the lobby, where the rematch is the first line.
            other.press("\x1b")
            other.until("Play again?")
            other.until(lambda _: "● Play again? · Rollbook" in titles(other))
            other.press("\x1b[H")
        other.press(key)
        if key == "x":
            other.until("You have declined.")
            mine.until(f"Declined: {names[other]}.")
            other.until(lambda text: "No thanks" not in text)
        else:
            on_turn(terminals)


def match_on(terminal: Pseudo) -> str:
    """The match id in the first line of a table."""
    found = re.search(r"[a-z2-7]{24}", terminal.until(lambda text: re.search(r"[a-z2-7]{24}", text[:80]) is not None))
    assert found
    return found[0]


def test_who_loses_on_time_is_told_before_and_after(address: str, tmp_path: Path) -> None:
    """The absent player sees every time-out and the reason for the end, and finds the result in the lobby."""
    match_id = with_clock(address, "cant_stop", 5)
    with ExitStack() as stack:
        terminals = at_table(stack, address, match_id, tmp_path)
        awake = Person(terminals[0], first)

        def sees(said: str) -> None:
            def is_there(text: str) -> bool:
                awake.look()
                return said in text

            terminals[1].until(is_there)

        sees("Your time ran out")
        sees("You are out")
        terminals[1].until("Anna wins. You come second.")
        assert "Tom (0 columns, out)" in terminals[1].text
        terminals[1].until("Back to the lobby")
        assert "plays out your seat" not in terminals[1].text
        terminals[1].press("\x1b")
        terminals[1].until("2nd of 2, out")


def test_leaving_a_running_match_says_what_will_happen(address: str, tmp_path: Path) -> None:
    """The seat stays taken; the lobby shows turn and clock of the match, and leaving asks for confirmation again."""
    match_id = with_clock(address, "cant_stop", 600)
    with ExitStack() as stack:
        terminals = at_table(stack, address, match_id, tmp_path)
        mine = on_turn(terminals)
        mine.press("\x1b")
        mine.until("your seat is still yours")
        mine.until("Your clock runs on")
        mine.press("\x1b")
        mine.until(lambda text: "your seat is still yours" not in text)
        mine.press("\x1b")
        mine.until("your seat is still yours")
        mine.press("\x1b[B\r")
        mine.until(lambda text: re.search(r"► Can't Stop +your turn, \d+:\d\d", text) is not None)
        assert "10 min a turn" in mine.text
        mine.until(lambda _: any(title.startswith("● Your turn in 1 match") for title in titles(mine)))
        mine.press("q")
        mine.until("Your clock runs in 1 match.")
        mine.press("\x1b[B\r")
        assert 0 == mine.ended()


def test_the_terminal_rings_and_says_in_its_title_when_the_turn_comes(address: str, tmp_path: Path) -> None:
    """The bell rings once a turn, unless it is off, for players who work in another window."""
    with ExitStack() as stack:
        terminals = seated(stack, address, "cant_stop", tmp_path, 2)
        mine = on_turn(terminals)
        other = terminals[1 - terminals.index(mine)]
        other.press("\x07")
        other.until("The bell is off")
        silent = other.raw.count(b"\x07") - len(titles(other))
        assert any("Your turn · Can't Stop" in title for title in titles(mine))
        assert any("'s turn · Can't Stop" in title for title in titles(other))
        person = Person(mine, stops)

        def is_on_turn(text: str) -> bool:
            person.look()
            return "Your turn" in text

        other.until(is_on_turn)
        assert silent == other.raw.count(b"\x07") - len(titles(other))


def stops(person: Person, text: str) -> None:
    """Stop as soon as the menu offers it."""
    offered = menu(text)
    person.press(next((key for key, said in offered.items() if said.startswith("Stop")), "1"))


def test_a_click_on_the_board_leads_to_the_choice(address: str, tmp_path: Path) -> None:
    """A click on a column moves the cursor to the one choice that uses it; a second click makes the choice."""
    with ExitStack() as stack:
        terminals = seated(stack, address, "cant_stop", tmp_path, 2)
        mine = on_turn(terminals)
        text = mine.until(lambda text: menu(text).get("1", "").startswith(("Advance", "Two")))
        columns = re.findall(r"\d+", menu(text)["1"].partition("  ")[0])
        rows = text.splitlines()[2:15]
        row, line = next((at, line) for at, line in enumerate(rows) if re.search(rf"\b{columns[-1]}\b", line[:55]))
        at = re.search(rf"\b{columns[-1]}\b", line[:55])
        assert at is not None
        deadline = 8
        while "Throw again" not in mine.text and deadline:
            before = mine.text
            mine.click(at.start(), row + 2)
            mine.until(lambda text, before=before: text != before)  # type: ignore[misc]  # mypy knows no defaults here
            deadline -= 1
        mine.until("Throw again")


def test_a_terminal_that_is_too_small_says_how_large_it_should_be(address: str, tmp_path: Path) -> None:
    """The screen shows the needed size instead of a cropped board, and all of its content once it is large enough."""
    with pseudo(["play", "--service", address], tmp_path) as terminal:
        terminal.until("new match")
        terminal.resize((70, 20))
        terminal.until("Rollbook needs at least 80\u00d724.")
        terminal.until("This terminal is 70\u00d720.")
        terminal.resize((80, 24))
        terminal.until("new match")
    with pseudo(["play", "--service", address], tmp_path, size=(60, 20), env={"LANG": "de_DE.UTF-8"}) as terminal:
        terminal.until("mindestens 80\u00d724")


def test_help_has_all_rules_of_the_game(address: str, tmp_path: Path) -> None:
    """`?` shows the keys, then the rules of the game with examples, in the user's language."""
    with pseudo(["play", "--service", address, "--language", "de"], tmp_path, size=(100, 60)) as terminal:
        terminal.until("o neu")
        terminal.press("o")
        terminal.until("Eine neue Partie")
        terminal.press("?")
        terminal.until("EINE NEUE PARTIE")
        terminal.until("Worum es geht")
        terminal.until("Beispiel:")


def test_moves_of_others_follow_one_after_the_other_and_a_key_shows_the_present(tmp_path: Path) -> None:
    """At two seconds a move a spectator falls behind the bots; the space bar shows the present at once."""
    words = [*serve(tmp_path / "data", "127.0.0.1:0"), "--demo"]
    with started(words) as service:
        watch = ["watch", "--service", service.address, "--pace", "2"]
        with pseudo(watch, tmp_path / "watching", size=(100, 30)) as terminal:
            terminal.until("Public matches")
            terminal.press("\r")
            terminal.until("'s turn")
            terminal.until("behind, Space to catch up")
            terminal.press(" ")
            terminal.until(lambda text: "to catch up" not in text)
            terminal.press("\x10")
            terminal.until("Other players' moves: 0 s each")


def test_a_choice_made_while_the_service_is_away_arrives_and_is_said_to(tmp_path: Path) -> None:
    """The choice waits until the service is back; the screen first shows that it is not sent, then that it counted."""
    address = f"127.0.0.1:{free_port()}"
    data = tmp_path / "data"
    with ExitStack() as stack:
        first_service = stack.enter_context(started(serve(data, address)))
        first_service.line("listening")
        terminals = seated(stack, address, "cant_stop", tmp_path, 2)
        mine = on_turn(terminals)
        mine.until(may_advance)
        first_service.process.kill()
        mine.until("Connection lost")
        mine.press("1")
        mine.until("Not sent yet:")
        stack.enter_context(started(serve(data, address))).line("listening")
        mine.until("Your choice has arrived:")
        mine.until("Throw again")
