"""A judge of bundles without rules, written from the pages alone: it imports no module of Rollbook.

The pages are `replays/BUNDLE.md` and `replays/FORMAT.md`. Options and standings need the rules and are not judged.
"""

from __future__ import annotations

import re
import struct
import tomllib
import zlib
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.replays.mini_audit import audit
from tests.replays.mini_file import event_of, holds, of_role, taken_apart
from tests.replays.mini_messages import Broken
from tests.replays.mini_reader import Keys, digest

ENTRY = re.compile(r"matches/([A-Za-z0-9_=-][A-Za-z0-9._=-]{0,99})\.rollbook")
SIGNATURE = re.compile(rb"([0-9a-f]{16}) ([0-9a-f]{128})\n")
LOCAL, LISTED, END = b"PK\3\4", b"PK\1\2", b"PK\5\6"

Faults = list[tuple[str, str]]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def archive(entries: dict[str, tuple[int, bytes]]) -> bytes:
    """Return the canonical archive of these entries, each with its given checksum."""
    made, listed = b"", b""
    for name, (crc, data) in entries.items():
        header = struct.pack("<5H3I2H", 20, 0, 0, 0, 33, crc, len(data), len(data), len(name), 0)
        listed += LISTED + struct.pack("<H", 788) + header
        listed += struct.pack("<3H2I", 0, 0, 0, 2175008768, len(made)) + name.encode()
        made += LOCAL + header + name.encode() + data
    count = len(entries)
    return made + listed + END + struct.pack("<4H2IH", 0, 0, count, count, len(listed), len(made), 0)


def entries_of(data: bytes) -> dict[str, tuple[int, bytes]]:
    """Return the entries of an archive; raises Broken."""
    entries: dict[str, tuple[int, bytes]] = {}
    at = 0
    while data.startswith(LOCAL, at):
        try:
            *_, crc, size, _, length, _ = struct.unpack_from("<5H3I2H", data, at + 4)
            name = data[at + 30 : at + 30 + length].decode("ascii")
        except (struct.error, UnicodeDecodeError):
            raise Broken from None
        if name in entries:
            raise Broken
        entries[name] = crc, data[at + 30 + length : at + 30 + length + size]
        at += 30 + length + size
    names = [*entries]
    ordered = names[:1] == ["manifest.toml"] and names[-1:] == ["SIGNATURE"] and names[1:-1] == sorted(names[1:-1])
    if not ordered or not all(map(ENTRY.fullmatch, names[1:-1])) or archive(entries) != data:
        raise Broken
    return entries


def judge(data: bytes, keys: Keys) -> tuple[str, Faults]:
    """Return the verdict and the faults with their places."""
    try:
        entries = entries_of(data)
        manifest = tomllib.loads(entries["manifest.toml"][1].decode())
        pairings = [pairing for each in manifest["rounds"] for pairing in each["pairings"]]
    except (Broken, ValueError, KeyError):
        return "unreadable", []
    signature = SIGNATURE.fullmatch(entries["SIGNATURE"][1])
    if signature is None:
        return "unreadable", []
    faults = [("signature", name) for name, (crc, entry) in entries.items() if zlib.crc32(entry) != crc]
    key_id = signature[1].decode()
    lines = "".join(
        f"{digest(entries[name][1]).hex()} {name}\n" for name in sorted(entries) if name != "SIGNATURE"
    ).encode()
    key = of_role(keys, key_id, "bundle")
    signed = b"rollbook/1/bundle" + digest(lines)
    if key is not None and not faults and not holds(key, bytes.fromhex(signature[2].decode()), signed):
        faults.append(("signature", key_id))
    faults += _of_matches(entries, manifest, pairings, keys)
    return "diverged" if faults else "unverified", faults


def _of_matches(
    entries: dict[str, tuple[int, bytes]], manifest: dict[str, Any], pairings: list[dict[str, Any]], keys: Keys
) -> Iterator[tuple[str, str]]:
    filed: dict[str, bytes] = {}
    for name, (_, data) in entries.items():
        named = ENTRY.fullmatch(name)
        if named is None:
            continue
        said = _match_of(data)
        if said in {None, named[1]}:
            filed[named[1]] = data
        else:
            yield "doubled", str(said)
    times = Counter(pairing["match"] for pairing in pairings)
    for match, count in times.items():
        if count > 1:
            yield "doubled", match
        if match not in filed:
            yield "missing", match
    yield from (("unlisted", match) for match in filed if match not in times)
    for pairing in {each["match"]: each for each in pairings}.values():
        if pairing["match"] in filed:
            faults = _of_match(filed[pairing["match"]], manifest, pairing["players"], keys)
            yield from ((fault, pairing["match"]) for fault in faults)


def _match_of(data: bytes) -> str | None:
    """Return the match id of a replay; None if it is none."""
    try:
        return taken_apart(data).match_id.decode()
    except (Broken, struct.error):
        return None


def _of_match(data: bytes, manifest: dict[str, Any], players: list[str], keys: Keys) -> Iterator[str]:
    """Yield the reasons why the match does not count."""
    if audit(data, keys)[0] in {"diverged", "unreadable"}:
        yield "match"
        return
    file = taken_apart(data)
    first, last = (event_of(1, file.events[at]) for at in (0, -1))
    opened = first.inner("opened")
    if (opened.text("game"), opened.number("ruleset")) != (manifest["game"], manifest["ruleset"]):
        yield "ruleset"
    elif opened.number("seats") != len(players):
        yield "players"
    if file.names is not None:
        names = [name.decode() for name in file.names.all("names") if isinstance(name, bytes)]
        if sorted(names) != sorted(players):
            yield "players"
    times = [EPOCH + timedelta(milliseconds=event.number("time_ms")) for event in (first, last)]
    if not manifest["begins"] <= times[0] <= times[1] <= manifest["ends"]:
        yield "time"
