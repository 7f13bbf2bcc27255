"""Takes logs apart, changes them and builds them again, as a forger with our code and perhaps our keys would."""

from __future__ import annotations

import hashlib
import random
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from rollbook.match.chain import genesis, link, sign_head
from rollbook.match.codec.envelope import read_bytes, write_bytes
from rollbook.match.commands import Origin, Pardon, Resign, TakeSeat, TimeOut
from rollbook.match.decide import Decision, decide
from rollbook.match.events import Opened, Ready, SeatTaken, Terms
from rollbook.replay_file.container import MAGIC, VERSION, Head, Replay, write
from rollbook.replay_file.kept_heads import WitnessedHead
from rollbook.replay_file.key_lines import key_id, read_keys
from rollbook.replay_file.recording import Keys
from rollbook.rules.catalogue import find
from rollbook.v1.replay_file_pb2 import ReplayBody, ReplayNames
from rollbook_replays.audit.audit import audit
from rollbook_replays.audit.verdicts import Audited
from tests.match.played import SECRET, Played

SERVICE = Keys.of(1)
"""The keys that the judge trusts."""
STRANGER = Keys.of(2)
PUBLIC = read_keys(SERVICE.public)
ENTROPY = bytes(range(20))
EXPIRING = Terms(open_seconds=60, idle_seconds=3_600)


@dataclass(frozen=True)
class Line:
    """An event of a log without its link."""

    event: Any
    time_ms: int
    request: bytes = b""


def eventful(
    game: str = "cant_stop", seats: int = 3, *, secret: bytes = SECRET, seed: int = 1, brief: bool = False
) -> Played:
    """A match with entropy and a clock in which seats time out, resign, and the service is away.

    It is played to its end, or with `brief` until a second seat resigns, which gives a third of the events.
    """
    rng = random.Random(seed)
    played = Played(game, seats, entropy=ENTROPY, secret=secret).start()
    for turn in range(40):
        if turn == 4:
            played.append(decide(played.ledger, _missed(played, after_ms=9_000, missed_ms=8_000)))
        if turn in {6, 20}:
            runs_out_ms = played.ledger.clock.runs_out_ms()
            assert runs_out_ms is not None
            played.now_ms = runs_out_ms + 100
            played.append(decide(played.ledger, TimeOut(Origin(played.now_ms))))
        played.append(play(played, rng))
    played.append(decide(played.ledger, Resign(played.by("p2"))))
    if brief:
        played.append(play(played, rng))
        played.append(decide(played.ledger, Resign(played.by("p1"))))
    while played.ledger.match.sealed is None:
        played.append(play(played, rng))
    return played


def with_a_free_seat() -> Played:
    """A match that waits for its last seat, or expires."""
    played = Played(terms=EXPIRING)
    played.append(decide(played.ledger, TakeSeat(played.by("p0"))))
    return played


def under_way(terms: Terms = EXPIRING) -> Played:
    """A match after five choices."""
    played = Played(terms=terms).start()
    for _ in range(5):
        played.append(played.choose())
    return played


def _missed(played: Played, *, after_ms: int, missed_ms: int) -> Pardon:
    """Pardon the last part of a wait of this length."""
    origin = played.by(after_ms=after_ms)
    return Pardon(origin, origin.now_ms - missed_ms)


def play(played: Played, rng: random.Random) -> Decision:
    """Make a random legal choice for the awaited seat."""
    match = played.ledger.match
    return played.choose(match.game.legal(match.state).sample(rng.randrange), after_ms=rng.randrange(500, 4_000))


def replay_of(played: Played, keys: Keys = SERVICE) -> Replay:
    """Return the match as the archive would store it."""
    lines = [Line(logged.event, logged.time_ms, logged.request) for logged in played.log]
    replay = put_together(lines, keys)
    assert [logged.data for logged in played.log] == list(replay.events)
    return replay


def taken_apart(replay: Replay) -> list[Line]:
    """Return every event with its time and request."""
    first = read_bytes(replay.events[0], match_id=replay.match_id)
    lines = [Line(first.event, first.time_ms, first.request)]
    for number, data in enumerate(replay.events[1:], start=2):
        logged = read_bytes(data, replay.private.get(number, b""), find(replay.game, replay.ruleset))
        lines.append(Line(logged.event, logged.time_ms, logged.request))
    return lines


def put_together(lines: Sequence[Line], keys: Keys, *, heads: tuple[Head, ...] | None = None) -> Replay:
    """Build a log with a valid chain, matching closing links and a head."""
    opened = lines[0].event
    assert isinstance(opened, Opened)
    game = find(opened.game, opened.ruleset)
    datas: list[bytes] = []
    private = {}
    closings: list[bytes] = []
    for number, line in enumerate(lines, start=1):
        event = line.event
        if isinstance(event, Ready) and event.closing_link not in closings:
            event = replace(event, closing_link=closings[-1])
        previous = link(datas[-1]) if datas else genesis(opened.match_id)
        logged = write_bytes(
            game, event, sequence=number, time_ms=line.time_ms, previous=previous, request=line.request
        )
        datas.append(logged.data)
        if logged.private and number > 1:
            private[number] = logged.private
        if isinstance(event, SeatTaken):
            closings.append(logged.link)
    return Replay(
        opened.match_id,
        game.name,
        game.version,
        None,
        tuple(datas),
        private,
        (head_of(opened.match_id, datas, len(datas), keys),) if heads is None else heads,
    )


@cache
def match(game: str = "cant_stop", seed: int = 1) -> Replay:
    """Return a short eventful match."""
    return replay_of(eventful(game, seed=seed, brief=True))


def lines(game: str = "cant_stop") -> list[Line]:
    """Return its events, to be changed."""
    return taken_apart(match(game))


def edit(found: list[Line], index: int, **changes: Any) -> int:
    """Change one event in place; returns its index."""
    found[index] = replace(found[index], event=replace(found[index].event, **changes))
    return index


def relinked(replay: Replay, index: int, data: bytes) -> Replay:
    """Replace the bytes of one event, link all later events again, and sign a new head."""
    links: dict[bytes, bytes] = {}
    datas = []
    for number, original in enumerate(replay.events):
        fresh = data if number == index else original
        for old, new in links.items():
            fresh = fresh.replace(old, new)
        if fresh != original:
            links[link(original)] = link(fresh)
        datas.append(fresh)
    head = head_of(replay.match_id, datas, len(datas), SERVICE)
    return replace(replay, events=tuple(datas), heads=(head,))


def file_of(body: bytes, footer: tuple[int, bytes], names: bytes = b"", keys: Keys = SERVICE) -> bytes:
    """Return a signed file with this body and these names, whose footer has this count and this last link."""
    header = struct.pack(">8sHHI", MAGIC, VERSION, 0, len(body))
    counted = struct.pack(">I32s", *footer) + bytes.fromhex(key_id(keys.replays.public_key()))
    named = keys.replays.sign(b"rollbook/1/names" + names) + names if names else b""
    signature = keys.replays.sign(b"rollbook/1/file" + hashlib.sha256(header + body + counted).digest())
    return header + body + struct.pack(">I", len(named)) + named + counted + signature


def body_and_names(replay: Replay) -> tuple[ReplayBody, ReplayNames]:
    """Return the messages of the match's file, to be changed."""
    data = write(replay, SERVICE.replays)
    (length,) = struct.unpack_from(">I", data, 12)
    body = ReplayBody.FromString(data[16 : 16 + length])
    return body, ReplayNames(match_id=replay.match_id, names=replay.names)


def footer_of(replay: Replay) -> tuple[int, bytes]:
    """Return the correct count and last link."""
    return len(replay.events), link(replay.events[-1])


def head_of(match_id: str, datas: Sequence[bytes], number: int, keys: Keys) -> Head:
    """Return a signed head of this event."""
    last = link(datas[number - 1])
    signature = sign_head(keys.heads, match_id, number, last)
    return Head(number, last, key_id(keys.heads.public_key()), signature)


def kept(replay: Replay, number: int) -> WitnessedHead:
    """Return the head of this event, as a spectator kept it."""
    head = head_of(replay.match_id, replay.events, number, SERVICE)
    return WitnessedHead(replay.match_id, head.sequence, head.link, head.key_id, head.signature)


def judged(replay: Replay, keys: Keys, heads: Sequence[WitnessedHead] = ()) -> Audited:
    """Write the file with these keys, and return the verdict of a judge who trusts the service's keys."""
    return audit(write(replay, keys.replays), PUBLIC, heads)


def first(lines: Sequence[Line], kind: type[Any], fits: Callable[[Any], bool] = lambda _: True, after: int = 0) -> int:
    """Return the index of the first matching event after the first `after` events."""
    return next(
        index for index, line in enumerate(lines) if index > after and isinstance(line.event, kind) and fits(line.event)
    )
