"""Events are encoded once, decode to equal events, and contain no hidden part."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rollbook.match.chain import Head, genesis
from rollbook.match.codec.envelope import Logged, read_bytes, read_secret, write_bytes
from rollbook.match.codec.moves import LONGEST_LIST, Unreadable, hidden_pieces, with_hidden
from rollbook.match.events import (
    LOG_LOST,
    Chosen,
    Event,
    Forfeited,
    Happened,
    Opened,
    Ready,
    Resigned,
    Resumed,
    Sealed,
    SeatLeft,
    SeatTaken,
    Started,
    Terms,
    TimedOut,
)
from rollbook.match.simulation import Simulation
from rollbook.rules.allie_gator.moves import Drawn
from rollbook.rules.cant_stop.moves import Advance
from rollbook.rules.catalogue import current, find
from rollbook.v1 import events_pb2 as proto
from tests.rules.cases import CASES, Case

GAME = find("cant_stop")
SECRET = bytes(range(32))
LOST = Head(12, b"l" * 32, "0123456789abcdef", b"s" * 64)


def logged(event: Event, game: Any = GAME, **around: Any) -> Logged:
    """Return the event encoded at some place of a log."""
    return write_bytes(game, event, **{"sequence": 9, "time_ms": 1_700_000_000_000, "previous": bytes(32), **around})


@pytest.mark.parametrize(
    "event",
    [
        SeatTaken(0, b"p" * 16, b"c" * 32),
        SeatTaken(3),
        SeatLeft(1),
        Ready(0, bytes(16), b"l" * 32),
        Ready(2),
        Started(),
        Chosen(1, Advance((4, 5)), charged_ms=1_234),
        Chosen(0, Advance((6, 6)), by_caretaker=True),
        TimedOut(1, 1_700_000_030_000, 30_000),
        Forfeited(2),
        Resigned(0),
        Resumed(90_000),
        Sealed((2, 1), None, SECRET),
        Sealed(None, "by_operator", SECRET),
        Sealed(None, "not_ready:0", SECRET),
        Sealed(None, LOG_LOST, SECRET, LOST),
    ],
    ids=lambda event: type(event).__name__,
)
def test_every_kind_of_event_reads_back_from_its_bytes(event: Event) -> None:
    """Number, time, previous link and request are decoded too."""
    written = logged(event, request=b"r" * 16)
    assert written == read_bytes(written.data, written.private, GAME)
    assert written.data == logged(event, request=b"r" * 16).data


@pytest.mark.parametrize("case", CASES, ids=str)
def test_event_1_names_every_option_and_the_terms(case: Case) -> None:
    """A log names all options, including false and 0."""
    terms = Terms(30, 120, 60, 10, is_private=True)
    opened = Opened("m", case.game.name, case.game.version, case.options, ("",) * case.seats, b"c" * 32, terms)
    written = logged(opened, case.game, sequence=1, previous=genesis("m"), secret=SECRET)
    assert opened == read_bytes(written.data, written.private, match_id="m").event
    assert SECRET == read_secret(written.private)
    assert SECRET not in written.data


@pytest.mark.parametrize("name", list(current()))
def test_a_whole_match_is_one_chain_of_bytes(name: str) -> None:
    """Each event has the link of the one before; without private data only the hidden cards are unknown."""
    game = find(name)
    simulation = Simulation(game, {}, game.seats[0], 6, 0)
    previous = genesis(simulation.opened.match_id)
    links = set()
    for sequence, event in simulation.events():
        written = logged(event, game, sequence=sequence, previous=previous)
        assert written == read_bytes(written.data, written.private, game)
        seen = read_bytes(written.data, b"", game).event
        if isinstance(event, Happened) and isinstance(seen, Happened):
            assert event.outcome == with_hidden(seen.outcome, event.outcome)
            assert (seen == event) == (not written.private)
        previous = written.link
        links.add(previous)
    assert simulation.match.sequence == len(links) + 1


@pytest.mark.parametrize("name", list(current()))
def test_nothing_lies_beside_an_event_that_hides_nothing(name: str) -> None:
    """An event that hides nothing has no private data, not even an empty message."""
    simulation = Simulation(find(name), {}, find(name).seats[0], 6, 0)
    private = {logged(event, find(name), sequence=number).private for number, event in simulation.events()}
    assert b"" in private
    assert {"hidden"} >= {proto.Private.FromString(private).WhichOneof("content") for private in private - {b""}}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\xff\xff\xff", "no event"),
        (b"", "not known here"),
        (proto.Event(sequence=1, opened=proto.Opened(envelope=1)).SerializeToString(), "cannot stand here"),
        (proto.Event(happened=proto.Happened()).SerializeToString(), "no outcome of cant_stop"),
        (proto.Event(chosen=proto.Chosen()).SerializeToString(), "no choice that is known here"),
        (proto.Event(sealed=proto.Sealed()).SerializeToString(), "reason that is not known"),
        (logged(Sealed(None, LOG_LOST, SECRET)).data, "sealed with a head that it has lost, and nothing else"),
        (
            logged(Sealed(None, "by_operator", SECRET, LOST)).data,
            "sealed with a head that it has lost, and nothing else",
        ),
        (logged(Sealed(None, LOG_LOST, SECRET, replace(LOST, sequence=0))).data, "a link of 32 and a signature of 64"),
        (logged(Sealed(None, LOG_LOST, SECRET, replace(LOST, link=b"l"))).data, "a link of 32 and a signature of 64"),
        (logged(Sealed(None, LOG_LOST, SECRET, replace(LOST, signature=b""))).data, "a link of 32 and a signature of"),
    ],
)
def test_bytes_that_are_no_event_of_this_match_are_unreadable(data: bytes, why: str) -> None:
    """An older replica, or one with a broken store, must not skip unreadable events."""
    with pytest.raises(Unreadable, match=why):
        read_bytes(data, b"", GAME)


@pytest.mark.parametrize(
    ("opened", "why"),
    [
        (proto.Opened(envelope=1), "envelope 1"),
        (proto.Opened(envelope=2, fairness="fair/2"), "fair/2"),
        (proto.Opened(envelope=2, fairness="fair/1", game="chess"), "no game 'chess'"),
        (proto.Opened(envelope=2, fairness="fair/1", game="cant_stop", ruleset=7), "ruleset 7"),
        (proto.Opened(envelope=2, fairness="fair/1", game="cant_stop", ruleset=1), "no options of cant_stop"),
    ],
)
def test_an_opening_that_is_not_known_here_is_unreadable(opened: proto.Opened, why: str) -> None:
    """A later envelope, scheme, game or ruleset needs a later program."""
    with pytest.raises(Unreadable, match=why):
        read_bytes(proto.Event(sequence=1, opened=opened).SerializeToString())
    with pytest.raises(Unreadable, match="begins with"):
        read_bytes(proto.Event(started=proto.Started()).SerializeToString())


def test_what_is_remembered_of_one_claim_is_not_written_for_another() -> None:
    """Draws with an impossible count of hidden pieces share one None; a cached encoding must not mix their counts."""
    game = find("allie_gator")
    claims = [1, LONGEST_LIST + 1, 300_000_000, LONGEST_LIST + 1, 1]
    for count in claims:
        drawn: Happened[Any] = Happened(Drawn(0, hidden_pieces(count)))
        data = write_bytes(game, drawn, sequence=10, time_ms=1, previous=bytes(32)).data
        assert count == proto.Event.FromString(data).happened.outcome.allie_gator.draw.count
