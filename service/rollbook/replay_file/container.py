"""The replay file: the bytes of one match, signed. `replays/FORMAT.md` is its specification.

    header     magic (8), version u16, zero u16, length of the body u32
    body       a ReplayBody
    names      length u32 (0: none), and if there are any: signature (64), a ReplayNames
    footer     number of events u32, link of the last event (32), key id (8), signature (64)

Integers are big-endian. The footer's signature is over header, body and the footer before it; the names have their own
signature, so that they can be removed. The lengths add up to the size of the file, so a file that was cut or extended
is detected at once.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

from rollbook.ed25519 import holds
from rollbook.match.chain import Head as Head  # noqa: PLC0414 - a replay's heads are those of its log
from rollbook.match.chain import is_match_id, link
from rollbook.match.fold import MOST_EVENTS
from rollbook.replay_file.key_lines import key_id
from rollbook.rules.game import Perspective, Watcher
from rollbook.v1 import events_pb2, games_pb2, replay_file_pb2, table_pb2

MAGIC: Final = b"\x89ROLL\r\n\x1a"
VERSION: Final = 2
VERSION_BEFORE_RELEASE: Final = 1
SUFFIX: Final = ".rollbook"

LARGEST_FILE: Final = 8 << 20
LARGEST_NAMES: Final = 4 << 10
LARGEST_EVENT: Final = 64 << 10
"""Limit for an event and its hidden part. Parsing can take 50 times the size of the input."""
MOST_FIELDS: Final = 3 * MOST_EVENTS + 10
"""Limit for the fields of a body: events, hidden parts, heads, and a few more."""
OUTCOMES_A_PART: Final = 100
"""Hidden outcomes serialised at once."""

_HEADER = struct.Struct(">8sHHI")
_NAMES_LENGTH = struct.Struct(">I")
_COUNT = struct.Struct(">I")
_FOOTER = struct.Struct(">I32s8s64s")
_SIGNATURE_BYTES = 64
_VARINT, _SIZED = 0, 2
_HIDDEN = bytes([events_pb2.Private.DESCRIPTOR.fields_by_name["hidden"].number << 3 | _SIZED])
_ONE_BYTE = 128
"""Lengths below this are written as one byte."""
_FILE_LABEL = b"rollbook/1/file"
_NAMES_LABEL = b"rollbook/1/names"


class NotAReplay(Exception):
    """The bytes are not a complete replay file; the message gives the reason."""


class BeforeRelease(NotAReplay):
    """A replay file in a format from before the first release, which no release reads."""

    def __init__(self) -> None:
        """Set the message."""
        super().__init__("the file was written before the first release")


@dataclass(frozen=True, slots=True)
class Replay:
    """One match as one perspective may see it."""

    match_id: str
    game: str
    ruleset: int
    perspective: Perspective | None
    """The perspective; None for the complete replay of a sealed match."""
    events: tuple[bytes, ...]
    """The bytes of every event, as they were hashed."""
    private: Mapping[int, bytes] = field(default_factory=dict)
    """Private parts by sequence, as in the log, without the secret, which is in the seal."""
    heads: tuple[Head, ...] = ()
    """The signed heads in ascending order; the last one is that of the last event."""
    names: tuple[str, ...] = ()
    """The names by seat; empty if they were left out or removed."""


@dataclass(frozen=True, slots=True)
class Signed:
    """A signature and the message it covers."""

    message: bytes
    signature: bytes

    def holds(self, key: Ed25519PublicKey) -> bool:
        """Whether the key made the signature."""
        return holds(key, self.signature, self.message)


@dataclass(frozen=True, slots=True)
class Stored:
    """A replay with everything that its file claims, unverified."""

    replay: Replay
    count: int
    last_link: bytes
    key_id: str
    """The id of the key that made the signatures."""
    file: Signed
    names: Signed | None
    """The signed names; None if the file has none."""


# Writing


def write(replay: Replay, key: Ed25519PrivateKey) -> bytes:
    """The file's bytes, signed with a key that signs only replay files."""
    return sign(replay, b"".join(body_parts(replay)), key)


def sign(replay: Replay, body: bytes, key: Ed25519PrivateKey) -> bytes:
    """The file's bytes with this body, which consists of the `body_parts` of the replay."""
    if len(body) > LARGEST_FILE:
        raise ValueError(f"a replay of {len(body)} bytes is larger than any match")
    longest = max(map(len, replay.events))
    if longest > LARGEST_EVENT:
        raise ValueError(f"an event of {longest} bytes is larger than any event")
    header = _HEADER.pack(MAGIC, VERSION, 0, len(body))
    counted = _COUNT.pack(len(replay.events)) + link(replay.events[-1]) + bytes.fromhex(key_id(key.public_key()))
    signature = key.sign(_FILE_LABEL + hashlib.sha256(header + body + counted).digest())
    return header + body + _signed_name(replay, key) + counted + signature


def without_names(data: bytes) -> bytes:
    """The same file without names; all signatures stay valid.

    Raises NotAReplay if the body is not canonical, because an unknown field could contain a name as well.
    """
    split = _Parts.of(data)
    _read_body(split.body)
    return split.header + split.body + _NAMES_LENGTH.pack(0) + split.footer


def _signed_name(replay: Replay, key: Ed25519PrivateKey) -> bytes:
    if not any(replay.names):
        return _NAMES_LENGTH.pack(0)
    names = replay_file_pb2.ReplayNames(match_id=replay.match_id, names=replay.names)
    data = names.SerializeToString(deterministic=True)
    return _NAMES_LENGTH.pack(_SIGNATURE_BYTES + len(data)) + key.sign(_NAMES_LABEL + data) + data


def body_parts(replay: Replay) -> Iterator[bytes]:
    """The body in parts, so that a service can do other work in between."""
    perspective = None if replay.perspective is None else _perspective_message(replay.perspective)
    yield replay_file_pb2.ReplayBody(
        match_id=replay.match_id,
        game=replay.game,
        ruleset=replay.ruleset,
        perspective=perspective,
        events=replay.events,
    ).SerializeToString(deterministic=True)
    # The fields of a message may be serialised apart, if they are joined in the order of their numbers.
    sequences = sorted(replay.private)
    for first in range(0, len(sequences), OUTCOMES_A_PART):
        part = replay_file_pb2.ReplayBody()
        for sequence in sequences[first : first + OUTCOMES_A_PART]:
            hidden = events_pb2.Private.FromString(replay.private[sequence]).hidden
            part.hidden.add(sequence=sequence, hidden=hidden)
        yield part.SerializeToString(deterministic=True)
    part = replay_file_pb2.ReplayBody()
    for head in replay.heads:
        part.heads.add(
            match_id=replay.match_id,
            sequence=head.sequence,
            link=head.link,
            key_id=head.key_id,
            signature=head.signature,
        )
    yield part.SerializeToString(deterministic=True)


def _perspective_message(perspective: Perspective) -> table_pb2.Perspective:
    if isinstance(perspective, int):
        return table_pb2.Perspective(kind=table_pb2.PERSPECTIVE_KIND_SEAT, seat=perspective)
    kinds = {Watcher.PUBLIC: table_pb2.PERSPECTIVE_KIND_PUBLIC, Watcher.JUDGE: table_pb2.PERSPECTIVE_KIND_JUDGE}
    return table_pb2.Perspective(kind=kinds[perspective])


# Reading


def read(data: bytes) -> Stored:
    """Parse a replay file, with bounded memory and time for any bytes; raises NotAReplay."""
    split = _Parts.of(data)
    count, last_link, signer, signature = _FOOTER.unpack(split.footer)
    body = _read_body(split.body)
    names, names_signed = _read_names(split.names, body.match_id)
    replay = Replay(
        match_id=body.match_id,
        game=body.game,
        ruleset=body.ruleset,
        perspective=_read_perspective(body),
        events=tuple(body.events),
        private={item.sequence: _private(item.hidden.SerializeToString(deterministic=True)) for item in body.hidden},
        heads=tuple(Head(head.sequence, head.link, head.key_id, head.signature) for head in body.heads),
        names=names,
    )
    signed = split.header + split.body + split.footer[:-_SIGNATURE_BYTES]
    file = Signed(_FILE_LABEL + hashlib.sha256(signed).digest(), signature)
    return Stored(replay, count, last_link, signer.hex(), file, names_signed)


def _private(hidden: bytes) -> bytes:
    """The private part with this hidden outcome, as the log has it."""
    if len(hidden) < _ONE_BYTE:
        return _HIDDEN + bytes([len(hidden)]) + hidden
    outcome = games_pb2.HiddenOutcome.FromString(hidden)
    return events_pb2.Private(hidden=outcome).SerializeToString(deterministic=True)


@dataclass(frozen=True, slots=True)
class _Parts:
    header: bytes
    body: bytes
    names: bytes
    footer: bytes

    @classmethod
    def of(cls, data: bytes) -> _Parts:
        if not data.startswith(MAGIC):
            raise NotAReplay("this is no replay file: it does not begin with the magic bytes")
        if len(data) > LARGEST_FILE:
            raise NotAReplay(f"a replay file has at most {LARGEST_FILE} bytes")
        if len(data) < _HEADER.size + _NAMES_LENGTH.size + _FOOTER.size:
            raise NotAReplay("the file was cut: not even header and footer are there")
        _, version, zero, length = _HEADER.unpack_from(data)
        if (version, zero) == (VERSION_BEFORE_RELEASE, 0):
            raise BeforeRelease
        if (version, zero) != (VERSION, 0):
            raise NotAReplay(f"version {version} of the file format is not known here")
        behind = _HEADER.size + length
        rest = len(data) - behind - _NAMES_LENGTH.size - _FOOTER.size
        if rest < 0:
            raise NotAReplay("the file was cut: the body is longer than what is there")
        (names_length,) = _NAMES_LENGTH.unpack_from(data, behind)
        if names_length != rest:
            what = "cut" if rest < names_length else "extended"
            raise NotAReplay(f"the file was {what}: its parts have other lengths than it says")
        names = behind + _NAMES_LENGTH.size
        return cls(data[: _HEADER.size], data[_HEADER.size : behind], data[names : names + rest], data[names + rest :])


def _read_body(data: bytes) -> replay_file_pb2.ReplayBody:
    _check_fields(data)
    body = _canonical(data)
    if not is_match_id(body.match_id):
        raise NotAReplay("a match is named by 1 to 100 visible ASCII characters")
    if not 1 <= len(body.events) <= MOST_EVENTS:
        raise NotAReplay(f"the body holds {len(body.events)} events, not 1 to {MOST_EVENTS}")
    if len(data) > LARGEST_EVENT and (
        max(map(len, body.events)) > LARGEST_EVENT or any(item.ByteSize() > LARGEST_EVENT for item in body.hidden)
    ):
        raise NotAReplay(f"an event, or what it hid, has more than {LARGEST_EVENT} bytes")
    if not all(item.HasField("hidden") for item in body.hidden):
        raise NotAReplay("a hidden outcome of the file has no message")
    if any(head.match_id != body.match_id for head in body.heads):
        raise NotAReplay("the file holds heads of another match")
    for what, sequences in (("hidden outcomes", body.hidden), ("heads", body.heads)):
        numbers = [item.sequence for item in sequences]
        if numbers != sorted(set(numbers)) or (numbers and not 1 <= numbers[0] <= numbers[-1] <= MOST_EVENTS):
            raise NotAReplay(f"the {what} are not those of ascending events from 1 to {MOST_EVENTS}")
    return body


def _canonical(data: bytes) -> replay_file_pb2.ReplayBody:
    """Parse a body; raises NotAReplay if it is not canonical or has unknown fields."""
    body = _parse(data)
    body.DiscardUnknownFields()
    if body.SerializeToString(deterministic=True) == data:
        return body
    # A parsed body may be many times its bytes; two of them at once would take too much memory.
    del body
    body = _parse(data)
    parts = (body.perspective, *body.hidden, *body.heads)
    if not _is_canonical(data, body, *parts) or any(_holds_unknown(item.hidden) for item in body.hidden):
        raise NotAReplay("the body has unknown or repeated fields, or fields out of order")
    return body


def _parse(data: bytes) -> replay_file_pb2.ReplayBody:
    try:
        return replay_file_pb2.ReplayBody.FromString(data)
    except DecodeError:
        raise NotAReplay("the body holds no replay") from None


def _is_canonical(data: bytes, message: Message, *parts: Message) -> bool:
    """Whether the bytes are the canonical form of a message, without unknown fields in it or its parts."""
    if any(len(UnknownFieldSet(part)) for part in (message, *parts)):
        return False
    return message.SerializeToString(deterministic=True) == data


def _holds_unknown(hidden: games_pb2.HiddenOutcome) -> bool:
    """Whether the hidden outcome of a known game has unknown fields.

    Hidden outcomes of unknown games are left to the audits of programs that know them.
    """
    if hidden.WhichOneof("game") is None:
        return False
    size = hidden.ByteSize()
    hidden.DiscardUnknownFields()
    return hidden.ByteSize() != size


def _check_fields(data: bytes) -> None:
    """Raise NotAReplay for a body with too many fields, before protobuf makes an object of each.

    A field takes two bytes, so a body of eight megabytes could ask for a gigabyte; a short body cannot.
    """
    if len(data) <= 2 * MOST_FIELDS:
        return
    at = 0
    for _ in range(MOST_FIELDS):
        if at >= len(data):
            return
        key, at = _varint(data, at)
        if key & 7 not in {_VARINT, _SIZED}:
            raise NotAReplay("the body holds no replay")
        value, at = _varint(data, at)
        if key & 7 == _SIZED:
            at += value
    raise NotAReplay(f"the body has more than {MOST_FIELDS} fields, which no match needs")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A varint and the offset after it; bytes after the end count as zeros."""
    value = 0
    for shift in range(0, 70, 7):
        byte = data[at] if at < len(data) else 0
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:  # noqa: PLR2004 - the continuation bit
            return value, at
    raise NotAReplay("the body holds no replay")


def _read_perspective(body: replay_file_pb2.ReplayBody) -> Perspective | None:
    if not body.HasField("perspective"):
        return None
    kind = body.perspective.kind
    if kind == table_pb2.PERSPECTIVE_KIND_SEAT and body.perspective.HasField("seat"):
        return body.perspective.seat
    watchers = {table_pb2.PERSPECTIVE_KIND_PUBLIC: Watcher.PUBLIC, table_pb2.PERSPECTIVE_KIND_JUDGE: Watcher.JUDGE}
    if kind not in watchers or body.perspective.HasField("seat"):
        raise NotAReplay("the file does not say from which perspective it shows the match")
    return watchers[kind]


def _read_names(data: bytes, match_id: str) -> tuple[tuple[str, ...], Signed | None]:
    if not data:
        return (), None
    if not _SIGNATURE_BYTES < len(data) <= LARGEST_NAMES:
        raise NotAReplay(f"the names of a replay file have 65 to {LARGEST_NAMES} bytes")
    signature, named = data[:_SIGNATURE_BYTES], data[_SIGNATURE_BYTES:]
    try:
        names = replay_file_pb2.ReplayNames.FromString(named)
    except DecodeError:
        raise NotAReplay("the names cannot be read") from None
    if not _is_canonical(named, names) or names.match_id != match_id:
        raise NotAReplay("the names are not those of this match")
    if not any(names.names):
        raise NotAReplay("the names are all empty; a file without names has none at all")
    return tuple(names.names), Signed(_NAMES_LABEL + named, signature)
