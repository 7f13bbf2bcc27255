"""Checks of the plain form: good files are accepted, and the first wrong line is named."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from rollbook.match.check import Wrong, check
from rollbook.match.codec.notation import dumps, write
from rollbook.match.events import Resigned, Sealed, TimedOut
from rollbook.match.simulation import Simulation
from rollbook.rules.catalogue import current, find
from rollbook.rules.game import Watcher
from tests.match.table import SECRET, Table

GAMES = list(current())


@cache
def simulated(game: str) -> tuple[str, ...]:
    """Return the lines of a simulated match."""
    simulation = Simulation(find(game), {}, find(game).seats[1], 42, 0)
    return tuple(line.removesuffix("\n") for line in write(simulation.header, simulation.events()))


def wrong(lines: list[str], **how: bool) -> tuple[int, str]:
    """Return number and reason of the first wrong line."""
    with pytest.raises(Wrong) as raised:
        check(lines, **how)
    return raised.value.line, raised.value.reason


def first(lines: list[str], key: str, *, after: int = 0) -> int:
    """Return the index of the first line with this key."""
    return next(index for index, line in enumerate(lines) if index > after and key in json.loads(line))


def changed(lines: list[str], index: int, change: Callable[[dict[str, Any]], object]) -> list[str]:
    """Return the lines with one of them changed."""
    written = json.loads(lines[index])
    change(written)
    return [*lines[:index], dumps(written), *lines[index + 1 :]]


@pytest.mark.parametrize("game", GAMES)
def test_a_simulated_match_is_good_and_its_dice_are_proved(game: str) -> None:
    """The check accepts the output of `rollbook simulate`."""
    lines = list(simulated(game))
    checked = check(lines)
    assert (len(lines), True, True, 0) == (checked.events, checked.finished, checked.dice_proved, checked.withheld)


@pytest.mark.parametrize("game", GAMES)
def test_every_dropped_and_every_swapped_line_is_found_where_it_is(game: str) -> None:
    """For a sample of all lines: one is removed, or two neighbours are exchanged."""
    lines = list(simulated(game))
    rng = random.Random(1)
    for index in sorted(rng.sample(range(1, len(lines) - 1), 30)):
        assert index + 1 == wrong([*lines[:index], *lines[index + 1 :]])[0]
        swapped = [*lines[:index], lines[index + 1], lines[index], *lines[index + 2 :]]
        assert index + 1 == wrong(swapped)[0]


@pytest.mark.parametrize("game", GAMES)
def test_renumbering_does_not_hide_a_dropped_line(game: str) -> None:
    """Rules and dice find the gap at its place or at a later line that depends on it."""
    lines = list(simulated(game))
    for index in (first(lines, "chance"), first(lines, "choice", after=len(lines) // 2)):
        rest = [dumps({**json.loads(line), "seq": json.loads(line)["seq"] - 1}) for line in lines[index + 1 :]]
        line, _ = wrong([*lines[:index], *rest])
        assert line >= index + 1


@pytest.mark.parametrize(
    ("game", "key", "change"),
    [
        ("cant_stop", "dice", lambda line: line["dice"].__setitem__(0, line["dice"][0] % 6 + 1)),
        ("raffzahn", "dice", lambda line: line["dice"].__setitem__(2, "5" if line["dice"][2] != "5" else "4")),
        ("wuerfelzoo", "dice", lambda line: line["dice"].reverse()),
        ("wuerfelzoo", "faces", lambda line: line["faces"].reverse()),
        ("allie_gator", "cards", lambda line: line["cards"].reverse()),
        ("allie_gator", "pile", lambda line: line.__setitem__("card", line["card"] % 70 + 1)),
    ],
)
def test_changed_dice_are_found_at_their_line(game: str, key: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Possible but wrong dice are refused, with the ones that follow from the secret."""
    lines = list(simulated(game))
    index = first(lines, key)
    line, reason = wrong(changed(lines, index, change))
    assert index + 1 == line
    assert "the secret gives" in reason


def test_an_illegal_choice_is_found_at_its_line() -> None:
    """The reason is that of the rules."""
    lines = list(simulated("cant_stop"))
    index = first(lines, "columns", after=20)
    line, reason = wrong(changed(lines, index, lambda written: written.__setitem__("columns", [2, 12])))
    assert (index + 1, True) == (line, "do not allow to advance [2, 12]" in reason)


def test_a_choice_of_another_seat_is_found_at_its_line() -> None:
    """The awaited seat follows from the fold."""
    lines = list(simulated("cant_stop"))
    index = first(lines, "choice")
    line, reason = wrong(changed(lines, index, lambda written: written.__setitem__("seat", (written["seat"] + 1) % 3)))
    assert (index + 1, True) == (line, "it is the turn of seat" in reason)


@pytest.mark.parametrize("game", GAMES)
def test_a_wrong_result_is_found_at_the_last_line(game: str) -> None:
    """The places follow from the fold."""
    lines = list(simulated(game))
    line, reason = wrong(changed(lines, -1, lambda written: written["result"]["places"].reverse())[: len(lines)])
    assert (len(lines), True) == (line, "the places are" in reason)


def test_a_secret_that_does_not_fit_the_commitment_is_found_at_the_last_line() -> None:
    """A secret without a commitment proves no dice."""
    lines = list(simulated("cant_stop"))
    other = [*lines[:-1], lines[-1].replace(json.loads(lines[-1])["secret"], "00" * 32)]
    assert (len(lines), "the secret does not fit the commitment of line 1") == wrong(other)


def test_entropy_that_was_not_revealed_so_changes_all_dice() -> None:
    """The entropy in the header is part of the key, so a changed one shows at the first draw."""
    lines = list(simulated("cant_stop"))
    line, reason = wrong(changed(lines, 0, lambda header: header.__setitem__("entropy", ["11" * 16, "", ""])))
    assert "the secret gives" in reason
    assert line >= first(lines, "chance") + 1


def test_entropy_of_the_seats_is_proved_too() -> None:
    """A match with entropy is good with it, and wrong without."""
    lines = Table(entropy=(bytes(16), bytes(range(64)))).start().play_out().lines()
    assert check(lines).dice_proved
    assert "the secret gives" in wrong(changed(lines, 0, lambda header: header.__setitem__("entropy", ["", ""])))[1]


def test_time_outs_forfeits_and_caretakers_are_checked() -> None:
    """The rules of every table are checked like those of the game."""
    table = Table(seats=3).start()
    lines = table.take(TimedOut(table.awaited_seat)).choose().take(Resigned(0)).play_out().lines()
    assert check(lines).finished
    index = first(lines, "by")
    line, reason = wrong(changed(lines, index, lambda written: written.pop("by")))
    assert (index + 1, True) == (line, "its caretaker chooses" in reason)


def test_an_unfinished_match_is_said_to_be_so_and_accepted_when_asked() -> None:
    """The dice of an unfinished match cannot be proved, because its secret is not revealed yet."""
    lines = list(simulated("raffzahn"))[:40]
    line, reason = wrong(lines)
    assert (40, True) == (line, "--unfinished" in reason)
    checked = check(lines, unfinished=True)
    assert (40, False, False) == (checked.events, checked.finished, checked.dice_proved)


def test_an_aborted_match_is_good_without_a_result() -> None:
    """The draws of an aborted match are proved."""
    table = Table().start().choose()
    checked = check(table.take(Sealed(None, "by_operator", SECRET)).lines())
    assert (True, True) == (checked.finished, checked.dice_proved)


def test_what_a_stranger_saw_is_proved_once_the_secret_is_known() -> None:
    """Hidden cards follow from the secret, so every copy is checked equally strictly."""
    table = Table("allie_gator", seats=3)
    table.seen[Watcher.PUBLIC] = []
    lines = table.start().play_out().lines_seen(Watcher.PUBLIC)
    assert check(lines).dice_proved
    index = next(index for index, line in enumerate(lines) if '"count":5' in line)
    line, reason = wrong([*lines[:index], lines[index].replace('"count":5', '"count":4'), *lines[index + 1 :]])
    assert (index + 1, True) == (line, "the secret gives" in reason)


def test_what_a_stranger_saw_of_a_running_match_is_not_refused_but_not_verified_either() -> None:
    """From the first hidden hand on the state cannot be folded."""
    table = Table("allie_gator", seats=3)
    table.seen[Watcher.PUBLIC] = []
    lines = table.start().choose().lines_seen(Watcher.PUBLIC)
    hidden = next(index for index, line in enumerate(lines) if '"cards":null' in line)
    checked = check(lines, unfinished=True)
    assert (len(lines) - hidden, False, False) == (checked.withheld, checked.finished, checked.dice_proved)
    assert "--unfinished" in wrong(lines)[1]


def test_nothing_at_all_and_a_line_behind_the_seal_are_refused() -> None:
    """An empty file is no match, and no line may follow the seal."""
    assert (1, "the file is empty") == wrong([])
    lines = list(simulated("cant_stop"))
    line, _ = wrong([*lines, dumps({"seq": len(lines) + 1, "event": "resumed"})])
    assert len(lines) + 1 == line
