"""The lobby as it changes; every update is the complete list, also after a lost connection."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final

from rollbook.v1.events_pb2 import AbortReason
from rollbook.v1.feed_pb2 import END_REASON_TOKEN_EXPIRED, EndReason, LobbyFrame, WatchLobbyRequest
from rollbook.v1.match_pb2 import MATCH_STATE_ABORTED, MATCH_STATE_FINISHED, MatchSummary
from rollbook_clients.sdk.connection import Lost
from rollbook_clients.sdk.guests import Caller, bearer
from rollbook_clients.sdk.refusals import Unauthenticated

OVER: Final = {MATCH_STATE_FINISHED, MATCH_STATE_ABORTED}


@dataclass(frozen=True, slots=True)
class Lobby:
    """The matches that are open, getting ready or running, the latest opened first.

    They are public, unless the user's own were asked for as well.
    """

    matches: tuple[MatchSummary, ...]
    is_away: bool = False
    """Whether the connection is lost, so that the list may be out of date."""


async def watch_lobby(caller: Caller, request: WatchLobbyRequest) -> AsyncGenerator[Lobby, None]:
    """Yield the lobby whenever it changes, and when the connection is lost or restored."""
    attempts = caller.connection.attempts()
    lobby = Lobby(())
    while True:
        try:
            async with aclosing(_stream(caller, request)) as lobbies:
                async for lobby in lobbies:
                    attempts.reset()
                    yield lobby
        except Lost as lost:
            if not lobby.is_away and not lost.in_order:
                lobby = replace(lobby, is_away=True)
                yield lobby
            await asyncio.sleep(max(lost.pause, attempts.pause()))


async def _stream(caller: Caller, request: WatchLobbyRequest) -> AsyncGenerator[Lobby, None]:
    """Yield the lobby from one stream; raises Lost when the stream ends."""
    known: dict[str, MatchSummary] = {}
    parts: dict[str, MatchSummary] = {}
    token = caller.token
    stream = caller.connection.stream(lambda line: line.feeds.WatchLobby, request, bearer(token))
    try:
        async with aclosing(stream) as frames:
            async for frame in frames:
                match frame.WhichOneof("frame"):
                    case "snapshot":
                        before = {} if frame.snapshot.first else parts
                        parts = before | {summary.match_id: summary for summary in frame.snapshot.matches}
                        if frame.snapshot.last:
                            known = parts
                            yield Lobby(tuple(known.values()))
                    case "changed":
                        known = _apply_change(known, frame.changed)
                        yield Lobby(tuple(known.values()))
                    case "ended":
                        if frame.ended.reason == END_REASON_TOKEN_EXPIRED:
                            raise await caller.resume(token)
                        caller.connection.renew()
                        raise Lost(EndReason.Name(frame.ended.reason), in_order=True)
    except Unauthenticated as refused:
        raise await caller.resume(token, refused) from None
    raise Lost("the stream ended without a last word")


def abort_reason(summary: MatchSummary) -> str:
    """Why this match was aborted, for `rollbook_replays.narration.aborted`: a reason, and seats behind a colon.

    >>> abort_reason(MatchSummary(aborted={"reason": "ABORT_REASON_NOT_READY", "seats": [0, 2]}))
    'not_ready:0,2'
    """
    if summary.unplayed:
        return "unplayed"
    reason = AbortReason.Name(summary.aborted.reason).removeprefix("ABORT_REASON_").lower()
    return f"{reason}:{','.join(map(str, summary.aborted.seats))}"


def _apply_change(known: dict[str, MatchSummary], changed: LobbyFrame.Changed) -> dict[str, MatchSummary]:
    summary = changed.match
    others = {match_id: each for match_id, each in known.items() if match_id != summary.match_id}
    if changed.is_gone or summary.state in OVER:
        return others
    return known | {summary.match_id: summary} if summary.match_id in known else {summary.match_id: summary} | others
