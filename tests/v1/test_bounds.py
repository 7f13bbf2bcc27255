"""Messages of whole matches of every game keep the bounds in the comments of the protos."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from google.protobuf.message import Message

from rollbook.identity.tokens import LONGEST_TOKEN
from rollbook.match.chain import is_match_id
from rollbook.match.codec.views import read_legal
from rollbook.match.fold import MOST_EVENTS
from rollbook.match.ledger import Ledger
from rollbook.replay_file.container import LARGEST_FILE
from rollbook.rules.catalogue import current
from rollbook.rules.game import Watcher
from rollbook.server import app
from rollbook.server.feeds import feed
from rollbook.server.out.projection import legal_message, view_message
from rollbook.server.play.commands import DECIDED_AGAIN
from rollbook.server.process.lifecycle import MOST_REQUEST_BYTES
from rollbook.server.rpc.feed import BEATS
from rollbook.server.rpc.replay import IDLE_SECONDS, PART_BYTES, UPLOAD_SECONDS
from rollbook.v1.events_pb2 import Event, Private
from rollbook.v1.games_pb2 import View
from tests.games.material import own_tests
from tests.match.played import Played

BYTES = {
    "Event.previous": [32],
    "Event.request": [0, 16],
    "Opened.commitment": [32],
    "Private.secret": [32],
    "Ready.closing_link": [32],
    "Ready.entropy": range(16, 65),
    "SeatTaken.entropy_commitment": [32],
    "Sealed.secret": [32],
}
"""The lengths of fields with bytes."""

SEAT_FIELDS = {"owner", "seat", "target", "winner"}

by_game = pytest.mark.parametrize("game", sorted(current()))


@cache
def travelled(game: str) -> tuple[Message, ...]:
    """Return every message of a random match: events, private data, views of all perspectives, legal choices."""
    rng = random.Random(7)
    played = Played(game, own_tests(game).SEATS, entropy=bytes(16))
    found: list[Message] = [*_seen(played)]
    played.start()
    while (match := played.ledger.match).sealed is None:
        found += _seen(played)
        played.append(played.choose(played.ledger.game.legal(match.state).sample(rng.randrange)))
    found += _seen(played)
    ledger = Ledger(played.log[0])
    for logged in played.log[1:]:
        ledger.take(logged)
        found.append(view_message(ledger, Watcher.PUBLIC))  # also while chance is awaited
    for logged in played.log:
        found += [Event.FromString(logged.data), Private.FromString(logged.private)]
    return tuple(part for message in found for part in _parts(message))


def _seen(played: Played) -> Iterator[Message]:
    """Yield the views and legal choices of a match at one moment."""
    seats = range(len(played.ledger.players))
    for eyes in (*seats, Watcher.PUBLIC, Watcher.JUDGE):
        yield view_message(played.ledger, eyes)
    for seat in seats:
        legal = legal_message(played.ledger, seat)
        if legal is not None:
            yield legal


def _parts(message: Message) -> Iterator[Message]:
    """Yield the message and all nested ones."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for part in value if field.is_repeated else [value]:
                yield from _parts(part)


def _values(game: str) -> Iterator[tuple[str, Any]]:
    """Yield every field that is set or not optional, with its value."""
    for message in travelled(game):
        for field in message.DESCRIPTOR.fields:
            if not field.has_presence or message.HasField(field.name):
                yield field.full_name.removeprefix("rollbook.v1."), getattr(message, field.name)


@by_game
def test_numbers_stay_in_their_bounds(game: str) -> None:
    """The comment of a field has its possible values, on which clients rely."""
    bounds = own_tests(game).BOUNDS
    wrong = set()
    for name, value in _values(game):
        if name in bounds:
            entries = [value] if isinstance(value, int) else list(value)
            wrong |= {(name, entry) for entry in entries if entry not in bounds[name]}
    assert set() == wrong


@by_game
def test_seats_are_numbered_from_0(game: str) -> None:
    """Every field with a seat names a seat of the match."""
    named = {
        (name, value)
        for name, value in _values(game)
        if name.rpartition(".")[2] in SEAT_FIELDS and isinstance(value, int)
    }
    assert {value for _, value in named} <= set(range(own_tests(game).SEATS))
    assert named


@by_game
def test_lists_and_bytes_have_their_lengths(game: str) -> None:
    """Lists that are never empty have an entry, and hashes and secrets have 32 bytes."""
    sized = {**BYTES, **own_tests(game).COUNTS}
    found = {(name, len(value)) for name, value in _values(game) if name in sized}
    assert set() == {(name, length) for name, length in found if length not in sized[name]}
    assert BYTES.keys() <= {name for name, _ in found}


@by_game
def test_lists_are_ascending_where_it_is_said(game: str) -> None:
    """Clients can compare such lists without sorting; entries may be equal."""
    ascending = own_tests(game).ASCENDING
    found = {
        (name, tuple(getattr(entry, key) if key else entry for entry in value))
        for name, value in _values(game)
        if name in ascending
        for key in [ascending[name]]
    }
    assert set() == {(name, entries) for name, entries in found if list(entries) != sorted(entries)}
    met = {name for name, entries in found if len(entries) > 1}
    # Random play never gives a seat two x2 dice here.
    assert ascending.keys() - met <= {"WuerfelzooView.doubles", "WuerfelzooTurnChoices.doubles"}


@by_game
def test_legal_choices_come_once_each_in_the_order_of_the_rules(game: str) -> None:
    """Programs may name a choice by its place in the list."""
    rng = random.Random(7)
    played = Played(game, own_tests(game).SEATS, entropy=bytes(16)).start()
    listed = 0
    while (match := played.ledger.match).sealed is None:
        legal = played.ledger.game.legal(match.state)
        seat = played.ledger.awaited_seat
        assert seat is not None
        message = legal_message(played.ledger, seat)
        assert message is not None
        if "choices" in {field.name for field, _ in getattr(message, game).ListFields()}:
            choices = list(read_legal(played.ledger.game, message))
            assert list(legal) == choices
            assert len(set(choices)) == len(choices)
            listed += len(choices) > 1
        played.append(played.choose(legal.sample(rng.randrange)))
    assert listed


@by_game
def test_the_first_seat_is_drawn_once_at_the_start(game: str) -> None:
    """In a match of one round; the order of the seats never changes after it."""
    happened = [
        part.happened.outcome for part in travelled(game) if isinstance(part, Event) and part.HasField("happened")
    ]
    kinds = [getattr(outcome, game).WhichOneof("kind") for outcome in happened]
    assert ("first_seat", 1) == (kinds[0], kinds.count("first_seat"))


@by_game
def test_every_bound_of_a_game_is_met_by_some_value(game: str) -> None:
    """Every bound belongs to a field that occurs; options of games are not part of this test."""
    bounds = {*own_tests(game).BOUNDS, *own_tests(game).COUNTS}
    assert bounds - {name for name, _ in _values(game)} <= {"RaffzahnView.announced"}


@by_game
def test_places_begin_with_1_and_equal_ones_share(game: str) -> None:
    """1, 2, 2, 4: a place is one more than the number of seats before it."""
    standings = {
        tuple(value)
        for name, value in _values(game)
        if name.rpartition(".")[2] == "places" and not isinstance(value, Message)
    }
    assert standings
    for places in standings:
        assert own_tests(game).SEATS == len(places)
        assert [1 + sum(other < place for other in places) for place in places] == list(places)


@by_game
def test_turns_are_nobodys_before_the_start_and_after_the_end(game: str) -> None:
    """A view names a seat only during a turn."""
    views = [getattr(view, game) for view in travelled(game) if isinstance(view, View)]
    assert not views[0].HasField("seat")
    assert not views[-1].HasField("seat")


def test_the_numbers_of_comments_are_those_of_the_code() -> None:
    """Tests replace some limits by smaller ones; these are the real ones."""
    assert feed.BEAT_SECONDS < 5
    assert app.LOBBY_SECONDS * BEATS < 5
    assert (8 << 20, 60, 5, 64 << 10) == (LARGEST_FILE, UPLOAD_SECONDS, IDLE_SECONDS, PART_BYTES)
    assert MOST_REQUEST_BYTES >= PART_BYTES
    assert (10_000, 4_096, 3) == (MOST_EVENTS, LONGEST_TOKEN, DECIDED_AGAIN)
    assert (True, False) == (is_match_id("x" * 100), is_match_id("x" * 101))
