"""Replay files of a service's matches: of a sealed one everything, of a running one what a pair of eyes may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.match.chain import Entry, link
from rollbook.match.codec.envelope import read_bytes
from rollbook.match.heads import sign_head
from rollbook.replay_file.container import Head, Replay
from rollbook.replay_file.key_lines import key_id
from rollbook.rules.game import Perspective
from rollbook.server.out.projection import projected_events
from rollbook.server.service import Sight
from rollbook.v1.events_pb2 import Event, Private


def sealed_replay(match_id: str, entries: Sequence[Entry], names: Sequence[str], head_key: Ed25519PrivateKey) -> Replay:
    """The whole of a match that is over; the secret is in its seal."""
    beside = {number: entry.private for number, entry in enumerate(entries[1:], start=2) if entry.private}
    replay = _visible(match_id, None, [entry.event for entry in entries], head_key)
    return replace(replay, beside=beside, names=_said(names))


def seen_replay(sight: Sight, entries: Sequence[Entry], names: Sequence[str], head_key: Ed25519PrivateKey) -> Replay:
    """A match that is not over, up to where it is seen, as one pair of eyes may see it."""
    ledger, match_id = sight.ledger, sight.ledger.opened.match_id
    first, *rest = entries[: ledger.head.sequence]
    log = [read_bytes(first.event, first.private, match_id=match_id)]
    log += [read_bytes(entry.event, entry.private, ledger.game) for entry in rest]
    beside = {
        number: Private(hidden=event.hidden).SerializeToString(deterministic=True)
        for number, event in enumerate(projected_events(None, log, sight.perspective), start=1)
        if event.HasField("hidden")
    }
    replay = _visible(match_id, sight.perspective, [logged.data for logged in log], head_key)
    return replace(replay, beside=beside, names=_said(names))


def _visible(
    match_id: str, perspective: Perspective | None, events: Sequence[bytes], head_key: Ed25519PrivateKey
) -> Replay:
    """What everybody may have who may have these events."""
    opened = Event.FromString(events[0]).opened
    sequence, last_link = len(events), link(events[-1])
    head = Head(
        sequence,
        last_link,
        key_id(head_key.public_key()),
        sign_head(head_key, match_id, sequence, last_link),
    )
    return Replay(match_id, opened.game, opened.ruleset, perspective, tuple(events), heads=(head,))


def _said(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(names) if any(names) else ()
