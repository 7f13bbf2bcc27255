"""Simulated matches as replays, and parts of them as a service would export them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rollbook.match.simulation import Simulation
from rollbook.replay_file.container import Replay
from rollbook.replay_file.key_lines import read_keys
from rollbook.replay_file.recording import Keys, record
from rollbook.rules.catalogue import find
from rollbook.rules.game import Perspective, Watcher
from rollbook.rules.options import OptionValue

SEED = 7
KEYS = Keys.of(SEED)
PUBLIC = read_keys(KEYS.public)


def recorded(
    game: str,
    seats: int,
    number: int = 0,
    options: dict[str, OptionValue] | None = None,
    names: Sequence[str] | None = None,
) -> Replay:
    """Return a sealed match with its hidden parts, heads and names."""
    rules = find(game, 1)
    replay = record(Simulation(rules, rules.settle(options or {}, seats), seats, SEED, number), KEYS.heads)
    return replay if names is None else replace(replay, names=tuple(names))


def cut(replay: Replay, events: int, perspective: Perspective) -> Replay:
    """Return the running match in this perspective: a judge gets the hidden parts, other viewers get none."""
    private = {sequence: hidden for sequence, hidden in replay.private.items() if sequence <= events}
    return replace(
        replay,
        perspective=perspective,
        events=replay.events[:events],
        private=private if perspective is Watcher.JUDGE else {},
        heads=(),
    )
