"""The replay file's bytes: what is written is read back, and what is no whole file is told apart."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.match.simulation import Simulation
from rollbook.replay_file.container import NotAReplay, Replay, read, without_names, write
from rollbook.replay_file.recording import record
from rollbook.rules.catalogue import find

KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))


def small_replay() -> Replay:
    """A sealed match of Allie Gator, with what its draws hide."""
    return record(Simulation(find("allie_gator", 1), {}, 2, 7, 0), KEY)


def test_a_replay_is_read_as_it_was_written() -> None:
    """Events stand in the file byte for byte, and both signatures hold."""
    replay = small_replay()
    stored = read(write(replay, KEY))
    assert replay == stored.replay
    assert len(replay.events) == stored.count
    assert stored.file.holds(KEY.public_key())
    assert stored.names is not None
    assert stored.names.holds(KEY.public_key())


def test_names_can_be_removed_without_breaking_the_file() -> None:
    """Somebody who wants to be forgotten takes nothing of the match along."""
    stored = read(without_names(write(small_replay(), KEY)))
    assert () == stored.replay.names
    assert stored.names is None
    assert stored.file.holds(KEY.public_key())


def test_a_file_cut_at_any_length_or_extended_is_no_replay() -> None:
    """A copy that stopped half-way must never look like a shorter match."""
    data = write(small_replay(), KEY)
    for length in range(len(data)):
        with pytest.raises(NotAReplay):
            read(data[:length])
    with pytest.raises(NotAReplay, match="extended"):
        read(data + b"\0")
