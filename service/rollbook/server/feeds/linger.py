"""Watches that go on after the end of a match, so that its players learn of a rematch."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from rollbook.match.ledger import Ledger
from rollbook.server.out.frames import ConfirmedFrame, EndedFrame, Frame, HeartbeatFrame, RematchFrame
from rollbook.v1.feed_pb2 import END_REASON_MATCH_OVER, EndReason, MatchFrame

LOOK_SECONDS: Final = 0.4
"""The period in which a lingering watch looks for a rematch."""


@dataclass(frozen=True, slots=True)
class Linger:
    """How long a watch goes on after the end of the match, and what finds the rematch meanwhile."""

    seconds: float
    find: Callable[[Ledger], Awaitable[MatchFrame.Rematch | None]]


async def extend_watch(
    watch: AsyncGenerator[Frame, None],
    ledger: Callable[[], Awaitable[Ledger]],
    ending: Callable[[], EndReason.ValueType | None],
    linger: Linger,
    beat_seconds: float,
) -> AsyncGenerator[Frame, None]:
    """Yield the frames of a watch; before the end of a match with a result, a seat gets what `linger` finds.

    `ending` returns why every watch ends now, or None.
    """
    is_seat = False
    async with aclosing(watch):
        async for frame in watch:
            if isinstance(frame, ConfirmedFrame):
                is_seat = isinstance(frame.perspective, int)
            if isinstance(frame, EndedFrame) and frame.reason == END_REASON_MATCH_OVER and is_seat:
                async for later in _rematches(await ledger(), ending, linger, beat_seconds):
                    yield later
                yield EndedFrame(ending() or frame.reason, frame.position)
            else:
                yield frame


async def _rematches(
    ledger: Ledger, ending: Callable[[], EndReason.ValueType | None], linger: Linger, beat_seconds: float
) -> AsyncGenerator[RematchFrame | HeartbeatFrame, None]:
    """Yield the rematch whenever it changes, and heartbeats in between."""
    if ledger.match.sealed is None or ledger.match.sealed.aborted is not None:
        return
    loop, shown = asyncio.get_running_loop(), None
    until, beat = loop.time() + linger.seconds, loop.time() + beat_seconds
    while ending() is None and loop.time() < until:
        found = await linger.find(ledger)
        if found is not None and found != shown:
            shown = found
            yield RematchFrame(found)
        elif loop.time() >= beat:
            beat = loop.time() + beat_seconds
            yield HeartbeatFrame(ledger, 0)
        await asyncio.sleep(LOOK_SECONDS)
