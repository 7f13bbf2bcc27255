"""A small tournament: three matches of Can't Stop, its manifest, and correct and wrong bundles."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.replay_file.container import Replay, write
from rollbook.replay_file.key_lines import KeyRole, KnownKey
from rollbook_replays.audit.audit import audit
from rollbook_replays.tournament.bundle import open_bundle, write_bundle
from rollbook_replays.tournament.judgement import Judgement, amount, judge
from tests.replays.replaying import KEYS, PUBLIC, recorded

ORGANISER: Final = Ed25519PrivateKey.from_private_bytes(bytes([9]) * 32)
OF_ORGANISER: Final = KnownKey(ORGANISER.public_key(), KeyRole.BUNDLE, "Cup committee")
KEYS_OF_JUDGE: Final = {**PUBLIC, OF_ORGANISER.key_id: OF_ORGANISER}
PLAYERS: Final = ("Anna", "Tom", "Willi")
NUMBERS: Final = (0, 3, 4)
IDS: Final = {number: f"cant_stop-7-{number}" for number in NUMBERS}
PLACES: Final = {0: (2, 3, 1), 3: (3, 2, 1), 4: (2, 1, 2)}
"""The places of Anna, Tom and Willi by match."""

STANDINGS: Final = {"Willi": (1, "6.5"), "Tom": (2, "4"), "Anna": (3, "1.5")}
"""By hand: 3 points for a first and 1 for a second place; in match 4 two share the second, half a point each."""

SMALL_STANDINGS: Final = {"Anna": (1, "4"), "Tom": (1, "4")}

Pairings: TypeAlias = Sequence[tuple[str, Sequence[str]]]
EVERYBODY: Final[Pairings] = tuple((IDS[number], PLAYERS) for number in NUMBERS)


def match(number: int, seats: int = 3) -> Replay:
    """Return one of its matches."""
    return recorded("cant_stop", seats, number)


def replays(*numbers: int) -> dict[str, bytes]:
    """Return the files of these matches, by match id."""
    return {IDS[number]: write(match(number), KEYS.replays) for number in numbers}


def manifest(
    pairings: Pairings = EVERYBODY,
    standings: Mapping[str, tuple[int, str]] = STANDINGS,
    **changed: Any,
) -> str:
    """Return the manifest; `changed` replaces values of the first table."""
    table = {
        "title": '"Cup"',
        "game": '"cant_stop"',
        "ruleset": "1",
        "begins": "2026-01-01T00:00:00Z",
        "ends": "2026-01-02T00:00:00Z",
        "players": _list(PLAYERS),
        "points": "[3, 1]",
        "shared_places": '"split"',
        **changed,
    }
    played = ", ".join(f'{{ match = "{match_id}", players = {_list(players)} }}' for match_id, players in pairings)
    return "\n".join(
        [
            *(f"{key} = {value}" for key, value in table.items() if value),
            f'[[rounds]]\nname = "Final"\npairings = [{played}]',
            *(
                f'[[standings]]\nplayer = "{player}"\nplace = {place}\npoints = {points}'
                for player, (place, points) in standings.items()
            ),
        ]
    )


def _list(words: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{word}"' for word in words) + "]"


def small_cup() -> tuple[str, dict[str, bytes]]:
    """Return manifest and files of another tournament: two of the shortest matches."""
    played = {replay.match_id: replay for replay in (recorded("wuerfelzoo", 2, number) for number in (0, 3))}
    players = PLAYERS[:2]
    described = manifest(
        [(match_id, players) for match_id in played],
        SMALL_STANDINGS,
        game='"wuerfelzoo"',
        players=_list(players),
        ends="2026-01-03T00:00:00Z",
    )
    return described, {match_id: write(replay, KEYS.replays) for match_id, replay in played.items()}


def bundled(described: str, matches: Mapping[str, bytes], key: Ed25519PrivateKey = ORGANISER) -> bytes:
    """Return a bundle without any checks, as a forger with our code can make it."""
    file = io.BytesIO()
    write_bundle(file, described.encode(), {match_id: partial(bytes, data) for match_id, data in matches.items()}, key)
    return file.getvalue()


def judged(data: bytes, folder: Path) -> Judgement:
    """Return the judgement of a judge with all keys."""
    file = folder / "cup.zip"
    file.write_bytes(data)
    bundle = open_bundle(file)
    return judge(bundle, [audit(source.read(), KEYS_OF_JUDGE) for source in bundle.sources], KEYS_OF_JUDGE)


def table(judgement: Judgement) -> dict[str, tuple[int, str]]:
    """Return the standings in the form of the manifest."""
    return {standing.player: (standing.place, amount(standing.points)) for standing in judgement.standings}
