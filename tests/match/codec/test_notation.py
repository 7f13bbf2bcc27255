"""The plain form: its promised bytes, and a strict reader."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from rollbook.match.codec.moves import Unreadable
from rollbook.match.codec.notation import LineReader, LineWriter, read_header, write
from rollbook.match.events import (
    Chosen,
    Event,
    Forfeited,
    Happened,
    Resigned,
    Resumed,
    Sealed,
    SeatLeft,
    SeatTaken,
    TimedOut,
)
from rollbook.match.simulation import Simulation
from rollbook.rules.allie_gator.moves import Card, Drawn, Gift, Number, Snap, Steal, Stolen
from rollbook.rules.cant_stop.moves import Advance
from rollbook.rules.catalogue import current, find
from rollbook.rules.game import Watcher
from rollbook.rules.raffzahn.moves import Roll, Take
from rollbook.rules.wuerfelzoo.moves import Drawn as DiceDrawn
from rollbook.rules.wuerfelzoo.moves import Play
from tests.match.table import SECRET, Table

GAMES = list(current())


def reread(lines: list[str]) -> list[str]:
    """Read the lines and write them again."""
    header = read_header(lines[0])
    read = LineReader(header)
    return [line.removesuffix("\n") for line in write(header, [read(line) for line in lines[1:]])]


def test_the_first_lines_of_a_simulated_match_are_those_of_the_published_example() -> None:
    """Keys and order of the header, the components, and the lifecycle lines, byte for byte."""
    lines = list(write(*_parts(Simulation(find("cant_stop"), {}, 2, 7, 0))))
    header, *lifecycle = lines[:6]
    assert header.startswith(
        '{"rollbook":1,"match":"cant_stop-7-0","game":"cant_stop","ruleset":1,'
        '"options":{"columns_to_win":3,"hasty":false,"free_fields":false},'
        '"components":{"columns":{"2":3,"3":5,"4":7,"5":9,"6":11,"7":13,"8":11,"9":9,"10":7,"11":5,"12":3}},'
        '"seats":["Anna","Tom"],"commitment":"'
    )
    assert header.endswith('","entropy":["",""]}\n')
    assert [
        '{"seq":2,"event":"seat_taken","seat":0}\n',
        '{"seq":3,"event":"seat_taken","seat":1}\n',
        '{"seq":4,"event":"ready","seat":0}\n',
        '{"seq":5,"event":"ready","seat":1}\n',
        '{"seq":6,"event":"started"}\n',
    ] == lifecycle
    assert json.loads(lines[-1]).keys() == {"seq", "result", "secret"}


def _parts(simulation: Simulation) -> tuple[Any, Any]:
    return simulation.header, simulation.events()


@pytest.mark.parametrize(
    ("game", "event", "line"),
    [
        ("cant_stop", Chosen(1, Advance((5, 4))), '{"seq":9,"seat":1,"choice":"advance","columns":[4,5]}'),
        ("cant_stop", Chosen(1, Advance((6, 6))), '{"seq":9,"seat":1,"choice":"advance","columns":[6,6]}'),
        ("raffzahn", Chosen(0, Roll((2, 0))), '{"seq":9,"seat":0,"choice":"roll","dice":[0,2]}'),
        ("raffzahn", Chosen(0, Roll((1,), 33)), '{"seq":9,"seat":0,"choice":"roll","dice":[1],"announce":33}'),
        (
            "raffzahn",
            Chosen(0, Take(15, safe=False), by_caretaker=True),
            '{"seq":9,"seat":0,"choice":"take","tile":15,"safe":false,"by":"caretaker"}',
        ),
        ("wuerfelzoo", Happened(DiceDrawn(1, (40, 3))), '{"seq":9,"chance":"draw","seat":1,"dice":[40,3]}'),
        ("wuerfelzoo", Chosen(0, Play((9, 1))), '{"seq":9,"seat":0,"choice":"play","dice":[1,9]}'),
        (
            "allie_gator",
            Happened(Drawn(0, (Card(70), Card(74)))),
            '{"seq":9,"chance":"draw","seat":0,"cards":[70,"gift"]}',
        ),
        ("allie_gator", Happened(Drawn(0, (None,) * 5)), '{"seq":9,"chance":"draw","seat":0,"cards":null,"count":5}'),
        ("allie_gator", Happened(Stolen(Card(71))), '{"seq":9,"chance":"steal","card":"reverse"}'),
        ("allie_gator", Happened(Stolen(None)), '{"seq":9,"chance":"steal","card":null}'),
        ("allie_gator", Chosen(1, Steal()), '{"seq":9,"seat":1,"choice":"steal"}'),
        ("allie_gator", Chosen(1, Steal(0)), '{"seq":9,"seat":1,"choice":"steal","target":0}'),
        ("allie_gator", Chosen(1, Gift()), '{"seq":9,"seat":1,"choice":"gift"}'),
        ("allie_gator", Chosen(1, Gift(0, 2)), '{"seq":9,"seat":1,"choice":"gift","pile":0,"target":2}'),
        ("allie_gator", Chosen(1, Snap()), '{"seq":9,"seat":1,"choice":"snap"}'),
        ("allie_gator", Chosen(1, Snap(Card(7))), '{"seq":9,"seat":1,"choice":"snap","card":7}'),
        ("allie_gator", Chosen(1, Number(Card(7), 1)), '{"seq":9,"seat":1,"choice":"number","card":7,"pile":1}'),
        ("cant_stop", SeatLeft(0), '{"seq":9,"event":"seat_left","seat":0}'),
        ("cant_stop", TimedOut(0), '{"seq":9,"event":"timed_out","seat":0}'),
        ("cant_stop", Forfeited(1), '{"seq":9,"event":"forfeited","seat":1}'),
        ("cant_stop", Resigned(1), '{"seq":9,"event":"resigned","seat":1}'),
        ("cant_stop", Resumed(), '{"seq":9,"event":"resumed"}'),
        (
            "cant_stop",
            Sealed((2, 1), None, bytes(32)),
            '{"seq":9,"result":{"places":[2,1]},"secret":"' + "00" * 32 + '"}',
        ),
        (
            "cant_stop",
            Sealed(None, "log_lost", bytes(32)),
            '{"seq":9,"result":{"aborted":"log_lost"},"secret":"' + "00" * 32 + '"}',
        ),
    ],
)
def test_every_kind_of_line_is_written_and_read_as_notation_has_it(game: str, event: Event, line: str) -> None:
    """The lines of the documented table; decoded lines encode to the same bytes."""
    assert line == LineWriter(find(game))(9, event)
    assert [line] == reread([Table(game).lines()[0], line])[1:]


@pytest.mark.parametrize("game", GAMES)
def test_a_whole_match_reads_back_to_the_same_bytes(game: str) -> None:
    """A match with entropy, a time-out and a resignation is written and read."""
    table = Table(game, seats=3, entropy=(bytes(16), b"", bytes(range(64)))).start()
    table.take(TimedOut(table.awaited_seat)).choose()
    lines = table.take(Resigned(0)).play_out().lines()
    assert lines == reread(lines)


@pytest.mark.parametrize("perspective", [Watcher.PUBLIC, Watcher.JUDGE, 0, 2])
def test_a_match_reads_back_as_a_perspective_saw_it(perspective: Watcher | int) -> None:
    """Hidden cards are null with their count, and stay so."""
    table = Table("allie_gator", seats=3)
    table.seen[perspective] = []
    lines = table.start().play_out().lines_seen(perspective)
    assert lines == reread(lines)
    assert (perspective is Watcher.JUDGE) == all('"cards":null' not in line for line in lines)


def test_a_name_is_written_as_it_is() -> None:
    """Names are UTF-8 without escapes."""
    header = Table("wuerfelzoo").lines()[0].replace("Seat 0", "Jürgen 🦊 \\"[:-1])
    assert "Jürgen 🦊" in read_header(header).opened.names[0]
    assert [header] == reread([header])


def test_a_choice_that_names_one_of_two_things_is_read_as_it_is() -> None:
    """The missing name stays missing and does not hide later fields; the rules refuse the choice."""
    read = LineReader(read_header(Table("allie_gator").lines()[0]))
    assert (9, Chosen(1, Gift(None, 2))) == read('{"seq":9,"seat":1,"choice":"gift","target":2}')
    assert (9, Chosen(1, Gift(0, None))) == read('{"seq":9,"seat":1,"choice":"gift","pile":0}')


def test_lists_in_choices_are_accepted_in_any_order() -> None:
    """People need not sort lists; our own lines are ascending."""
    header = Table().lines()[0]
    line = '{"seq":9,"seat":1,"choice":"advance","columns":[5,4]}'
    assert ['{"seq":9,"seat":1,"choice":"advance","columns":[4,5]}'] == reread([header, line])[1:]


GOOD = '{"seq":9,"seat":1,"choice":"advance","columns":[4,5]}'


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("", "not JSON"),
        ("[]", "must be a JSON object"),
        ("[" * 100_000, "not JSON"),
        ('{"seq":' + "9" * 5_000 + "}", "not JSON"),
        ('{"event":"started"}', "seq must be a whole number"),
        ('{"seq":true,"event":"started"}', "seq must be a whole number"),
        ('{"seq":9}', "one of chance, choice, event and result"),
        ('{"seq":9,"event":"stopped"}', "event must be one of seat_taken"),
        ('{"seq":9,"event":["started"]}', "event must be one of"),
        ('{"seq":9,"event":"ready"}', "seat must be the number of a seat"),
        ('{"seq":9,"event":"ready","seat":-1}', "seat must be the number of a seat"),
        ('{"seq":9,"event":"ready","seat":' + "9" * 400 + "}", "seat must be the number of a seat"),
        ('{"seq":9,"event":"started","seat":0}', "not written as the plain form has it"),
        ('{"seq":9, "event":"started"}', "not written as the plain form has it"),
        ('{"event":"started","seq":9}', "not written as the plain form has it"),
        ('{"seq":9,"event":"started","event":"started"}', "not written as the plain form has it"),
        ('{"seq":9.0,"event":"started"}', "seq must be a whole number"),
        ('{"seq":9,"chance":"roll"}', "dice is missing"),
        ('{"seq":9,"chance":"roll","dice":4}', "dice must be a list"),
        ('{"seq":9,"chance":"roll","dice":[1,2,3,"4"]}', "dice must be a whole number"),
        ('{"seq":9,"chance":"roll","dice":[true,2,3,4]}', "dice must be a whole number"),
        ('{"seq":9,"chance":"roll","dice":[' + "1," * 200 + "1]}", "list of at most"),
        ('{"seq":9,"chance":"throw","dice":[1,2,3,4]}', "chance must be one of first_seat, roll"),
        ('{"seq":9,"seat":1,"choice":"advance"}', "columns is missing"),
        ('{"seq":9,"seat":1,"choice":"advance","columns":null}', "columns must be a list"),
        ('{"seq":9,"seat":1,"choice":"advance","columns":[4,5],"by":"me"}', "not written as the plain form has it"),
        ('{"seq":9,"seat":1,"choice":"roll","columns":[4,5]}', "not written as the plain form has it"),
        ('{"seq":9,"result":[],"secret":"' + "00" * 32 + '"}', "result must be an object"),
        ('{"seq":9,"result":{},"secret":"' + "00" * 32 + '"}', "result must have places"),
        ('{"seq":9,"result":{"places":[1,2]},"secret":"00"}', "secret must be 32 bytes"),
        ('{"seq":9,"result":{"places":[1,2]}}', "secret must be 32 bytes"),
        ('{"seq":9,"result":{"aborted":""},"secret":"' + "00" * 32 + '"}', "aborted must say why"),
        ('{"seq":9,"result":{"places":[1,2]},"secret":"' + "AA" * 32 + '"}', "not written as the plain form has it"),
        (GOOD + " ", "not written as the plain form has it"),
        (GOOD + "\r", "not written as the plain form has it"),
        (GOOD.replace("5", "\\u0035"), "not JSON"),
    ],
)
def test_what_is_no_line_is_refused_with_the_reason(line: str, why: str) -> None:
    """For any line the reader raises its own exception with the reason."""
    read = LineReader(read_header(Table().lines()[0]))
    with pytest.raises(Unreadable, match=why.replace("[", "\\[")):
        read(line)


def change(key: str, value: object) -> Callable[[dict[str, Any]], None]:
    """Return a change of one key of a header."""
    return lambda header: header.__setitem__(key, value)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda header: header.pop("entropy"), "entropy is missing"),
        (change("rollbook", 2), "version 1"),
        (change("rollbook", True), "version 1"),
        (change("match", 7), "match must be a string"),
        (change("match", ""), "1 to 100 visible ASCII"),
        (change("match", "ä"), "1 to 100 visible ASCII"),
        (change("match", "x" * 101), "1 to 100 visible ASCII"),
        (change("game", "chess"), "there is no game 'chess'"),
        (change("ruleset", 9), "ruleset 9 of cant_stop is not known here"),
        (change("ruleset", 10**40), "not known here"),
        (change("seats", ["Anna"]), "cannot be played by 1 seats"),
        (change("seats", ["Anna", 7]), "list of names"),
        (change("seats", "Anna"), "seats must be a list"),
        (change("options", {}), "options must be all of"),
        (change("options", {"hasty": 1}), "option hasty cannot be 1"),
        (change("options", {"blitz": True}), "there is no option 'blitz'"),
        (change("options", {"hasty": "x" * 500}), "option hasty cannot be"),
        (change("components", {"columns": {}}), "the components are not those"),
        (change("components", None), "the components are not those"),
        (change("commitment", "00"), "commitment must be 32 bytes"),
        (change("commitment", None), "commitment must be 32 bytes"),
        (change("entropy", [""]), "entry for every seat"),
        (change("entropy", ["", "xy"]), "hexadecimal"),
        (change("extra", 1), "not written as the plain form has it"),
    ],
)
def test_what_is_no_header_is_refused_with_the_reason(spoil: Callable[[dict[str, Any]], None], why: str) -> None:
    """The header has every fact that the match depends on, exactly."""
    header = json.loads(Table().lines()[0])
    spoil(header)
    with pytest.raises(Unreadable, match=why):
        read_header(json.dumps(header, ensure_ascii=False, separators=(",", ":")))


def test_the_seal_of_a_table_reveals_the_secret_of_the_commitment() -> None:
    """With the secret anyone can recompute the dice."""
    last = json.loads(Table().start().play_out().lines()[-1])
    assert SECRET.hex() == last["secret"]


def test_seats_taken_are_the_first_lines() -> None:
    """Every event has its line, in order."""
    assert '{"seq":2,"event":"seat_taken","seat":0}' == Table().take(SeatTaken(0)).lines()[1]
