"""Moves are encoded and decoded without protobuf messages, to the same bytes as with them."""

from __future__ import annotations

import random
from typing import Any

import pytest

from rollbook.match.codec.compact import compact_of
from rollbook.match.codec.envelope import write_private
from rollbook.match.codec.messages import read_choice, write_choice, write_outcome
from rollbook.match.codec.moves import hidden_pieces
from rollbook.match.events import Chosen, Happened
from rollbook.match.simulation import Simulation
from rollbook.rules.allie_gator.moves import Drawn, Stolen
from rollbook.rules.catalogue import AnyGame, current, find
from rollbook.rules.refusals import Invalid
from rollbook.rules.wuerfelzoo.moves import Boar, Play, Rolled
from rollbook.v1 import events_pb2, games_pb2

GAMES = list(current())
MATCHES = 3


def moves(game: AnyGame) -> list[Any]:
    """Return the outcomes and choices of some matches."""
    found: list[Any] = []
    for number in range(MATCHES):
        for _, event in Simulation(game, {}, game.seats[number % len(game.seats)], 1, number).events():
            if isinstance(event, Happened | Chosen):
                found.append(event.outcome if isinstance(event, Happened) else event.choice)
    return found


def by_messages(game: AnyGame, outcome: Any) -> bytes:
    """Return the bytes that an event of this outcome has after the previous link."""
    event = events_pb2.Event()
    event.happened.outcome.CopyFrom(write_outcome(game, outcome))
    return event.SerializeToString(deterministic=True)


@pytest.mark.parametrize("name", GAMES)
def test_moves_of_matches_are_the_same_bytes_both_ways(name: str) -> None:
    """Every move takes the fast path, else the tables would be useless."""
    game = find(name)
    compact = compact_of(game)
    for move in moves(game):
        if type(move) in game.outcomes.values():
            assert by_messages(game, move) == compact.write_happened(move)
            assert write_private(game, move) == compact.private(move)
        else:
            assert move == compact.choice(write_choice(game, move).SerializeToString(deterministic=True))


@pytest.mark.parametrize("name", GAMES)
def test_a_choice_is_read_only_from_the_one_way_to_write_it(name: str) -> None:
    """Bytes are changed, removed, repeated and inserted; the fast path decodes only canonical ones, as messages do."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    game = find(name)
    compact = compact_of(game)
    written = [
        write_choice(game, move).SerializeToString(deterministic=True)
        for move in moves(game)
        if type(move) in game.choices.values()
    ]
    for _ in range(5_000):
        data = bytearray(rng.choice(written))
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(data) + 1)
            data[at : at + rng.randrange(2)] = rng.choice((b"", bytes([rng.randrange(256)]), data[at : at + 3]))
        choice = compact.choice(bytes(data))
        if choice is not None:
            assert choice == read_choice(game, games_pb2.Choice.FromString(bytes(data)))
            assert bytes(data) == write_choice(game, choice).SerializeToString(deterministic=True)


def test_what_is_out_of_the_ordinary_goes_the_long_way() -> None:
    """Numbers of two bytes, hidden pieces, values that a field does not have, and moves of other games."""
    wuerfelzoo, allie_gator = compact_of(find("wuerfelzoo")), compact_of(find("allie_gator"))
    assert wuerfelzoo.write_happened(Rolled((128,), ("worm",))) is None
    assert wuerfelzoo.write_happened(Rolled((-1,), ("worm",))) is None
    assert wuerfelzoo.write_happened(Rolled((1,), ("unicorn",))) is None
    assert wuerfelzoo.write_happened(Stolen(None)) is None
    assert allie_gator.private(Drawn(0, (None,))) is None
    assert allie_gator.private(Stolen(None)) is None
    assert allie_gator.write_happened(Drawn(0, hidden_pieces(300_000_000))) is None
    for choice in (Boar(300, 1), Boar(-1, 1), Play(tuple(range(101)))):
        data = write_choice(find("wuerfelzoo"), choice).SerializeToString(deterministic=True)
        assert wuerfelzoo.choice(data) is None


@pytest.mark.parametrize("name", GAMES)
def test_a_choice_without_a_field_is_read_only_if_it_may_be_left_out(name: str) -> None:
    """Messages refuse such a choice too."""
    game = find(name)
    for kind in game.choices:
        sent = games_pb2.Choice()
        getattr(getattr(sent, name), kind).SetInParent()
        try:
            meant = read_choice(game, sent)
        except Invalid:
            meant = None
        assert meant == compact_of(game).choice(sent.SerializeToString(deterministic=True))
