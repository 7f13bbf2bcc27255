"""Who vouches for a log: signed heads, those in the file and those that people kept, and the file's own signature.

A signature by a key that was not given proves nothing and disproves nothing: the key is reported as missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from rollbook.match.chain import is_signed
from rollbook.match.events import Event, Sealed
from rollbook.replay_file.container import Head, Replay, Signed, Stored
from rollbook.replay_file.kept_heads import WitnessedHead
from rollbook.v1 import events_pb2 as proto
from rollbook_replays.audit.divergence import Diverged
from rollbook_replays.audit.verdicts import Check

Keys = Mapping[str, Ed25519PublicKey]


def check_heads(stored: Stored, links: Sequence[bytes], keys: Keys) -> list[str]:
    """Every head in the file is one of this log, and the last one that of its last event; what is missing for that."""
    missing = []
    heads = stored.replay.heads
    for head in heads:
        _check_link(links, head)
        if head.key_id == stored.key_id:
            # Whoever got hold of one of the two keys cannot do the work of the other.
            raise Diverged(head.sequence, Check.HEADS, "a head by a head key", f"one by the replay key {head.key_id}")
        if head.key_id not in keys:
            missing.append(f"the head key {head.key_id[:16]}")
        elif not _signed(keys, stored.replay.match_id, head):
            expected = f"a head that key {head.key_id} signed"
            raise Diverged(head.sequence, Check.HEADS, expected, f"the signature {head.signature.hex()}")
    if not heads or heads[-1].sequence != len(links):
        missing.append("a signed head of the last event")
    return missing


def check_kept(replay: Replay, links: Sequence[bytes], keys: Keys, kept: Sequence[WitnessedHead]) -> list[str]:
    """Every head of this match that somebody kept is one of this log; what is missing for that.

    A head that is not signed as it says is no evidence against anybody.
    """
    missing = []
    for head in kept:
        if head.match_id != replay.match_id:
            continue
        if head.key_id not in keys:
            missing.append(f"the head key {head.key_id} of a kept head")
        elif not _signed(keys, replay.match_id, head):
            missing.append(f"a true signature of the kept head of event {head.sequence}")
        elif head.sequence <= len(links):
            _check_link(links, head)
        elif replay.perspective is None:
            expected = f"event {head.sequence}, whose link {head.link.hex()} was signed and kept"
            raise Diverged(head.sequence, Check.HEADS, expected, f"a log that ends with event {len(links)}")
        else:
            missing.append(f"event {head.sequence}, of which a head was kept")
    return missing


def check_lost(stored: Stored, links: Sequence[bytes], keys: Keys, number: int, event: Event) -> list[str]:
    """A match that was sealed because its log was lost names a head that the service signed, and not of this log.

    The seal is event `number`; what is missing to know that of it.
    """
    lost = event.lost if isinstance(event, Sealed) else None
    if lost is None:
        return []
    if lost.sequence < number and links[lost.sequence - 1] == lost.link:
        found = f"that of event {lost.sequence}, which is not lost"
        raise Diverged(number, Check.RESULT, "a head that the log does not hold any more", found)
    if lost.key_id == stored.key_id:
        expected = "a head by a head key, as evidence that the log was lost"
        raise Diverged(number, Check.RESULT, expected, f"one by the replay key {lost.key_id}")
    if lost.key_id not in keys:
        return [f"the head key {lost.key_id[:16]} of the lost head"]
    if not is_signed(keys[lost.key_id], stored.replay.match_id, lost.sequence, lost.link, lost.signature):
        expected = f"a head that key {lost.key_id} signed, as evidence that the log was lost"
        raise Diverged(number, Check.RESULT, expected, f"the signature {lost.signature.hex()}")
    return []


def check_container(stored: Stored, links: Sequence[bytes], said: proto.Opened, keys: Keys) -> list[str]:
    """What the file says around the events is true of them, and signed; what is missing for that.

    Event 1 said how many seats there are of what; nothing, if nobody could read it.
    """
    counted, there = (stored.count, stored.last_link), (len(links), links[-1])
    if counted != there:
        raise Diverged(None, Check.CONTAINER, f"{_ending(*there)}, as the events are", _ending(*counted))
    if said.envelope:
        _check_said(stored.replay, said)
    key = keys.get(stored.key_id)
    if key is None:
        return [f"the replay key {stored.key_id}"]
    _check_signed("file", stored.file, stored.key_id, key)
    if stored.names is not None:
        _check_signed("names", stored.names, stored.key_id, key)
    return []


def _check_said(replay: Replay, said: proto.Opened) -> None:
    """Game, ruleset, perspective and names are those of the match that event 1 opened."""
    named, played = (replay.game, replay.ruleset), (said.game, said.ruleset)
    if named != played:
        expected = f"{played[0]}, ruleset {played[1]}"
        raise Diverged(None, Check.CONTAINER, expected, f"{named[0]}, ruleset {named[1]}")
    if isinstance(replay.perspective, int) and not 0 <= replay.perspective < said.seats:
        expected = f"the eyes of one of {said.seats} seats"
        raise Diverged(None, Check.CONTAINER, expected, f"those of seat {replay.perspective}")
    if replay.names and len(replay.names) != said.seats:
        expected = f"names of {said.seats} seats, or none"
        raise Diverged(None, Check.CONTAINER, expected, f"{len(replay.names)} names")


def _check_signed(what: str, signed: Signed, key_id: str, key: Ed25519PublicKey) -> None:
    if not signed.holds(key):
        expected = f"{what} that key {key_id} signed"
        raise Diverged(None, Check.CONTAINER, expected, f"the signature {signed.signature.hex()}")


def _check_link(links: Sequence[bytes], head: Head | WitnessedHead) -> None:
    expected = f"event {head.sequence} with link {head.link.hex()}, as its head was signed"
    if head.sequence > len(links):
        raise Diverged(head.sequence, Check.HEADS, expected, f"a log that ends with event {len(links)}")
    link = links[head.sequence - 1]
    if head.link != link:
        raise Diverged(head.sequence, Check.HEADS, expected, f"link {link.hex()}")


def _signed(keys: Keys, match_id: str, head: Head | WitnessedHead) -> bool:
    return is_signed(keys[head.key_id], match_id, head.sequence, head.link, head.signature)


def _ending(count: int, link: bytes) -> str:
    return f"{count} events, the last with link {link.hex()}"
