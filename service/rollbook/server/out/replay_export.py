"""Makes replay files: of a sealed match everything, of a running one what one perspective may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rollbook.match.chain import Entry, HeadKeys, link
from rollbook.match.ledger import Visible
from rollbook.replay_file.container import Replay
from rollbook.rules.game import Perspective
from rollbook.server.out.projection import projected
from rollbook.v1.events_pb2 import Event, Private


def sealed_replay(match_id: str, entries: Sequence[Entry], names: Sequence[str], keys: HeadKeys) -> Replay:
    """The complete replay of a finished match; its seal contains the secret."""
    private = {number: entry.private for number, entry in enumerate(entries[1:], start=2) if entry.private}
    replay = _exported(match_id, None, [entry.event for entry in entries], keys)
    return replace(replay, private=private, names=_said(names))


def seen_replay(
    match_id: str, events: Sequence[Visible], perspective: Perspective, names: Sequence[str], keys: HeadKeys
) -> Replay:
    """The replay of a running match, with `events` as one perspective sees them."""
    seen = {number: event for number, event in enumerate(events, start=1) if perspective in event.insiders}
    private = {
        number: Private(hidden=event.hidden).SerializeToString(deterministic=True)
        for number, event in ((number, projected(event, perspective)) for number, event in seen.items())
        if event.HasField("hidden")
    }
    replay = _exported(match_id, perspective, [event.logged.data for event in events], keys)
    return replace(replay, private=private, names=_said(names))


def _exported(match_id: str, perspective: Perspective | None, events: Sequence[bytes], keys: HeadKeys) -> Replay:
    """The public parts of the replay."""
    opened = Event.FromString(events[0]).opened
    head = keys.sign(match_id, len(events), link(events[-1]))
    return Replay(match_id, opened.game, opened.ruleset, perspective, tuple(events), heads=(head,))


def _said(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(names) if any(names) else ()
