"""Files that readers once judged differently, because FORMAT.md left the case open."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from rollbook.match.events import (
    BY_OPERATOR,
    Chosen,
    Forfeited,
    Happened,
    Opened,
    Ready,
    Resumed,
    Sealed,
    SeatLeft,
    SeatTaken,
    Started,
    TimedOut,
)
from rollbook.match.fold import MOST_EVENTS
from rollbook.replay_file.container import LARGEST_NAMES, Replay, write
from rollbook.replay_file.kept_heads import WitnessedHead
from rollbook.rules.allie_gator.moves import Drawn
from rollbook.v1.replay_file_pb2 import ReplayNames
from tests.match.played import SECRET
from tests.replays.corpus.forged import match
from tests.replays.corpus.sample import (
    EXACT,
    UNREADABLE,
    UNVERIFIED,
    Sample,
    by_rules,
    diverged,
    of_replay,
    sample,
)
from tests.replays.forging import (
    SERVICE,
    STRANGER,
    Line,
    body_and_names,
    edit,
    file_of,
    first,
    footer_of,
    kept,
    lines,
    put_together,
    taken_apart,
)
from tests.replays.test_one_meaning import cut

BODY_AT: Final = 16
SIGNATURE_BYTES: Final = 64
SHORTEST: Final = 128


def edges() -> Iterator[Sample]:
    """Yield all samples of this module."""
    yield from _seats()
    yield from _pardons()
    yield from _ends()
    yield from _one_seat()
    yield from _names()
    yield from _versions()
    yield from _hidden()
    yield from _kept_heads()


def _seats() -> Iterator[Sample]:
    """Yield events with a seat that the match does not have, where the turn decides as well."""
    for seat in (-1, 3):
        spoilt = lines()
        index = edit(spoilt, first(spoilt, TimedOut), seat=seat)
        yield sample(f"time-out-of-seat-{seat}", put_together(spoilt, SERVICE), diverged("lifecycle", index + 1))
        spoilt = lines()
        index = first(spoilt, Happened, after=20)
        spoilt.insert(index, replace(spoilt[first(spoilt, Chosen)], time_ms=spoilt[index].time_ms, request=b""))
        edit(spoilt, index, seat=seat, charged_ms=0)
        said = diverged("lifecycle", index + 1)
        yield sample(f"choice-of-seat-{seat}-while-chance-is-awaited", put_together(spoilt, SERVICE), said)
        spoilt = lines()
        index = first(spoilt, Chosen, after=20)
        spoilt.insert(index, Line(Forfeited(seat), spoilt[index - 1].time_ms))
        yield sample(f"forfeit-of-seat-{seat}", put_together(spoilt, SERVICE), diverged("lifecycle", index + 1))


def _pardons() -> Iterator[Sample]:
    """Yield waits with several pardons, which together exceed the length of the wait."""
    pardoned = first(lines(), Resumed)
    whole = lines()[pardoned].event.not_charged_ms
    for name, parts in (("in-parts", (whole - 3_000, 3_000)), ("twice", (whole, whole)), ("by-nothing", (whole, 0))):
        spoilt = lines()
        spoilt[pardoned : pardoned + 1] = [replace(spoilt[pardoned], event=Resumed(part)) for part in parts]
        replay = put_together(spoilt, SERVICE)
        if sum(parts) == whole:
            yield sample(f"pardoned-{name}", replay, EXACT)
        else:
            yield sample(f"pardoned-{name}", replay, *by_rules("clocks", pardoned + 2))


def _ends() -> Iterator[Sample]:
    """Yield a seal with NOT_READY and no seat, and a seal with places of a match that never started."""
    for name, kind in (("before-the-start", Started), ("behind-the-start", Happened)):
        begun = lines()[: first(lines(), kind)]
        seal = Line(Sealed(None, "not_ready", SECRET), begun[-1].time_ms + 600_000)
        said = diverged("result", len(begun) + 1)
        yield sample(f"not-ready-with-all-ready-{name}", put_together([*begun, seal], SERVICE), said)
    yield sample("full-before-the-start", full(Sealed((1, 1, 1), None, SECRET)), *by_rules("result", MOST_EVENTS))


def full(*last: Any, begun: Sequence[Line] = ()) -> Replay:
    """Return a log of the largest length that ends with these events.

    A player takes and leaves a seat until then; `begun` starts the match first.
    """
    opened = Line(lines()[0].event, 0)
    between = MOST_EVENTS - len(last)
    log = list(begun) or [opened]
    while len(log) < between:
        log.append(replace(log[-1], event=_idle(log)))
    return put_together([*log, *(replace(log[-1], event=event) for event in last)], SERVICE)


def _idle(log: Sequence[Line]) -> Any:
    """Return an event that can be repeated because it changes little."""
    if len(log) > 1 and not isinstance(log[-1].event, SeatTaken | SeatLeft):
        return Resumed(0)
    return SeatLeft(0) if isinstance(log[-1].event, SeatTaken) else SeatTaken(0)


def _one_seat() -> Iterator[Sample]:
    """Yield a match of one seat, which no game has.

    A reader without rules accepts it, and for that reader it is over once it starts.
    """
    whole = taken_apart(match())
    opened: Opened = replace(whole[0].event, names=("",))
    begun = [
        replace(whole[0], event=opened),
        Line(SeatTaken(0), whole[0].time_ms),
        Line(Ready(0), whole[0].time_ms),
    ]
    started = [*begun, Line(Started(), whole[0].time_ms)]
    drawn = Line(whole[first(whole, Happened)].event, whole[0].time_ms)
    aborted = Line(Sealed(None, BY_OPERATOR, SECRET), whole[0].time_ms)
    logs = {
        "with-places": ([*started, Line(Sealed((1,), None, SECRET), whole[0].time_ms)], UNVERIFIED),
        "ended-before-the-start": ([*begun, aborted], UNVERIFIED),
        "ended-behind-the-start": ([*started, aborted], diverged("result", len(started) + 1)),
        "that-goes-on": ([*started, drawn, aborted], diverged("lifecycle", len(started) + 1)),
    }
    for name, (log, without) in logs.items():
        yield sample(f"one-seat-{name}", put_together(log, SERVICE), diverged("container", 1), without)


def _names() -> Iterator[Sample]:
    """Yield parts for the names that are too short for a signature, of the largest size, and larger."""
    whole = match()
    data = of_replay(whole)
    for length in (1, SIGNATURE_BYTES - 1, SIGNATURE_BYTES):
        yield sample(f"names-of-{length}-bytes", _with_names(data, bytes(length)), UNREADABLE)
    body, _ = body_and_names(whole)
    packed = body.SerializeToString(deterministic=True)
    for length, said in ((LARGEST_NAMES, EXACT), (LARGEST_NAMES + 1, UNREADABLE)):
        named = _names_of(whole.match_id, length - SIGNATURE_BYTES)
        yield sample(f"names-of-{length}-bytes", file_of(packed, footer_of(whole), named), said)


def _with_names(data: bytes, part: bytes) -> bytes:
    """Replace the names of a file by these bytes."""
    (size,) = struct.unpack_from(">I", data, 12)
    behind = BODY_AT + size
    return data[:behind] + struct.pack(">I", len(part)) + part + data[behind + 4 :]


def _names_of(match_id: str, length: int) -> bytes:
    """Return the message with names of three seats in this many bytes."""
    names = ReplayNames(match_id=match_id, names=["Anna", "", "x" * length])
    names.names[2] = "x" * (2 * length - names.ByteSize())
    data = names.SerializeToString(deterministic=True)
    assert len(data) == length
    return data


def _versions() -> Iterator[Sample]:
    """Yield unknown versions of the file format, and files that only resemble version 1."""
    data = of_replay(match())
    for version in (0, 3, 65_535):
        yield sample(f"version-{version}", _of_version(data, version), UNREADABLE)
    old = _of_version(data, 1)
    yield sample("version-1-and-nothing-else", old[:SHORTEST], UNVERIFIED)
    yield sample("version-1-cut", old[: SHORTEST - 1], UNREADABLE)
    yield sample("version-1-without-its-zero", old[:10] + b"\0\1" + old[12:], UNREADABLE)


def _of_version(data: bytes, version: int) -> bytes:
    return data[:8] + struct.pack(">H", version) + data[10:]


def _hidden() -> Iterator[Sample]:
    """Yield a hidden outcome without its message, and one with an empty message."""
    whole = match("allie_gator")
    number = first(taken_apart(whole), Happened, lambda event: isinstance(event.outcome, Drawn)) + 1
    for name, replay in (("sealed", whole), ("running", cut(whole, number + 5))):
        body, _ = body_and_names(replay)
        item = next(item for item in body.hidden if item.sequence == number)
        item.hidden.Clear()
        item.hidden.SetInParent()
        empty = file_of(body.SerializeToString(deterministic=True), footer_of(replay))
        yield sample(f"empty-hidden-outcome-{name}", empty, *by_rules("hidden", number))
        item.ClearField("hidden")
        absent = file_of(body.SerializeToString(deterministic=True), footer_of(replay))
        yield sample(f"no-hidden-outcome-{name}", absent, UNREADABLE)


def _kept_heads() -> Iterator[Sample]:
    """Yield heads signed by a known service, for a file whose keys are all unknown."""
    data = write(put_together(lines(), STRANGER), STRANGER.replays)
    other = match(seed=3)
    pairs = zip(match().events, other.events, strict=False)
    fork = next(number for number, (one, another) in enumerate(pairs, start=1) if one != another)
    beyond = kept(put_together([*lines()[:50], *lines()[49:]], SERVICE), len(match().events) + 1)
    heads: dict[str, tuple[WitnessedHead, Any]] = {
        "that-fits": (kept(match(), fork), UNVERIFIED),
        "of-another-log": (kept(other, fork), diverged("heads", fork)),
        "beyond-the-end": (beyond, diverged("heads", beyond.sequence)),
    }
    for name, (head, said) in heads.items():
        yield sample(f"nobodys-file-and-a-kept-head-{name}", data, said, heads=(head,))
