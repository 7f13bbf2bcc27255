"""The state machine of a feed, cell by cell: a real feed is brought into the state, and receives the input."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import pytest

from rollbook.match.ledger import Ledger
from rollbook.rules.game import Perspective, Watcher
from rollbook.server.feeds import feed as feeds
from rollbook.server.feeds.channel import FELL_BEHIND
from rollbook.server.feeds.watch_table import TABLE, WatchAction, WatchInput, WatchState
from rollbook.server.out.frames import (
    CaughtUpFrame,
    EndedFrame,
    EventsFrame,
    FellBehindFrame,
    Frame,
    HeartbeatFrame,
    RevealedFrame,
)
from rollbook.v1.feed_pb2 import (
    END_REASON_DRAINING,
    END_REASON_MATCH_OVER,
    END_REASON_PERSPECTIVE_CHANGED,
    END_REASON_TOKEN_EXPIRED,
)
from tests.match.played import Played
from tests.server.feeds.test_feeds import Stage, frames_until, run

CATCHING_UP, FOLLOWING, ENDED = WatchState
ENDS: Final = {
    WatchInput.DRAINING: END_REASON_DRAINING,
    WatchInput.EXPIRED: END_REASON_TOKEN_EXPIRED,
    WatchInput.PERSPECTIVE_CHANGED: END_REASON_PERSPECTIVE_CHANGED,
    WatchInput.SEALED: END_REASON_MATCH_OVER,
}

EXPECTED: Final[dict[tuple[WatchState, WatchInput], tuple[list[type[Any]], WatchState]]] = {
    (CATCHING_UP, WatchInput.DRAINING): ([EndedFrame], ENDED),
    (CATCHING_UP, WatchInput.EXPIRED): ([EndedFrame], ENDED),
    (CATCHING_UP, WatchInput.PERSPECTIVE_CHANGED): ([EndedFrame], ENDED),
    (CATCHING_UP, WatchInput.FAR_BEHIND): ([EventsFrame], CATCHING_UP),
    (CATCHING_UP, WatchInput.BEHIND): ([EventsFrame], CATCHING_UP),
    (CATCHING_UP, WatchInput.SEALED): ([CaughtUpFrame], FOLLOWING),
    (CATCHING_UP, WatchInput.IDLE): ([CaughtUpFrame], FOLLOWING),
    (FOLLOWING, WatchInput.DRAINING): ([EndedFrame], ENDED),
    (FOLLOWING, WatchInput.EXPIRED): ([EndedFrame], ENDED),
    (FOLLOWING, WatchInput.PERSPECTIVE_CHANGED): ([EndedFrame], ENDED),
    (FOLLOWING, WatchInput.FAR_BEHIND): ([FellBehindFrame], CATCHING_UP),
    (FOLLOWING, WatchInput.BEHIND): ([EventsFrame], FOLLOWING),
    (FOLLOWING, WatchInput.SEALED): ([RevealedFrame, EndedFrame], ENDED),
    (FOLLOWING, WatchInput.SILENT): ([HeartbeatFrame], FOLLOWING),
    (FOLLOWING, WatchInput.IDLE): ([], FOLLOWING),
}
"""For each cell, the frames that the watcher receives, and the next state."""


NOTICED_AFTER_SILENCE: Final = {WatchInput.EXPIRED, WatchInput.PERSPECTIVE_CHANGED, WatchInput.SILENT}
"""Inputs that do not wake a waiting watcher."""


class RecordingTable(dict[tuple[WatchState, WatchInput], tuple[WatchAction, WatchState]]):
    """The table, with the cells that were looked up in `used`."""

    def __init__(self) -> None:
        super().__init__(TABLE)
        self.used: list[tuple[WatchState, WatchInput]] = []

    def __getitem__(self, cell: tuple[WatchState, WatchInput]) -> tuple[WatchAction, WatchState]:
        """The action and the next state of a cell."""
        self.used.append(cell)
        return super().__getitem__(cell)


class Watching:
    """A feed in a state, whose token and perspective the test changes."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.is_expired = False
        self.perspective: Perspective = Watcher.PUBLIC

    def perspective_of(self, _ledger: Ledger) -> Perspective:
        """The watcher's perspective."""
        return self.perspective

    async def begin(self, state: WatchState, given: WatchInput) -> Any:
        """Play a match up to the moment before the input, and start a feed that is in the state."""
        await prepare_match(self.stage, state, given)
        late = state is CATCHING_UP and given in {WatchInput.FAR_BEHIND, WatchInput.BEHIND}
        position = self.stage.position(0 if late else len(self.stage.played.log))
        feed = self.stage.watch(position, self.perspective_of, expired=lambda: self.is_expired)
        await anext(feed)
        if state is FOLLOWING:
            await frames_until(feed, CaughtUpFrame)
        return feed

    async def give(self, state: WatchState, given: WatchInput) -> None:
        """Make the input happen; one that `begin` has prepared already is there."""
        if given is WatchInput.DRAINING:
            self.stage.feeds.drain()
        self.is_expired = given is WatchInput.EXPIRED
        if given is WatchInput.PERSPECTIVE_CHANGED:
            self.perspective = 0
        if state is FOLLOWING and given in {WatchInput.FAR_BEHIND, WatchInput.BEHIND}:
            await choose_until(self.stage, len(self.stage.played.log) + (FELL_BEHIND if is_far(given) else 1))
            await frames_until(self.stage.watch(), CaughtUpFrame)


def is_far(given: WatchInput) -> bool:
    """Whether the watcher is so far behind that it has to catch up again."""
    return given is WatchInput.FAR_BEHIND


async def prepare_match(stage: Stage, state: WatchState, given: WatchInput) -> None:
    """Play as far as the cell needs; perspectives change only while seats are open."""
    if given is WatchInput.PERSPECTIVE_CHANGED:
        stage.played = Played()
        await stage.store()
        return
    await stage.start()
    if given is WatchInput.SEALED:
        await stage.play_out()
    elif state is CATCHING_UP and is_far(given):
        await choose_until(stage, FELL_BEHIND)


async def choose_until(stage: Stage, events: int) -> None:
    """Play until the log has this many events."""
    while len(stage.played.log) < events:
        await stage.choose()


def test_every_cell_of_the_table_is_expected_here() -> None:
    """A cell that is added to the table needs a line in EXPECTED, which makes it a test."""
    assert EXPECTED.keys() == TABLE.keys()


@pytest.mark.parametrize(("state", "given"), EXPECTED, ids=lambda value: value.name.lower())
def test_a_feed_in_this_state_answers_this_input(
    state: WatchState, given: WatchInput, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The watcher receives exactly the frames of the cell, and the next cell begins with the next state."""
    table = RecordingTable()
    monkeypatch.setattr(feeds, "TABLE", table)
    monkeypatch.setattr(feeds, "BEAT_SECONDS", 0.01 if given in NOTICED_AFTER_SILENCE else 3_600)
    kinds, following = EXPECTED[state, given]

    async def scenario() -> None:
        stage = Stage("raffzahn", 3)
        watching = Watching(stage)
        feed = await watching.begin(state, given)
        await watching.give(state, given)
        table.used.clear()
        if kinds:
            frames: list[Frame] = [await anext(feed) for _ in kinds]
        else:
            frames = []
            rest = asyncio.create_task(frames_until(feed, EndedFrame))
            while not table.used:
                stage.feeds.wake()
                await asyncio.sleep(0)
        assert (state, given) == table.used[0]
        assert kinds == [type(frame) for frame in frames]
        if following is ENDED:
            assert EndedFrame(ENDS[given], stage.played.ledger.head) == frames[-1]
            assert [] == [frame async for frame in feed]
            return
        table.used.clear()
        stage.feeds.drain()
        assert [EndedFrame] == [type(frame) for frame in (await rest if not kinds else [frame async for frame in feed])]
        assert (following, WatchInput.DRAINING) == table.used[-1]
        await stage.feeds.close()

    run(scenario)
