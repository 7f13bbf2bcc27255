"""`rollbook duel` as a user runs it: real processes, third-party bots, a real terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from typing import Any

import psutil
import pytest

from rollbook.rules.catalogue import current
from tests.clients.bots.installing import installed

DUEL = (sys.executable, "-m", "rollbook", "duel")


def rollbook_duel(*words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command in its own process."""
    return subprocess.run(
        [*DUEL, *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "PYTHONUTF8": "1", **(env or {})},
    )


@pytest.fixture(scope="module")
def strangers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment in which third-party bots are installed."""
    return installed(tmp_path_factory.mktemp("strangers"))


def facts(done: subprocess.CompletedProcess[str]) -> Any:
    """Return the output of `--json`."""
    return json.loads(done.stdout)


def test_a_duel_tells_win_rates_with_intervals_by_turn_and_by_seat() -> None:
    """The results are on standard output, the time taken on standard error."""
    done = rollbook_duel("rule_of_28", "random", "--game", "cant_stop", "--matches", "40", "--seed", "1")
    assert 0 == done.returncode
    assert "cant_stop, 2 seats, seed 1" == done.stdout.splitlines()[0]
    assert re.search(r"^A rule_of_28 +\d+\.\d\d% +\d+\.\d\d% to \d+\.\d\d% +40$", done.stdout, re.MULTILINE)
    for line in ("B random", "    starting", "    playing 2nd", "    seat 0", "    seat 1", "whoever starts"):
        assert re.search(rf"^{line} +\d+\.\d\d% ", done.stdout, re.MULTILINE)
    assert re.fullmatch(r"40 matches in [\d.]+ s: [\d.,]+ matches/s\n", done.stderr)


def test_the_same_seed_gives_the_same_facts_whatever_the_jobs_and_the_hash_seed() -> None:
    """The JSON object is the same byte for byte."""
    words = (
        "heuristic",
        "random",
        "--game",
        "allie_gator",
        "--seats",
        "3",
        "--matches",
        "12",
        "--json",
        "--seed",
        "-3",
    )
    told = {rollbook_duel(*words, "--jobs", jobs, env={"PYTHONHASHSEED": jobs}).stdout for jobs in ("1", "2")}
    assert 1 == len(told)
    duel = json.loads(told.pop())
    assert ("allie_gator", {"teeth_to_end": 3}, 3, -3, 12) == tuple(
        duel[key] for key in ("game", "options", "seats", "seed", "matches")
    )
    heuristic, chance = duel["strategies"]
    assert ("heuristic", "random") == (heuristic["strategy"], chance["strategy"])
    assert 12 == heuristic["wins"] + chance["wins"]
    assert heuristic["interval"][0] < heuristic["rate"] < heuristic["interval"][1] or heuristic["rate"] in {0, 1}
    assert [0, 1, 2] == [rate["seat"] for rate in heuristic["by_seat"]] == [rate["turn"] for rate in duel["by_turn"]]
    assert [] == duel["faults"]


def test_a_drawn_seed_is_told_and_takes_the_duel_back() -> None:
    """The seed is on standard error, so that standard output has only results."""
    words = ("random", "heuristic", "--game", "wuerfelzoo", "--matches", "4", "--json")
    first = rollbook_duel(*words)
    seed = re.match(r"seed (\d+)\n", first.stderr)
    assert seed is not None
    assert first.stdout == rollbook_duel(*words, "--seed", seed[1]).stdout


def test_monte_carlo_counts_playouts_to_be_the_same_everywhere() -> None:
    """With a number of playouts instead of a time, duels can be repeated."""
    words = ("monte_carlo:playouts=20", "random", "--game", "wuerfelzoo", "--matches", "2", "--seed", "1", "--json")
    assert rollbook_duel(*words, "--jobs", "1").stdout == rollbook_duel(*words, "--jobs", "2").stdout


def test_monte_carlo_thinks_for_a_time() -> None:
    """It chooses even with a very short time; forced choices take no time."""
    done = rollbook_duel("monte_carlo:think=0.001", "random", "--game", "wuerfelzoo", "--matches", "2", "--seed", "1")
    assert 0 == done.returncode


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("random",), "OTHER"),
        (("random", "random"), "--game"),
        (("random", "random", "--game", "chess"), f"games: {', '.join(current())}"),
        (("chess", "random", "--game", "cant_stop"), "strategies: expected_teeth, fewest_penalties, heuristic"),
        (("random", "rule_of_28", "--game", "raffzahn"), "rule_of_28 plays cant_stop only"),
        (("random:luck=1", "random", "--game", "raffzahn"), "random has no setting 'luck'"),
        (("monte_carlo:think=long", "random", "--game", "raffzahn"), "think of monte_carlo must be a number"),
        (("monte_carlo:think=0", "random", "--game", "raffzahn"), "more than 0"),
        (("random", "random", "--game", "raffzahn", "--seats", "2"), "seats: 3 to 6"),
        (("random", "random", "--game", "raffzahn", "--option", "edition=third"), "allowed: revised, original"),
        (("random", "random", "--game", "raffzahn", "--matches", "0"), "--matches must be 1 to 1,000,000"),
        (("random", "random", "--game", "raffzahn", "--matches", "1000001"), "--matches must be 1 to 1,000,000"),
        (("random", "random", "--game", "raffzahn", "--jobs", "0"), "--jobs must be 1 to 256"),
        (("random", "random", "--game", "raffzahn", "--jobs", "257"), "--jobs must be 1 to 256"),
        (("random", "random", "--game", "raffzahn", "--seed", "9" * 61), "at most 60"),
    ],
)
def test_wrong_usage_is_explained_and_ends_with_64(words: tuple[str, ...], said: str) -> None:
    """No match is played, and standard output stays empty."""
    done = rollbook_duel(*words)
    assert (64, "") == (done.returncode, done.stdout)
    assert said.lower() in done.stderr.lower()
    assert "Traceback" not in done.stderr


def test_bots_of_others_play_like_those_of_the_house(strangers: dict[str, str]) -> None:
    """An entry point is enough, also in child processes, and its keyword arguments are its settings."""
    words = ("--game", "cant_stop", "--matches", "4", "--seed", "1", "--jobs", "2", "--json")
    done = rollbook_duel("timid:courage=2,name=Tom,bold=true,share=0.25", "random", *words, env=strangers)
    assert (0, []) == (done.returncode, facts(done)["faults"])
    for setting, said in (
        ("courage=high", "a whole number"),
        ("bold=yes", "true or false"),
        ("share=half", "a number"),
    ):
        refused = rollbook_duel(f"timid:{setting}", "random", *words, env=strangers)
        assert (64, True) == (refused.returncode, said in refused.stderr)


@pytest.mark.parametrize(
    ("bot", "why"),
    [("cheat", "'to win', which is not legal"), ("breaking", "RuntimeError('no idea')"), ("quitting", "SystemExit")],
)
@pytest.mark.parametrize("game", ["cant_stop", "wuerfelzoo"])
def test_a_bot_that_chooses_badly_is_named_and_loses_and_the_duel_goes_on(
    strangers: dict[str, str], game: str, bot: str, why: str
) -> None:
    """It resigns in every match; the results are printed, and the exit code is 1."""
    done = rollbook_duel(bot, "random", "--game", game, "--matches", "6", "--seed", "1", "--json", env=strangers)
    assert 1 == done.returncode
    duel = facts(done)
    assert [0, 6] == [side["wins"] for side in duel["strategies"]]
    assert [f"{game}-1-{number}" for number in range(6)] == [fault["match"] for fault in duel["faults"]]
    assert {bot} == {fault["strategy"] for fault in duel["faults"]}
    assert f"{bot} resigned in {game}-1-0, event " in done.stderr
    assert why in done.stderr
    assert f"{bot} resigned 3 more times" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_bot_sees_its_own_hand_and_no_other(strangers: dict[str, str]) -> None:
    """A bot receives only its seat's view, as at a service."""
    words = ("--game", "allie_gator", "--seats", "4", "--matches", "2", "--seed", "1", "--json")
    done = rollbook_duel("nosy", "nosy", *words, env=strangers)
    assert (0, []) == (done.returncode, facts(done)["faults"])


def test_others_finish_their_match_at_a_table_with_a_bad_bot(strangers: dict[str, str]) -> None:
    """With three seats two good bots play on; the caretaker plays for the resigned bot, which cannot win."""
    words = ("--game", "cant_stop", "--seats", "3", "--matches", "6", "--seed", "2", "--json")
    duel = facts(rollbook_duel("cheat", "random", *words, env=strangers))
    assert [0, 6] == [side["wins"] for side in duel["strategies"]]
    assert 9 == len(duel["faults"])


def test_a_bot_that_takes_its_process_along_ends_the_duel_with_a_word(strangers: dict[str, str]) -> None:
    """The command neither waits for ever nor prints a traceback."""
    done = rollbook_duel("dying", "random", "--game", "cant_stop", "--matches", "4", "--jobs", "2", env=strangers)
    assert 1 == done.returncode
    assert "a process died; 0 of 4 matches have been played" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_strategy_that_cannot_be_loaded_is_said_to_be_so(strangers: dict[str, str]) -> None:
    """The message has the exception of its module."""
    done = rollbook_duel("missing", "random", "--game", "cant_stop", env=strangers)
    assert (64, True) == (done.returncode, "strategy missing cannot be loaded: AttributeError" in done.stderr)


def in_terminal(*words: str, interrupt_at: str) -> tuple[int, str]:
    """Run the duel on a terminal and press Ctrl-C after this text; returns exit code and output."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [*DUEL, *words])  # noqa: S606 - our own command
    shown = ""
    patience = time.monotonic() + 120
    while select.select([terminal], [], [], 120)[0] and time.monotonic() < patience:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        before, shown = shown, shown + data.decode(errors="replace")
        if re.search(interrupt_at, shown) and not re.search(interrupt_at, before):
            # The terminal sends the signal to all processes of the command.
            os.write(terminal, b"\x03")
    os.close(terminal)  # sends SIGHUP to processes that still run
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), shown


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_tells_what_has_been_played_so_far(jobs: str) -> None:
    """A long duel shows a bar with its rate; after Ctrl-C it ends at once and prints its results."""
    words = ("heuristic", "random", "--game", "cant_stop", "--matches", "1000000", "--seed", "1", "--jobs", jobs)
    code, shown = in_terminal(*words, interrupt_at=r"/1000000.*matches/s")
    assert 130 == code
    assert "interrupted: " in shown
    played = re.search(r"A heuristic .* ([\d,]+)\r?\n", shown)
    assert played is not None
    assert 0 < int(played[1].replace(",", "")) < 1_000_000
    assert "Traceback" not in shown


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_is_left_behind_when_the_duel_is_ended(sent: signal.Signals) -> None:
    """For every signal: worker processes notice that their parent is gone."""
    words = ("heuristic", "random", "--game", "cant_stop", "--matches", "1000000", "--seed", "1", "--jobs", "2")
    running = subprocess.Popen([*DUEL, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while len(playing := psutil.Process(running.pid).children()) < 3:
            # Two workers, and the resource tracker of the standard library.
            assert running.poll() is None
            select.select([], [], [], 0.05)
        running.send_signal(sent)
        assert (130 if sent is signal.SIGINT else -sent) == running.wait(timeout=60)
        _gone, alive = psutil.wait_procs(playing, timeout=60)
        assert [] == [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]
    finally:
        running.kill()
