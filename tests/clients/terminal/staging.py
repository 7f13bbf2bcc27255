"""Matches for screens: simulated replays, and the messages that a service would send for them."""

from __future__ import annotations

from collections.abc import Mapping

from rollbook.match.chain import genesis
from rollbook.match.codec.envelope import write_bytes
from rollbook.match.simulation import Simulation
from rollbook.replay_file.container import Replay
from rollbook.rules.catalogue import find
from rollbook.rules.options import OptionValue


def simulated(
    name: str, seats: int | None = None, options: Mapping[str, OptionValue] | None = None, seed: int = 7
) -> Replay:
    """A whole simulated match between bots, sealed, with its hidden outcomes."""
    game = find(name)
    played = Simulation(game, dict(options or {}), seats or game.seats[0], seed, 0)
    first = write_bytes(
        game,
        played.opened,
        sequence=1,
        time_ms=1_000,
        previous=genesis(played.opened.match_id),
        secret=played.secret,
    )
    log = [first]
    for sequence, event in played.events():
        log.append(write_bytes(game, event, sequence=sequence, time_ms=sequence * 1_000, previous=log[-1].link))
    return Replay(
        match_id=played.opened.match_id,
        game=game.name,
        ruleset=game.version,
        perspective=None,
        events=tuple(logged.data for logged in log),
        private={logged.sequence: logged.private for logged in log[1:] if logged.private},
        names=played.opened.names,
    )
