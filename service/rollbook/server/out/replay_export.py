"""Makes replay files: of a sealed match everything, of a running one what one perspective may see."""

from __future__ import annotations

from collections.abc import AsyncIterable, Sequence
from dataclasses import replace

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.match.chain import Entry, HeadKeys, link
from rollbook.match.ledger import Visible
from rollbook.replay_file.container import Replay, body_parts, sign
from rollbook.rules.game import Perspective
from rollbook.server.out.projection import project
from rollbook.server.slices import Slices
from rollbook.v1.events_pb2 import Event, Private


def sealed_replay(match_id: str, entries: Sequence[Entry], names: Sequence[str], keys: HeadKeys) -> Replay:
    """The complete replay of a finished match; its seal contains the secret."""
    private = {number: entry.private for number, entry in enumerate(entries[1:], start=2) if entry.private}
    replay = _export(match_id, None, [entry.event for entry in entries], keys)
    return replace(replay, private=private, names=_clean_names(names))


async def seen_replay(
    match_id: str, events: AsyncIterable[Visible], perspective: Perspective, names: Sequence[str], keys: HeadKeys
) -> Replay:
    """The replay of a running match, with `events` as one perspective sees them."""
    data: list[bytes] = []
    private: dict[int, bytes] = {}
    async for event in events:
        data.append(event.logged.data)
        if perspective in event.insiders and (seen := project(event, perspective)).HasField("hidden"):
            private[len(data)] = Private(hidden=seen.hidden).SerializeToString(deterministic=True)
    replay = _export(match_id, perspective, data, keys)
    return replace(replay, private=private, names=_clean_names(names))


async def written(replay: Replay, key: Ed25519PrivateKey) -> bytes:
    """The bytes of the replay file, written in slices."""
    parts, slices = list[bytes](), Slices()
    for part in body_parts(replay):
        parts.append(part)
        if slices.is_over:
            await slices.rest()
    return sign(replay, b"".join(parts), key)


def _export(match_id: str, perspective: Perspective | None, events: Sequence[bytes], keys: HeadKeys) -> Replay:
    """The public parts of the replay."""
    opened = Event.FromString(events[0]).opened
    head = keys.sign(match_id, len(events), link(events[-1]))
    return Replay(match_id, opened.game, opened.ruleset, perspective, tuple(events), heads=(head,))


def _clean_names(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(names) if any(names) else ()
