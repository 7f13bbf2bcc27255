"""Replays to try things on: simulated matches, written as a service would write them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.match.envelope import Logged, write_bytes
from rollbook.match.events import SeatTaken
from rollbook.match.fairness import genesis
from rollbook.match.heads import sign_head
from rollbook.match.simulation import Simulation
from rollbook.rules.catalogue import find
from rollbook.rules.game import Perspective, Watcher
from rollbook.rules.options import OptionValue
from rollbook_replays.container import Head, Replay

KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))
"""Signs the files."""
HEAD_KEY = Ed25519PrivateKey.from_private_bytes(bytes([1]) * 32)
"""Signs the heads."""
HEAD_KEY_ID = "ab" * 8
START_MS = 1_750_000_000_000


def logged(played: Simulation) -> list[Logged]:
    """The log of a simulated match, a second between one event and the next."""
    game = played.match.game
    log = [
        write_bytes(
            game,
            played.opened,
            sequence=1,
            time_ms=START_MS,
            previous=genesis(played.opened.match_id),
            secret=played.secret,
        )
    ]
    for sequence, event in played.events():
        seated = replace(event, player=bytes([event.seat]) * 16) if isinstance(event, SeatTaken) else event
        time_ms = START_MS + sequence * 1000
        log.append(write_bytes(game, seated, sequence=sequence, time_ms=time_ms, previous=log[-1].link))
    return log


def recorded(  # noqa: PLR0917 - what a match is
    game: str,
    seats: int,
    seed: int = 7,
    number: int = 0,
    options: dict[str, OptionValue] | None = None,
    names: Sequence[str] | None = None,
) -> Replay:
    """A sealed match with all that it hid, its heads and its names."""
    rules = find(game, 1)
    played = Simulation(rules, rules.settle(options or {}, seats), seats, seed, number)
    log = logged(played)
    last = log[-1]
    signature = sign_head(HEAD_KEY, played.opened.match_id, last.sequence, last.link)
    return Replay(
        match_id=played.opened.match_id,
        game=game,
        ruleset=1,
        perspective=None,
        events=tuple(entry.data for entry in log),
        beside={entry.sequence: entry.private for entry in log[1:] if entry.private},
        heads=(Head(last.sequence, last.link, HEAD_KEY_ID, signature),),
        names=played.opened.names if names is None else tuple(names),
    )


def cut(replay: Replay, events: int, perspective: Perspective) -> Replay:
    """The match while it was running, as exported for these eyes: the public gets nothing that was hidden."""
    beside = {sequence: hidden for sequence, hidden in replay.beside.items() if sequence <= events}
    return replace(
        replay,
        perspective=perspective,
        events=replay.events[:events],
        beside=beside if perspective is Watcher.JUDGE else {},
        heads=(),
    )
