"""The replay file's bytes: what is written is read back, and what is no whole file is told apart."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.match.envelope import write_bytes
from rollbook.match.fairness import genesis
from rollbook.match.simulation import Simulation
from rollbook.rules.catalogue import find
from rollbook_replays.container import NotAReplay, Replay, read, without_names, write

KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))


def small_replay() -> Replay:
    """A sealed match of Allie Gator, with what its draws hide."""
    game = find("allie_gator", 1)
    played = Simulation(game, {}, 2, 7, 0)
    first = write_bytes(
        game,
        played.opened,
        sequence=1,
        time_ms=1,
        previous=genesis(played.opened.match_id),
        secret=played.secret,
    )
    log = [first]
    for sequence, event in played.events():
        log.append(write_bytes(game, event, sequence=sequence, time_ms=sequence, previous=log[-1].link))
    return Replay(
        match_id=played.opened.match_id,
        game=game.name,
        ruleset=game.version,
        perspective=None,
        events=tuple(logged.data for logged in log),
        beside={logged.sequence: logged.private for logged in log[1:] if logged.private},
        names=played.opened.names,
    )


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
