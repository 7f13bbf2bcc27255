"""The parts of a replay file and their signatures, by `replays/FORMAT.md`: it imports no module of Rollbook."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.exceptions import InvalidSignature

from tests.replays.mini_messages import Broken, Protos, Read, split
from tests.replays.mini_reader import Keys, Trusted, digest

PROTOS = Protos(Path(__file__).parents[2] / "proto" / "rollbook" / "v1", "replay_file.proto", "events.proto")
PRIME = 2**255 - 19
CURVE = -121665 * pow(121666, -1, PRIME) % PRIME
LARGEST = 8 << 20
LARGEST_EVENT = 65_536
MOST_EVENTS = 10_000


class Wrong(Exception):
    """A step fails: its check, and the event."""


@dataclass(frozen=True)
class Head:
    """A signed head."""

    match_id: bytes
    sequence: int
    link: bytes
    key_id: str
    signature: bytes


def holds(trusted: Trusted, signature: bytes, message: bytes) -> bool:
    """Whether the key signed the message; points of small order and unreduced points are refused."""
    y = int.from_bytes(signature[:32], "little") & ((1 << 255) - 1)
    # The eight points of small order have y = 0 or y² = 1, or their double has y = 0.
    if y >= PRIME or y * (y**2 - 1) * (CURVE * y**4 + 2 * y**2 - 1) % PRIME == 0:
        return False
    try:
        trusted.key.verify(signature, message)
    except InvalidSignature:
        return False
    return True


@dataclass
class File:
    """The parts of a file."""

    body: Read
    names: Read | None
    names_signature: bytes
    signed: bytes
    count: int
    last_link: bytes
    key_id: str
    signature: bytes
    events: list[bytes] = field(default_factory=list)
    links: list[bytes] = field(default_factory=list)
    """The link before event 1 comes first."""

    @property
    def match_id(self) -> bytes:
        """The match id in the body."""
        return self.body.bytes("match_id")

    @property
    def private(self) -> list[int]:
        """The events that have private data."""
        return [each.number("sequence") for each in self.body.inners("hidden")]

    @property
    def heads(self) -> list[Head]:
        """The heads in the file."""
        return [
            Head(*(each.bytes("match_id"), each.number("sequence"), each.bytes("link")), *signer_of(each))
            for each in self.body.inners("heads")
        ]


def signer_of(head: Read) -> tuple[str, bytes]:
    """Return key id and signature of a head."""
    return head.text("key_id"), head.bytes("signature")


def need(holding: object) -> None:
    """Raise Broken unless the value is true."""
    if not holding:
        raise Broken


def taken_apart(data: bytes) -> File:
    """Return the parts of a file; raises Broken."""
    magic, version, zero, size = struct.unpack_from(">8sHHI", data)
    need((magic, version, zero) == (b"\x89ROLL\r\n\x1a", 2, 0) and len(data) <= LARGEST)
    (named,) = struct.unpack_from(">I", data, 16 + size)
    need(len(data) == 16 + size + 4 + named + 108)
    body, footer = data[16 : 16 + size], data[-108:]
    # Checked before decoding: a hidden part has at most ten bytes around it.
    need(all(len(value) <= LARGEST_EVENT + 10 for _, _, value in split(body) if isinstance(value, bytes)))
    need(PROTOS.is_canonical(body, "ReplayBody"))
    count, last_link, key_id, signature = struct.unpack(">I32s8s64s", footer)
    signed = b"rollbook/1/file" + digest(data[: 16 + size], footer[:44])
    read = Read(PROTOS, "ReplayBody", body)
    file = File(read, None, b"", signed, count, last_link, key_id.hex(), signature)
    if named:
        need(64 < named <= 4 << 10)
        file.names_signature, names = data[20 + size : 84 + size], data[84 + size : 20 + size + named]
        need(PROTOS.is_canonical(names, "ReplayNames"))
        file.names = Read(PROTOS, "ReplayNames", names)
        need(any(file.names.all("names")) and file.names.bytes("match_id") == file.match_id)
    _check_body(file)
    file.links = [digest(b"rollbook/1/genesis", file.match_id)]
    file.links += [digest(b"rollbook/1/link", event) for event in file.events]
    return file


def _check_body(file: File) -> None:
    body = file.body
    file.events = [event for event in body.all("events") if isinstance(event, bytes)]
    need(1 <= len(file.match_id) <= 100 and all(0x21 <= byte <= 0x7E for byte in file.match_id))
    need(1 <= len(file.events) <= MOST_EVENTS and max(map(len, file.events)) <= LARGEST_EVENT)
    need(all(each.has("hidden") and len(each.bytes("hidden")) <= LARGEST_EVENT for each in body.inners("hidden")))
    need(all(head.match_id == file.match_id for head in file.heads))
    for numbers in (file.private, [head.sequence for head in file.heads]):
        need(numbers == sorted(set(numbers)) and all(1 <= number <= MOST_EVENTS for number in numbers))
    if body.has("perspective"):
        eyes = body.inner("perspective")
        need(eyes.number("kind") in {1, 2, 3} and eyes.has("seat") == (eyes.number("kind") == 2))


def event_of(number: int, data: bytes) -> Read:
    """Return the event, or raise Wrong if the bytes are none."""
    try:
        PROTOS.check(data, "Event")
    except Broken:
        raise Wrong("container", number) from None
    return Read(PROTOS, "Event", data)


def check_chain(file: File, number: int, event: Read) -> None:
    """Take step 2."""
    if (event.number("sequence"), event.bytes("previous")) != (number, file.links[number - 1]):
        raise Wrong("chain", number)


def of_role(keys: Keys, key_id: str, role: str) -> Trusted | None:
    """Return the key if it is known and has this role."""
    try:
        key = keys.get(bytes.fromhex(key_id))
    except ValueError:
        return None
    return key if key is not None and key.role == role else None


def is_signed(key: Trusted, head: Head) -> bool:
    """Whether the key signed this head."""
    sized = struct.pack(">I", len(head.match_id)) + head.match_id
    said = b"rollbook/1/head" + sized + struct.pack(">Q", head.sequence) + head.link
    return holds(key, head.signature, said)
