"""The promises of feeds: ordered, unique, gapless, resumable anywhere, and slow watchers delay no other."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from rollbook.match.chain import Entry, Position, genesis, link
from rollbook.match.commands import Declined, Origin, Resign, TakeSeat, Why
from rollbook.match.decide import decide
from rollbook.match.events import Terms
from rollbook.match.ledger import Ledger
from rollbook.rules.game import Perspective, Watcher
from rollbook.server.failures import MatchUnknown, TailLost
from rollbook.server.feeds.channel import FELL_BEHIND, Channel
from rollbook.server.feeds.feed import Feeds
from rollbook.server.out.frames import (
    CaughtUpFrame,
    ConfirmedFrame,
    EndedFrame,
    EventsFrame,
    FellBehindFrame,
    Frame,
    RevealedFrame,
)
from rollbook.server.out.projection import perspective_of
from rollbook.v1.feed_pb2 import (
    END_REASON_DRAINING,
    END_REASON_MATCH_OVER,
    END_REASON_PERSPECTIVE_CHANGED,
    END_REASON_TOKEN_EXPIRED,
)
from tests.match.played import OPENED_MS, Played
from tests.server.replica.keeping import Process
from tests.storage.memory import MemoryLog

START = Position(0, genesis("m"))


class Stage:
    """A match played into a log, and the feeds that follow it."""

    def __init__(self, game: str = "cant_stop", seats: int = 2, terms: Terms | None = None) -> None:
        """Open the match and seat the players."""
        self.now_ms = OPENED_MS
        self.log = MemoryLog()
        self.process = Process(self.log)
        self.feeds = Feeds(self.log, self.process.replicas, lambda: self.now_ms)
        self.played = Played(game, seats, terms or Terms()).sit()
        self.stored = 0
        self.rng = random.Random(4)

    async def store(self) -> None:
        """Append the new events to the log."""
        new = self.played.log[self.stored :]
        self.now_ms = max(self.now_ms, self.played.now_ms)
        await self.log.append("m", self.stored, [Entry(logged.data, logged.private) for logged in new])
        self.stored = len(self.played.log)

    async def start(self) -> None:
        """Make all players ready."""
        for seat in range(len(self.played.ledger.players)):
            self.played.append(self.played.ready(seat))
        await self.store()

    async def choose(self, times: int = 1) -> None:
        """Make random choices, each stored before the next."""
        for _ in range(times):
            if self.played.ledger.match.sealed is None:
                ledger = self.played.ledger
                self.played.append(self.played.choose(ledger.game.legal(ledger.match.state).sample(self.rng.randrange)))
                await self.store()

    async def play_out(self) -> None:
        """Play to the end."""
        while self.played.ledger.match.sealed is None:
            await self.choose()

    def position(self, sequence: int) -> Position:
        """The position of this sequence in the log."""
        return Position(sequence, self.played.log[sequence - 1].link if sequence else genesis("m"))

    def watch(
        self,
        position: Position | None = None,
        perspective_of: Callable[[Ledger], Perspective] = lambda _: Watcher.PUBLIC,
        **how: Any,
    ) -> AsyncIterator[Frame]:
        """A feed of the match."""
        return self.feeds.watch("m", position, perspective_of, **how)


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    """Run a scenario for at most a minute."""

    async def bounded() -> None:
        async with asyncio.timeout(60):
            await scenario()

    asyncio.run(bounded())


async def frames_until(feed: AsyncIterator[Frame], last: type[Any]) -> list[Frame]:
    """Frames up to the first of this kind."""
    frames = []
    async for frame in feed:
        frames.append(frame)
        if isinstance(frame, last):
            break
    return frames


def told(frames: list[Frame]) -> list[bytes]:
    """The bytes of all events in the frames."""
    return [event.logged.data for frame in frames if isinstance(frame, EventsFrame) for event in frame.events]


def assert_one_chain(stage: Stage, after: int, events: list[bytes]) -> None:
    """The events are ordered, unique and gapless: each carries the link of its predecessor."""
    assert [logged.data for logged in stage.played.log[after:]] == events
    at = stage.position(after).link
    for logged, data in zip(stage.played.log[after:], events, strict=True):
        assert at == logged.previous
        at = link(data)


def test_a_feed_is_ordered_unique_and_gapless_from_the_first_event_to_the_seal() -> None:
    """For a watcher that came before the first choice and reads during the match."""

    async def scenario() -> None:
        stage = Stage()
        await stage.store()
        watching = asyncio.create_task(frames_until(stage.watch(), EndedFrame))
        await stage.start()
        while stage.played.ledger.match.sealed is None:
            await stage.choose()
            await asyncio.sleep(0)
        frames = await watching
        assert_one_chain(stage, 0, told(frames))
        assert isinstance(frames[0], ConfirmedFrame)
        assert isinstance(frames[-2], RevealedFrame)
        assert EndedFrame(END_REASON_MATCH_OVER, stage.played.ledger.head) == frames[-1]

    run(scenario)


@pytest.mark.parametrize("sealed", [False, True])
def test_a_feed_resumes_at_any_position(sealed: bool) -> None:
    """From every event of the log: the later events, then `caught_up`; after the seal also `revealed` and `ended`."""

    async def scenario() -> None:
        stage = Stage("raffzahn", 3)
        await stage.start()
        await (stage.play_out() if sealed else stage.choose(15))
        for sequence in range(len(stage.played.log) + 1):
            last: type[Any] = EndedFrame if sealed else CaughtUpFrame
            frames = await frames_until(stage.watch(stage.position(sequence)), last)
            assert_one_chain(stage, sequence, told(frames))
            kinds = [type(frame) for frame in frames]
            expected = [ConfirmedFrame, *([EventsFrame] if sequence < len(stage.played.log) else []), CaughtUpFrame]
            assert expected + ([RevealedFrame, EndedFrame] if sealed else []) == kinds

    run(scenario)


def test_live_catch_up_and_afterwards_tell_the_same_bytes() -> None:
    """A watcher from the start, a late one, and one after the end receive the same bytes."""

    async def scenario() -> None:
        stage = Stage("allie_gator", 3)
        await stage.start()
        live = asyncio.create_task(frames_until(stage.watch(START), EndedFrame))
        await stage.choose(30)
        late = asyncio.create_task(frames_until(stage.watch(START), EndedFrame))
        await stage.play_out()
        over = await frames_until(stage.watch(START), EndedFrame)
        assert told(over) == told(await live) == told(await late)

    run(scenario)


def test_a_position_that_is_not_on_the_log_is_declined_with_the_head() -> None:
    """Positions beyond the head or with another link are declined; an unknown match raises MatchUnknown."""

    async def scenario() -> None:
        stage = Stage()
        await stage.start()
        head = stage.played.ledger.head
        for position, reason in (
            (Position(head.sequence + 1, bytes(32)), Why.POSITION_AHEAD),
            (Position(head.sequence, bytes(32)), Why.POSITION_OTHER_LINK),
            (Position(0, bytes(32)), Why.POSITION_OTHER_LINK),
        ):
            with pytest.raises(Declined) as declined:
                await frames_until(stage.watch(position), CaughtUpFrame)
            assert (reason, head.sequence) == (declined.value.reason, declined.value.facts["head"])
        with pytest.raises(MatchUnknown):
            await frames_until(stage.feeds.watch("nothing", None, lambda _: Watcher.PUBLIC), CaughtUpFrame)

    run(scenario)


def test_the_view_behind_a_frame_is_that_after_its_last_event() -> None:
    """A client needs no rules to draw the board."""

    async def scenario() -> None:
        stage = Stage()
        await stage.start()
        await stage.choose(9)
        frames = await frames_until(stage.watch(), CaughtUpFrame)
        events = frames[1]
        assert isinstance(events, EventsFrame)
        assert stage.played.ledger.head == events.ledger.head
        before = events.ledger.game.view(events.ledger.match.state, Watcher.PUBLIC)
        await stage.choose(9)
        assert before == events.ledger.game.view(events.ledger.match.state, Watcher.PUBLIC)

    run(scenario)


def test_a_slow_watcher_holds_nobody_up_and_gets_the_rest_at_once() -> None:
    """The slow watcher gets `fell_behind`, and then all missed events in one frame."""

    async def scenario() -> None:
        stage = Stage("raffzahn", 3)
        await stage.start()
        slow = stage.watch()
        frames = [await anext(slow) for _ in range(3)]
        assert isinstance(frames[-1], CaughtUpFrame)
        fast = asyncio.create_task(frames_until(stage.watch(), EndedFrame))
        await stage.play_out()
        assert_one_chain(stage, 0, told(await fast))
        rest = await frames_until(slow, EndedFrame)
        assert isinstance(rest[0], FellBehindFrame)
        assert 1 == sum(isinstance(frame, EventsFrame) for frame in rest)
        assert_one_chain(stage, 0, told(frames + rest))

    run(scenario)


def test_what_happens_while_a_watcher_hears_that_it_fell_behind_comes_once() -> None:
    """A slow reader may let minutes pass between that frame and the next."""

    async def scenario() -> None:
        stage = Stage("raffzahn", 3)
        await stage.start()
        slow = stage.watch()
        frames = await frames_until(slow, CaughtUpFrame)
        while len(stage.played.log) < len(told(frames)) + FELL_BEHIND:
            await stage.choose()
        await frames_until(stage.watch(), CaughtUpFrame)
        frames.append(await anext(slow))
        assert isinstance(frames[-1], FellBehindFrame)
        for _ in range(2):
            await stage.choose(3)
            await frames_until(stage.watch(), CaughtUpFrame)
            frames.append(await anext(slow))
        frames += await frames_until(slow, CaughtUpFrame)
        assert_one_chain(stage, 0, told(frames))

    run(scenario)


def test_a_frame_is_made_once_for_everybody_at_the_same_place() -> None:
    """A thousand watchers that are up to date share one frame."""

    async def scenario() -> None:
        stage = Stage()
        await stage.start()
        feeds = [stage.watch() for _ in range(50)]
        for feed in feeds:
            await frames_so_far(feed)
        await stage.choose()
        frames = await asyncio.gather(*[anext(feed) for feed in feeds])
        assert 1 == len({id(frame) for frame in frames})

    run(scenario)


def test_a_watcher_that_takes_a_seat_is_told_that_it_sees_with_other_eyes() -> None:
    """The watcher's feed ends with its position; the next feed resumes there with the seat's perspective."""

    async def scenario() -> None:
        stage = Stage()
        stage.played = Played()
        await stage.store()
        feed = stage.watch(perspective_of=lambda ledger: perspective_of(ledger, b"p0", is_judge=False))
        await anext(feed)
        stage.played.append(decide(stage.played.ledger, TakeSeat(stage.played.by("p0"))))
        await stage.store()
        frames = await frames_until(feed, EndedFrame)
        assert isinstance(frames[-1], EndedFrame)
        assert END_REASON_PERSPECTIVE_CHANGED == frames[-1].reason
        resumed = await frames_until(
            stage.watch(frames[-1].position, lambda ledger: perspective_of(ledger, b"p0", is_judge=False)),
            CaughtUpFrame,
        )
        assert isinstance(resumed[0], ConfirmedFrame)
        assert 0 == resumed[0].perspective
        assert_one_chain(stage, frames[-1].position.sequence, told(resumed))

    run(scenario)


def test_feeds_end_with_their_position_when_the_service_drains_or_a_token_expires() -> None:
    """The watcher can resume without a gap at another process or with a new token."""

    async def scenario() -> None:
        stage = Stage()
        await stage.start()
        expired = False
        feed = stage.watch(expired=lambda: expired)
        await frames_so_far(feed)
        expired = True
        await stage.choose()
        assert END_REASON_TOKEN_EXPIRED == (await last_of(feed)).reason
        other = stage.watch()
        await frames_so_far(other)
        stage.feeds.drain()
        assert EndedFrame(END_REASON_DRAINING, stage.played.ledger.head) == await last_of(other)

    run(scenario)


async def frames_so_far(feed: AsyncIterator[Frame]) -> None:
    """Read until the watcher has caught up."""
    async for frame in feed:
        if isinstance(frame, CaughtUpFrame):
            return


async def last_of(feed: AsyncIterator[Frame]) -> EndedFrame:
    """Read the feed to its end; return the last frame."""
    frames = [frame async for frame in feed]
    assert isinstance(frames[-1], EndedFrame)
    return frames[-1]


def test_a_delayed_viewer_learns_nothing_early_and_everything_in_the_end() -> None:
    """Frames, positions and refusals come from the log cut at now - delay; the delay ends with the match."""

    async def scenario() -> None:
        stage = Stage(terms=Terms(spectator_delay_seconds=60))
        await stage.start()
        await stage.choose(5)
        started = len(stage.played.log)
        closing = stage.played.ledger.closing
        assert closing is not None
        feed = stage.watch()
        first = await anext(feed)
        assert isinstance(first, ConfirmedFrame)
        assert first.ledger is not None
        assert closing == first.ledger.head
        at_once = await frames_until(feed, CaughtUpFrame)
        assert closing.sequence == len(told(at_once))
        with pytest.raises(Declined) as declined:
            await frames_until(stage.watch(stage.played.ledger.head), CaughtUpFrame)
        assert closing.sequence == declined.value.facts["head"]
        player = await frames_until(stage.watch(perspective_of=lambda _: 0), CaughtUpFrame)
        assert started == len(told(player))
        stage.now_ms += 60_000
        frames = at_once + await frames_until(feed, EventsFrame)
        assert_one_chain(stage, 0, told(frames))
        await stage.play_out()
        rest = await frames_until(feed, EndedFrame)
        assert_one_chain(stage, 0, told(frames + rest))

    run(scenario)


def test_a_log_that_goes_on_in_another_way_ends_the_feed_as_lost() -> None:
    """A watcher must never receive two different pasts."""

    async def scenario() -> None:
        stage = Stage()
        await stage.start()
        feed = stage.watch()
        await frames_so_far(feed)
        await stage.log.append("m", stage.stored, [Entry(stage.played.log[-1].data)])
        with pytest.raises(TailLost):
            await frames_until(feed, EndedFrame)

    run(scenario)


def test_nobody_watches_nothing_is_kept() -> None:
    """A channel is dropped with its last watcher, and its waiting task ends."""

    async def scenario() -> None:
        stage = Stage()
        await stage.start()
        feeds: list[Any] = [stage.watch() for _ in range(3)]
        for feed in feeds:
            await frames_so_far(feed)
        assert 3 == stage.feeds.watchers
        for feed in feeds:
            await feed.aclose()
        assert 0 == stage.feeds.watchers
        await stage.feeds.close()

    run(scenario)


@pytest.mark.parametrize("fault", ["drop", "double", "swap"])
def test_the_chain_that_these_tests_look_at_would_show_a_fault(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted fault in the channel fails the same assertion that the other tests use."""
    frame = Channel.frame

    def faulty(self: Channel, perspective: Perspective, after: int) -> EventsFrame:
        right = frame(self, perspective, after)
        events = list(right.events)
        if len(events) > 3:
            if fault == "drop":
                del events[1]
            elif fault == "double":
                events.insert(1, events[1])
            else:
                events[1], events[2] = events[2], events[1]
        return EventsFrame(events, right.perspective, right.ledger)

    monkeypatch.setattr(Channel, "frame", faulty)

    async def scenario() -> None:
        stage = Stage()
        await stage.start()
        frames = await frames_until(stage.watch(), CaughtUpFrame)
        with pytest.raises(AssertionError):
            assert_one_chain(stage, 0, told(frames))

    run(scenario)


def test_a_command_that_is_appended_reaches_every_watcher_though_nobody_told_the_feeds() -> None:
    """Feeds follow the log, not the appending process, so events of another replica arrive the same way."""

    async def scenario() -> None:
        stage = Stage()
        await stage.start()
        feed = stage.watch()
        await frames_so_far(feed)
        decision = decide(stage.played.ledger, Resign(Origin(stage.now_ms, b"p0", b"r" * 16)))
        waiting = asyncio.create_task(frames_until(feed, EndedFrame))
        await asyncio.sleep(0)
        stage.played.append(decision)
        await stage.store()
        frames = await waiting
        assert [logged.data for logged in decision.entries] == told(frames)

    run(scenario)
