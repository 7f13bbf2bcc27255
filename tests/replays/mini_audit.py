"""An audit without rules, written from `replays/FORMAT.md` alone: it imports no module of Rollbook.

It takes the steps that the page leaves to a reader without rules, and returns the first that fails.
"""

from __future__ import annotations

import struct

from tests.replays.mini_file import (
    LARGEST,
    PROTOS,
    File,
    Head,
    Wrong,
    check_chain,
    event_of,
    holds,
    is_signed,
    of_role,
    taken_apart,
)
from tests.replays.mini_messages import Broken, Read
from tests.replays.mini_reader import Keys, Trusted
from tests.replays.mini_table import Table

GAMES = {(game.name, 1) for game in PROTOS.messages["Choice"].fields.values() if game.name != "other"}
"""The games whose messages the proto files define."""

Found = tuple[str, str | None, int | None]
"""Verdict, check, event."""
UNVERIFIED: Found = ("unverified", None, None)
UNREADABLE: Found = ("unreadable", None, None)


def audit(data: bytes, keys: Keys, kept: tuple[Head, ...] = ()) -> Found:
    """Return the verdict of a reader without rules; it is never exact."""
    if data[8:12] == b"\x00\x01\x00\x00" and data[:8] == b"\x89ROLL\r\n\x1a" and 128 <= len(data) <= LARGEST:
        return UNVERIFIED
    try:
        file = taken_apart(data)
    except (Broken, struct.error):
        return UNREADABLE
    try:
        opened = _follow(file, keys)
        _check_behind(file, opened, keys, kept)
    except Wrong as wrong:
        check, event = wrong.args
        return "diverged", check, event
    return UNVERIFIED


def _follow(file: File, keys: Keys) -> Read | None:
    """Take the steps of every event; returns event 1, or None if a later program wrote it."""
    first = event_of(1, file.events[0]).inner("opened")
    if first.number("envelope") > 2 or first.number("envelope") == 1:
        return None
    game = (first.text("game"), first.number("ruleset"))
    spoken = game[0] and first.text("fairness") and game[1] >= 1
    if spoken and (game not in GAMES or first.text("fairness") != "fair/1"):
        before = 0
        for number, data in enumerate(file.events, start=1):
            event = event_of(number, data)
            check_chain(file, number, event)
            if event.number("time_ms") < before:
                raise Wrong("clocks", number)
            before = event.number("time_ms")
        return first
    table = Table(file, keys, first)
    for number in range(1, len(file.events) + 1):
        table.take(number)
    if not file.body.has("perspective") and not table.sealed:
        raise Wrong("seal", len(file.events))
    return first


def _check_behind(file: File, opened: Read | None, keys: Keys, kept: tuple[Head, ...]) -> None:
    """Take the steps from 16 on."""
    last, links = len(file.events), file.links
    for number in file.private:
        if number > last:
            raise Wrong("hidden", number)
    for head in file.heads:
        key = of_role(keys, head.key_id, "head")
        there = head.sequence <= last and links[head.sequence] == head.link and head.key_id != file.key_id
        if not there or (key is not None and not is_signed(key, head)):
            raise Wrong("heads", head.sequence)
    for head in kept:
        ends_before = head.sequence > last and file.body.has("perspective")
        fits = head.sequence <= last and links[head.sequence] == head.link
        if _accuses(file, head, keys) and not ends_before and not fits:
            raise Wrong("heads", head.sequence)
    _check_around(file, opened, of_role(keys, file.key_id, "replay"))


def _accuses(file: File, head: Head, keys: Keys) -> bool:
    """Whether a kept head is of this match, by a head key with the owner of the file's key."""
    owners = [of_role(keys, file.key_id, "replay")]
    owners += [of_role(keys, each.key_id, "head") for each in reversed(file.heads)]
    owner = next((each.name for each in owners if each is not None), None)
    key = of_role(keys, head.key_id, "head")
    if key is None or head.match_id != file.match_id or owner not in {None, key.name}:
        return False
    return is_signed(key, head)


def _check_around(file: File, opened: Read | None, replay: Trusted | None) -> None:
    """Take the steps from 19 on."""
    holding = [(file.count, file.last_link) == (len(file.events), file.links[-1])]
    if opened is not None:
        eyes, seats = file.body.inner("perspective"), opened.number("seats")
        same = ("game", "ruleset")
        holding.append([file.body.all(name) for name in same] == [opened.all(name) for name in same])
        holding.append(not eyes.has("seat") or 0 <= eyes.number("seat") < seats)
        holding.append(file.names is None or len(file.names.all("names")) == seats)
    if replay is not None:
        holding.append(holds(replay, file.signature, file.signed))
        if file.names is not None:
            holding.append(holds(replay, file.names_signature, b"rollbook/1/names" + file.names.data))
    if not all(holding):
        raise Wrong("container", None)
