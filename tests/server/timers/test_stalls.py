"""If store or process stall for 8 seconds at any moment of a sweep, no player loses time."""

from __future__ import annotations

from typing import Any

import pytest

from rollbook.match.clock import LONGEST_GAP_MS
from rollbook.match.events import Resumed, TimedOut
from tests.server.timers.sweeping import Replicas, run
from tests.storage.memory import MemoryLog

STALL_MS = 8_000
TURN_MS = 30_000
BEAT_MS = 1_000


def stall_once(replicas: Replicas, call: str, when: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let the next call of this kind take 8 s, before the store acts or before its answer arrives."""
    sound: Any = getattr(replicas.log, call)
    stalled: list[str] = []

    async def stall(*arguments: Any, **terms: Any) -> Any:
        is_first = not stalled
        if is_first:
            stalled.append(call)
        if is_first and when == "before":
            replicas.now_ms += STALL_MS
        answer = await sound(*arguments, **terms)
        if is_first and when == "after":
            replicas.now_ms += STALL_MS
        return answer

    monkeypatch.setattr(replicas.log, call, stall)
    return stalled


async def play_on(replicas: Replicas, ms: int) -> None:
    """Let this time pass, with a beat of the first replica every second."""
    for _ in range(ms // BEAT_MS):
        await replicas.beat(0)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("call", ["now_ms", "last_beat", "beat", "lease", "counts", "due", "has_index"])
def test_a_stall_of_the_store_is_charged_to_no_player(call: str, when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep measures the gap up to the time that it then writes, so no moment is missed between sweeps."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(ready=2)
        began_ms = replicas.now_ms
        await play_on(replicas, 5_000)
        stalled = stall_once(replicas, call, when, monkeypatch)
        # Matches are counted every five seconds, so the call has been made by then.
        await play_on(replicas, 6_000)
        assert [call] == stalled
        runs_out_ms = (await replicas.ledger()).clock.runs_out_ms()
        assert runs_out_ms is not None
        pardoned_ms = runs_out_ms - began_ms - TURN_MS
        assert STALL_MS <= pardoned_ms <= STALL_MS + 2 * BEAT_MS
        assert 1 == len(await replicas.events(Resumed))
        await play_on(replicas, runs_out_ms - replicas.now_ms - BEAT_MS)
        assert [] == await replicas.events(TimedOut)
        await play_on(replicas, 2 * BEAT_MS)
        assert 1 == len(await replicas.events(TimedOut))

    run(scenario)


@pytest.mark.parametrize("call", ["summaries", "read", "put_off"])
def test_a_stall_while_matches_are_looked_at_ends_no_turn(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that takes over reads each match; meanwhile the turn would have run out."""

    async def scenario() -> None:
        replicas = Replicas()
        await replicas.open(ready=2)
        began_ms = replicas.now_ms
        await play_on(replicas, TURN_MS - 3 * BEAT_MS)
        replicas.sweepers[0] = replicas.service().sweeper()
        stalled = stall_once(replicas, call, "before", monkeypatch)
        await play_on(replicas, 3 * BEAT_MS)
        assert [call] == stalled
        assert [] == await replicas.events(TimedOut)
        await play_on(replicas, BEAT_MS)
        runs_out_ms = (await replicas.ledger()).clock.runs_out_ms()
        assert runs_out_ms is not None
        assert runs_out_ms - began_ms - TURN_MS >= STALL_MS

    run(scenario)


def test_a_stall_while_downtime_is_pardoned_is_pardoned_in_the_next_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    """The match credited before the stall gets the additional time as well."""

    async def scenario() -> None:
        replicas = Replicas()
        matches = await replicas.open_eight()
        await play_on(replicas, 5_000)
        replicas.now_ms += 60_000
        stalled = stall_once(replicas, "append", "after", monkeypatch)
        await play_on(replicas, 5_000)
        assert ["append"] == stalled
        for match_id in matches:
            clock = (await replicas.services[0].replicas.ledger(match_id)).clock
            assert 60_000 + STALL_MS <= clock.not_charged_ms <= 60_000 + STALL_MS + 3 * BEAT_MS

    run(scenario)


def test_downtime_that_takes_long_to_pardon_is_pardoned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Players' clocks run during the crediting, however many matches there are."""

    async def scenario() -> None:
        replicas = Replicas()
        matches = await replicas.open_eight()
        await play_on(replicas, 5_000)
        replicas.now_ms += 60_000
        sound = MemoryLog.append

        async def slow(*arguments: Any, **terms: Any) -> Any:
            replicas.now_ms += 2_000
            return await sound(replicas.log, *arguments, **terms)

        monkeypatch.setattr(replicas.log, "append", slow)
        assert 2_000 * len(matches) > LONGEST_GAP_MS
        await play_on(replicas, 10_000)
        for match_id in matches:
            assert 1 == len(await replicas.events(Resumed, match_id))

    run(scenario)
