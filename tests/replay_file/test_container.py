"""The bytes of replay files: written files are read back, and incomplete files are refused."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.match.simulation import Simulation
from rollbook.replay_file import container
from rollbook.replay_file.container import NotAReplay, Replay, read, without_names, write
from rollbook.replay_file.recording import record
from rollbook.rules.catalogue import find
from rollbook.v1.replay_file_pb2 import ReplayBody, ReplayNames
from rollbook.v1.table_pb2 import SignedHead

KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))


UNKNOWN = b"\xf8\x07\x01"
"""Field 127, which no message of ours has."""


def small_replay() -> Replay:
    """Return a sealed match of Allie Gator with its hidden outcomes."""
    return record(Simulation(find("allie_gator", 1), {}, 2, 7, 0), KEY)


def test_a_replay_is_read_as_it_was_written() -> None:
    """The file has the events byte for byte, and both signatures are valid."""
    replay = small_replay()
    stored = read(write(replay, KEY))
    assert replay == stored.replay
    assert len(replay.events) == stored.count
    assert stored.file.holds(KEY.public_key())
    assert stored.names is not None
    assert stored.names.holds(KEY.public_key())


def test_names_can_be_removed_without_breaking_the_file() -> None:
    """Removing the names leaves the rest of the match intact."""
    stored = read(without_names(write(small_replay(), KEY)))
    assert () == stored.replay.names
    assert stored.names is None
    assert stored.file.holds(KEY.public_key())


@pytest.mark.parametrize(
    "change",
    [
        lambda body: body + ReplayBody(match_id=small_replay().match_id).SerializeToString(),
        lambda body: ReplayBody(ruleset=1).SerializeToString() + body,
        lambda body: body + UNKNOWN,
        lambda body: body + ReplayBody(heads=[SignedHead.FromString(UNKNOWN)]).SerializeToString(),
    ],
    ids=["twice", "out of order", "unknown", "unknown in a part"],
)
def test_a_body_is_written_in_one_way_only(change: Callable[[bytes], bytes]) -> None:
    """Two files of one match have the same bytes, and unread fields cannot hide data."""
    data, start = write(small_replay(), KEY), container._HEADER.size
    *around, length = container._HEADER.unpack(data[:start])
    body = change(data[start : start + length])
    with pytest.raises(NotAReplay, match="unknown or repeated fields, or fields out of order"):
        read(container._HEADER.pack(*around, len(body)) + body + data[start + length :])


def test_names_are_written_in_one_way_only() -> None:
    """Names are signed apart and cannot hide data either."""
    stored = write(replace(small_replay(), names=("Anna", "Tom")), KEY)
    names = ReplayNames(match_id=small_replay().match_id, names=["Anna", "Tom"]).SerializeToString()
    assert 1 == stored.count(names)
    size = struct.Struct(">I")
    start = stored.index(names)
    before, after = stored[: start - 64 - size.size], stored[start + len(names) :]
    spoilt = size.pack(64 + len(names + UNKNOWN)) + stored[start - 64 : start] + names + UNKNOWN
    with pytest.raises(NotAReplay, match="names are not those of this match"):
        read(before + spoilt + after)


def test_a_file_cut_at_any_length_or_extended_is_no_replay() -> None:
    """A partial copy must never look like a shorter match."""
    data = write(small_replay(), KEY)
    for length in range(len(data)):
        with pytest.raises(NotAReplay):
            read(data[:length])
    with pytest.raises(NotAReplay, match="extended"):
        read(data + b"\0")
