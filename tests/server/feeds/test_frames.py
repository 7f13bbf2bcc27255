"""Frames as bytes: built once per distinct content, and equal to frames built for each watcher alone."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rollbook.match.ledger import Ledger, Visible
from rollbook.rules.catalogue import current
from rollbook.rules.game import Perspective, Watcher, everything_is_open
from rollbook.server.feeds.channel import Channel
from rollbook.server.out.frames import FrameMessages
from rollbook.server.out.projection import Heads, clocks_message, legal_message, project, view_message
from rollbook.v1.feed_pb2 import MatchFrame
from tests.server.out.test_projection import KEYS, eyes, walked, whole_match


def frames() -> FrameMessages:
    """The object that builds a service's frame messages."""
    return FrameMessages(Heads(KEYS), lambda: 0)


def alone(events: list[Visible], ledger: Ledger, perspective: Perspective, *, views: bool) -> bytes:
    """The frame for one perspective, built part by part."""
    return MatchFrame(
        events=MatchFrame.Events(
            events=[project(event, perspective) for event in events],
            view=view_message(ledger, perspective) if views else None,
            legal=legal_message(ledger, perspective) if views else None,
            head=Heads(KEYS).of(ledger),
            clocks=clocks_message(ledger, ledger.time_ms),
        )
    ).SerializeToString()


def told(name: str, step: int = 7) -> Iterator[tuple[Channel, list[Visible], Ledger]]:
    """Yield a watched match after every few events, with the events since the last time."""
    events: list[Visible] = []
    after = 0
    for _, event, ledger in walked(whole_match(name)):
        events.append(event)
        if len(events) % step == 0 or ledger.match.sealed is not None:
            # A ledger in a channel is replaced, never changed.
            replica: Any = SimpleNamespace(known=ledger.copy(), events=events, match_id="m")
            yield Channel(replica, cast("Any", None)), events[after:], replica.known
            after = len(events)


@pytest.mark.parametrize("name", list(current()))
def test_everybody_is_sent_the_bytes_that_are_made_for_them_alone(name: str) -> None:
    """Sharing frames must neither reveal nor drop anything: no card, no other seat's choices."""
    messages = frames()
    legal = 0
    for channel, events, ledger in told(name):
        for perspective in eyes(ledger):
            frame = channel.frame(perspective, ledger.match.sequence - len(events))
            for views in (False, True):
                sent = messages.of(frame, views=views)
                assert alone(events, ledger, perspective, views=views) == sent.SerializeToString()
            legal += MatchFrame.FromString(sent.SerializeToString()).events.HasField("legal")
    assert legal > 5


@pytest.mark.parametrize("name", [name for name, game in current().items() if game.seen is everything_is_open])
def test_where_nothing_is_hidden_there_are_two_frames_at_most(name: str) -> None:
    """One frame for the seat that gets the legal choices, one for all others."""
    messages = frames()
    for channel, events, ledger in told(name):
        sent = {messages.of(channel.frame(one, ledger.match.sequence - len(events))) for one in eyes(ledger)}
        assert len(sent) == (2 if any(legal_message(ledger, one) is not None for one in eyes(ledger)) else 1)


def test_where_something_is_hidden_everybody_has_a_frame_of_their_own() -> None:
    """Each perspective has its own frame, even if two of them see the same; only the bytes would show that."""
    messages = frames()
    for channel, events, ledger in told("allie_gator"):
        sent = {messages.of(channel.frame(one, ledger.match.sequence - len(events))) for one in eyes(ledger)}
        assert len(sent) == len(eyes(ledger))


def test_a_game_that_calls_itself_open_shows_everybody_no_more_than_the_public() -> None:
    """A game that declares itself open but shows a seat its hand must not leak the hand by a shared frame."""
    for _, _, ledger in walked(whole_match("allie_gator"), seen=everything_is_open):
        public = view_message(ledger, Watcher.PUBLIC)
        assert all(public == view_message(ledger, one) for one in eyes(ledger))
