"""Checks the signatures that vouch for a log: heads in the file, heads that people kept, and the file's own signature.

A key has a role and an owner, and a signature counts only by a key of the right role. A signature by any other key,
known or unknown, is no evidence for or against the file; the checks then return the missing key and its owner.
"""

from __future__ import annotations

from collections.abc import Sequence

from rollbook.match.chain import is_signed
from rollbook.match.events import Event, Sealed
from rollbook.replay_file.container import Head, Replay, Signed, Stored
from rollbook.replay_file.kept_heads import WitnessedHead
from rollbook.replay_file.key_lines import KeyRole, KnownKey, KnownKeys
from rollbook.v1 import events_pb2 as proto
from rollbook_replays.audit.divergence import Diverged
from rollbook_replays.audit.verdicts import Check, Vouching


def owner(stored: Stored, keys: KnownKeys) -> str:
    """The name of the owner of the file's replay key, else of its last known head key; empty if all are unknown."""
    signers = [_of_role(keys, stored.key_id, KeyRole.REPLAY)]
    signers += [_of_role(keys, head.key_id, KeyRole.HEAD) for head in reversed(stored.replay.heads)]
    return next((key.name for key in signers if key is not None), "")


def vouching(stored: Stored, keys: KnownKeys) -> Vouching | None:
    """The service that owns all keys of the file, whose signatures were checked; None if no one service owns all."""
    heads = tuple(dict.fromkeys(head.key_id for head in stored.replay.heads))
    name = owner(stored, keys)
    signers = [_of_role(keys, stored.key_id, KeyRole.REPLAY), *(_of_role(keys, key, KeyRole.HEAD) for key in heads)]
    if not heads or any(key is None or key.name != name for key in signers):
        return None
    return Vouching(name, heads, stored.key_id)


def lacking(keys: KnownKeys, key_id: str, role: KeyRole, name: str = "") -> str:
    """The missing key in words: its role, its id, its owner, and its real role if the key is known for another."""
    known = keys.get(key_id)
    other = "" if known is None else f" (it is {known})"
    return f"the {role} key {key_id[:16]}{f' of {name}' if name else ''}{other}"


def flaw(head: WitnessedHead, keys: KnownKeys) -> str | None:
    """Why a kept head proves nothing, in words; None if it is good evidence or its key is unknown."""
    key = keys.get(head.key_id)
    if key is None:
        return None
    if key.role is not KeyRole.HEAD:
        return f"key {head.key_id} is {key}, and signs no heads"
    if not _is_signed(key, head.match_id, head):
        return f"its signature is not that of key {head.key_id}, {key}"
    return None


def check_heads(stored: Stored, links: Sequence[bytes], keys: KnownKeys) -> list[str]:
    """Check the heads in the file; return what is missing, and raise `Diverged` for a head of another log.

    The last head has to be that of the last event.
    """
    replay, name = stored.replay, owner(stored, keys)
    missing = []
    heads = stored.replay.heads
    for head in heads:
        _check_link(links, head)
        if head.key_id == stored.key_id:
            # The two keys differ, so that a thief of one of them cannot replace the other.
            raise Diverged(head.sequence, Check.HEADS, "a head by a head key", f"one by the replay key {head.key_id}")
        key = _of_role(keys, head.key_id, KeyRole.HEAD)
        if key is not None and not _is_signed(key, replay.match_id, head):
            expected = f"a head that key {head.key_id} signed"
            raise Diverged(head.sequence, Check.HEADS, expected, f"the signature {head.signature.hex()}")
        if key is None or key.name != name:
            missing.append(lacking(keys, head.key_id, KeyRole.HEAD, name))
    if not heads or heads[-1].sequence != len(links):
        missing.append("a signed head of the last event")
    return missing


def check_kept(stored: Stored, links: Sequence[bytes], keys: KnownKeys, kept: Sequence[WitnessedHead]) -> list[str]:
    """Check the kept heads of this match; return what is missing, and raise `Diverged` for a head of another log.

    A head of another service is no evidence against the owner of this file. If the two contradict each other, the
    disagreement is returned as missing, because the audit cannot decide which of them is right.
    """
    replay, name = stored.replay, owner(stored, keys)
    missing = []
    for head in kept:
        key = keys.get(head.key_id)
        if key is None:
            missing.append(f"the head key {head.key_id} of a kept head")
        elif name not in {"", key.name}:
            if head.sequence > len(links) or links[head.sequence - 1] != head.link:
                missing.append(
                    f"agreement with {key.name}, whose head key {head.key_id} signed a kept head of another log"
                )
        elif head.sequence <= len(links):
            _check_link(links, head)
        elif replay.perspective is None:
            expected = f"event {head.sequence}, whose link {head.link.hex()} was signed and kept"
            raise Diverged(head.sequence, Check.HEADS, expected, f"a log that ends with event {len(links)}")
        else:
            missing.append(f"event {head.sequence}, of which a head was kept")
    return missing


def check_lost(stored: Stored, links: Sequence[bytes], keys: KnownKeys, number: int, event: Event) -> list[str]:
    """Check the evidence of a seal that calls the log lost: a head that the service signed for an event not in the log.

    Returns what is missing for the check, nothing for any other event; raises `Diverged` if the evidence is false. The
    seal is event `number`.
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
    key, name = _of_role(keys, lost.key_id, KeyRole.HEAD), owner(stored, keys)
    if key is not None and not _is_signed(key, stored.replay.match_id, lost):
        expected = f"a head that key {lost.key_id} signed, as evidence that the log was lost"
        raise Diverged(number, Check.RESULT, expected, f"the signature {lost.signature.hex()}")
    if key is None or key.name != name:
        return [f"{lacking(keys, lost.key_id, KeyRole.HEAD, name)} for the lost head"]
    return []


def check_container(stored: Stored, links: Sequence[bytes], said: proto.Opened, keys: KnownKeys) -> list[str]:
    """Check footer, header, names and signature against the events; return what is missing, or raise `Diverged`.

    `said` is the content of event 1; it is empty if this program could not decode event 1.
    """
    counted, there = (stored.count, stored.last_link), (len(links), links[-1])
    if counted != there:
        raise Diverged(None, Check.CONTAINER, f"{_ending(*there)}, as the events are", _ending(*counted))
    if said.envelope:
        _check_said(stored.replay, said)
    key = _of_role(keys, stored.key_id, KeyRole.REPLAY)
    if key is None:
        return [lacking(keys, stored.key_id, KeyRole.REPLAY, owner(stored, keys))]
    _check_signed("file", stored.file, key)
    if stored.names is not None:
        _check_signed("names", stored.names, key)
    return []


def _check_said(replay: Replay, said: proto.Opened) -> None:
    """Raise `Diverged` if game, ruleset, perspective or names do not fit the match that event 1 opened."""
    named, played = (replay.game, replay.ruleset), (said.game, said.ruleset)
    if named != played:
        expected = f"{played[0]}, ruleset {played[1]}"
        raise Diverged(None, Check.CONTAINER, expected, f"{named[0]}, ruleset {named[1]}")
    if isinstance(replay.perspective, int) and not 0 <= replay.perspective < said.seats:
        expected = f"the perspective of one of {said.seats} seats"
        raise Diverged(None, Check.CONTAINER, expected, f"those of seat {replay.perspective}")
    if replay.names and len(replay.names) != said.seats:
        expected = f"names of {said.seats} seats, or none"
        raise Diverged(None, Check.CONTAINER, expected, f"{len(replay.names)} names")


def _of_role(keys: KnownKeys, key_id: str, role: KeyRole) -> KnownKey | None:
    """The key if it is known and has this role, else None."""
    key = keys.get(key_id)
    return key if key is not None and key.role is role else None


def _check_signed(what: str, signed: Signed, key: KnownKey) -> None:
    if not signed.holds(key.public):
        expected = f"{what} that key {key.key_id} signed"
        raise Diverged(None, Check.CONTAINER, expected, f"the signature {signed.signature.hex()}")


def _check_link(links: Sequence[bytes], head: Head | WitnessedHead) -> None:
    expected = f"event {head.sequence} with link {head.link.hex()}, as its head was signed"
    if head.sequence > len(links):
        raise Diverged(head.sequence, Check.HEADS, expected, f"a log that ends with event {len(links)}")
    link = links[head.sequence - 1]
    if head.link != link:
        raise Diverged(head.sequence, Check.HEADS, expected, f"link {link.hex()}")


def _is_signed(key: KnownKey, match_id: str, head: Head | WitnessedHead) -> bool:
    return is_signed(key.public, match_id, head.sequence, head.link, head.signature)


def _ending(count: int, link: bytes) -> str:
    return f"{count} events, the last with link {link.hex()}"
