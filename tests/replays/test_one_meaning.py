"""Ambiguous files have one verdict each, defined by `replays/FORMAT.md`.

All files are signed with the service's own keys, so only the content reveals the error, and `rollbook audit` judges
them with both keys.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest
from google.protobuf.message import Message

from rollbook.match.chain import sign_head
from rollbook.match.dice import commitment
from rollbook.match.events import Chosen, Happened, Sealed
from rollbook.replay_file.container import Head, NotAReplay, Replay, without_names, write
from rollbook.replay_file.key_lines import key_id
from rollbook.rules.allie_gator.moves import Drawn
from rollbook.rules.catalogue import current
from rollbook.rules.game import Watcher
from rollbook.v1 import events_pb2 as proto
from rollbook_replays.commands.audit import audit
from tests.match.played import SECRET
from tests.replays.forging import (
    SERVICE,
    Line,
    body_and_names,
    eventful,
    file_of,
    first,
    footer_of,
    head_of,
    put_together,
    relinked,
    replay_of,
    taken_apart,
)

Found: TypeAlias = tuple[str, str | None, int | None, int]
"""Verdict, check, event and exit code."""

EXACT: Final[Found] = ("exact", None, None, 0)
UNVERIFIED: Final[Found] = ("unverified", None, None, 2)
UNREADABLE: Final[Found] = ("unreadable", None, None, 3)

UNKNOWN: Final = {
    "number": b"\xf8\x07\x01",
    "name": b"\xfa\x07\x04Anna",
    "eight bytes": b"\xf9\x07" + bytes(8),
    "four bytes": b"\xfd\x07" + bytes(4),
    "group": b"\xfb\x07\xfc\x07",
}
"""Field 127, which no message has, in every wire type."""

GAMES: Final = tuple(current())
MATCHES: Final = {game: replay_of(eventful(game, brief=True)) for game in GAMES}


def diverged(check: str, event: int | None) -> Found:
    """The result for a file that diverged."""
    return ("diverged", check, event, 1)


@pytest.fixture
def verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[bytes | Replay], Found]:
    """A function that runs `rollbook audit` on a file or a replay and returns its result."""
    keys, file = tmp_path / "KEY.pub", tmp_path / "match.rollbook"
    keys.write_text(SERVICE.public)

    def verdict(what: bytes | Replay) -> Found:
        file.write_bytes(write(what, SERVICE.replays) if isinstance(what, Replay) else what)
        code = audit(file, key=[keys], jobs=1, as_json=True)
        told = json.loads(capsys.readouterr().out)
        return told["verdict"], told["check"], told["event"], code

    return verdict


Judge: TypeAlias = Callable[[bytes | Replay], Found]


def messages(message: Message, path: str = "") -> Iterator[tuple[str, Message]]:
    """Yield a message and all nested ones, the first of each list."""
    yield path or message.DESCRIPTOR.name, message
    for field, value in message.ListFields():
        if field.message_type is not None:
            inner = value[0] if field.is_repeated else value
            yield from messages(inner, f"{path}.{field.name}" if path else field.name)


# Unknown fields


@pytest.mark.parametrize("unknown", UNKNOWN)
def test_an_unknown_field_in_any_message_of_the_file_is_no_replay(unknown: str, verdict: Judge) -> None:
    """Protobuf ignores and keeps unknown fields, so they could hide data."""
    replay = replace(MATCHES["allie_gator"], perspective=1, names=("Anna", "Tom", "Willi"))

    def spoilt(which: int | None) -> tuple[str, bytes]:
        body, names = body_and_names(replay)
        found = [*messages(body), *messages(names)]
        if which is not None:
            found[which][1].MergeFromString(UNKNOWN[unknown])
        packed, named = (message.SerializeToString(deterministic=True) for message in (body, names))
        return found[which or 0][0], file_of(packed, footer_of(replay), named)

    assert EXACT == verdict(spoilt(None)[1])
    places = (
        "ReplayBody",
        "perspective",
        "hidden",
        "hidden.hidden",
        "hidden.hidden.allie_gator",
        "heads",
        "ReplayNames",
    )
    found = [spoilt(which) for which in range(len(places))]
    assert dict.fromkeys(places, UNREADABLE) == {place: verdict(data) for place, data in found}


def test_a_hidden_outcome_of_a_game_that_nobody_knows_is_left_to_the_rules(verdict: Judge) -> None:
    """Later programs may list more games; with known rules only their own outcome is valid."""
    replay = MATCHES["allie_gator"]
    number = min(replay.private)
    later = proto.Private.FromString(b"\x12" + bytes([len(UNKNOWN["name"])]) + UNKNOWN["name"])
    spoilt = replace(replay, private={**replay.private, number: later.SerializeToString(deterministic=True)})
    assert diverged("hidden", number) == verdict(spoilt)
    unknown = opened(lambda said: setattr(said, "game", "later"), spoilt)
    assert UNVERIFIED == verdict(unknown)


@pytest.mark.parametrize("game", GAMES)
def test_an_unknown_field_in_any_message_of_an_event_is_no_event(game: str, verdict: Judge) -> None:
    """The match has every kind of event, and each kind of message is tried once."""
    replay, seen = MATCHES[game], set()
    for index, data in enumerate(replay.events):
        for which, (path, _) in enumerate(messages(proto.Event.FromString(data))):
            if path not in seen:
                seen.add(path)
                event = proto.Event.FromString(data)
                list(messages(event))[which][1].MergeFromString(UNKNOWN["name"])
                spoilt = relinked(replay, index, event.SerializeToString(deterministic=True))
                assert diverged("container", index + 1) == verdict(spoilt), path
    assert {f"chosen.choice.{game}", f"opened.options.{game}", f"happened.outcome.{game}"} <= seen


def test_names_are_not_taken_out_of_a_file_that_could_have_them_elsewhere() -> None:
    """A name could remain in an unknown field."""
    replay = replace(MATCHES["cant_stop"], names=("Anna", "Tom", "Willi"))
    body, names = body_and_names(replay)
    body.heads[0].MergeFromString(UNKNOWN["name"])
    packed, named = (message.SerializeToString(deterministic=True) for message in (body, names))
    with pytest.raises(NotAReplay, match="unknown or repeated fields"):
        without_names(file_of(packed, footer_of(replay), named))
    for name in replay.names:
        assert name.encode() not in without_names(write(replay, SERVICE.replays))


# Names and perspectives


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (("Anna", "", "Willi"), EXACT),
        (("", "", "Willi"), EXACT),
        (("", "", ""), UNREADABLE),
        (("",), UNREADABLE),
        (("Anna", ""), diverged("container", None)),
        (("Anna", "Tom", "Willi", ""), diverged("container", None)),
    ],
)
def test_names_are_those_of_all_seats_and_not_all_empty(names: Sequence[str], found: Found, verdict: Judge) -> None:
    """A seat may have no name, but if no seat has one, the part is empty."""
    replay = MATCHES["cant_stop"]
    body, named = body_and_names(replay)
    named.names.extend(names)
    packed = body.SerializeToString(deterministic=True)
    assert found == verdict(file_of(packed, footer_of(replay), named.SerializeToString(deterministic=True)))


def test_names_that_are_all_empty_are_not_written() -> None:
    """A match with empty names is written without a names part, so it has one encoding."""
    replay = MATCHES["cant_stop"]
    assert write(replay, SERVICE.replays) == write(replace(replay, names=("", "", "")), SERVICE.replays)


@pytest.mark.parametrize(
    ("perspective", "found"),
    [
        (Watcher.PUBLIC, EXACT),
        (Watcher.JUDGE, EXACT),
        (2, EXACT),
        (3, diverged("container", None)),
        (-1, diverged("container", None)),
        (2**31 - 1, diverged("container", None)),
    ],
)
def test_a_sealed_file_may_have_been_seen_by_somebody(perspective: Any, found: Found, verdict: Judge) -> None:
    """With a perspective a sealed file is exact if it hides nothing, else unverified."""
    replay = replace(MATCHES["allie_gator"], perspective=perspective)
    assert found == verdict(replay)
    some = dict(list(replay.private.items())[::2])
    if found == EXACT:
        assert UNVERIFIED == verdict(replace(replay, private=some))
        number = max(some)
        assert diverged("hidden", number) == verdict(replace(replay, private={**some, number: some[min(some)]}))


def test_a_file_of_nobodys_eyes_lacks_nothing(verdict: Judge) -> None:
    """A file without a perspective has all hidden outcomes and the seal."""
    replay = MATCHES["allie_gator"]
    number = max(replay.private)
    less = {other: hidden for other, hidden in replay.private.items() if other != number}
    assert diverged("hidden", number) == verdict(replace(replay, private=less))
    assert diverged("seal", 60) == verdict(cut(replay, 60, None))


@pytest.mark.parametrize("eyes", [(0, None), (4, None), (1, 0), (3, 0), (2, None)])
def test_eyes_that_nobody_has_are_no_replay(eyes: tuple[int, int | None], verdict: Judge) -> None:
    """An unknown kind, a missing seat, or a seat that the perspective may not have."""
    kind, seat = eyes
    body, _ = body_and_names(MATCHES["cant_stop"])
    body.perspective.SetInParent()
    body.perspective.kind = kind  # type: ignore[assignment]  # also invalid numbers
    if seat is not None:
        body.perspective.seat = seat
    assert UNREADABLE == verdict(file_of(body.SerializeToString(deterministic=True), footer_of(MATCHES["cant_stop"])))


# The end


def cut(replay: Replay, count: int, perspective: Any = Watcher.JUDGE) -> Replay:
    """The first events alone, with a head of the last."""
    events = replay.events[:count]
    private = {number: hidden for number, hidden in replay.private.items() if number <= count}
    head = head_of(replay.match_id, events, count, SERVICE)
    return replace(replay, events=events, private=private, heads=(head,), perspective=perspective)


def test_a_head_beyond_the_end_shows_that_the_log_was_cut(verdict: Judge) -> None:
    """A forger who cuts a log cannot cut a signed head, so the file diverges and is not just broken."""
    whole = MATCHES["cant_stop"]
    count = len(whole.events)
    running = cut(whole, 50)
    assert UNVERIFIED == verdict(running)
    assert diverged("heads", count) == verdict(replace(running, heads=whole.heads))
    assert diverged("heads", count) == verdict(replace(running, heads=(*running.heads, *whole.heads)))
    lines = [*taken_apart(whole)[:50], Line(Sealed(None, "by_operator", SECRET), 1_800_000_000_000)]
    sealed = put_together(lines, SERVICE)
    assert EXACT == verdict(sealed)
    assert diverged("heads", count) == verdict(replace(sealed, heads=(*sealed.heads, *whole.heads)))


def test_what_lies_beside_events_beyond_the_end_shows_it_as_well(verdict: Judge) -> None:
    """The first such entry is reported."""
    whole = MATCHES["allie_gator"]
    beyond = min(number for number in whole.private if number > 60)
    assert diverged("hidden", beyond) == verdict(replace(cut(whole, 60), private=whole.private))


@pytest.mark.parametrize("sequence", [0, 10_001, 2**63, 2**64 - 1])
def test_heads_and_hidden_outcomes_of_events_that_no_match_has_are_no_replay(sequence: int, verdict: Judge) -> None:
    """A log has at most 10,000 events."""
    replay = MATCHES["allie_gator"]
    for part in ("heads", "hidden"):
        body, _ = body_and_names(replay)
        for item in getattr(body, part)[:-1]:
            getattr(body, part).remove(item)
        getattr(body, part)[0].sequence = sequence
        assert UNREADABLE == verdict(file_of(body.SerializeToString(deterministic=True), footer_of(replay))), part


@pytest.mark.parametrize(
    ("key", "sequence", "found"),
    [
        ("heads", 60, EXACT),
        ("heads", 2**64 - 1, EXACT),
        ("replays", 60, diverged("result", 51)),
        ("heads", 50, diverged("result", 51)),
        ("heads", 0, diverged("container", 51)),
    ],
)
def test_a_lost_log_is_proved_by_a_head_of_another_log_by_a_head_key(
    key: str, sequence: int, found: Found, verdict: Judge
) -> None:
    """The file's key does not sign heads, so its thief cannot declare logs lost."""
    whole = MATCHES["cant_stop"]
    signer = getattr(SERVICE, key)
    last = bytes(32) if sequence != 50 else head_of(whole.match_id, whole.events, 50, SERVICE).link
    signature = sign_head(signer, whole.match_id, sequence, last)
    lost = Head(sequence, last, key_id(signer.public_key()), signature)
    lines = taken_apart(whole)[:50]
    lines.append(Line(Sealed(None, "log_lost", SECRET, lost), lines[-1].time_ms))
    assert found == verdict(put_together(lines, SERVICE))


# Event 1, and numbers


def opened(change: Callable[[proto.Opened], object], replay: Replay = MATCHES["cant_stop"]) -> Replay:
    """Return the match with a changed event 1; the body repeats the same game."""
    event = proto.Event.FromString(replay.events[0])
    change(event.opened)
    said = replace(replay, game=event.opened.game, ruleset=event.opened.ruleset)
    return relinked(said, 0, event.SerializeToString(deterministic=True))


FIRST: Final[list[tuple[dict[str, Any], Found]]] = [
    ({"envelope": 3}, UNVERIFIED),
    ({"envelope": 2**31 - 1}, UNVERIFIED),
    ({"envelope": 1}, UNVERIFIED),
    ({"envelope": 0}, diverged("container", 1)),
    ({"envelope": -1}, diverged("container", 1)),
    ({"fairness": "fair/2"}, UNVERIFIED),
    ({"fairness": "fair/1 "}, UNVERIFIED),
    ({"fairness": ""}, diverged("container", 1)),
    ({"game": "chess"}, UNVERIFIED),
    ({"game": ""}, diverged("container", 1)),
    ({"game": "raffzahn"}, diverged("container", 1)),
    ({"ruleset": 2}, UNVERIFIED),
    ({"ruleset": 2**31 - 1}, UNVERIFIED),
    ({"ruleset": 0}, diverged("container", 1)),
    ({"ruleset": -1}, diverged("container", 1)),
    ({"seats": 0}, diverged("container", 1)),
    ({"seats": -1}, diverged("container", 1)),
    ({"seats": 2**31 - 1}, diverged("container", 1)),
    ({"commitment": b""}, diverged("commitment", 1)),
    ({"commitment": bytes(33)}, diverged("commitment", 1)),
    ({"commitment": bytes(32)}, diverged("commitment", len(MATCHES["cant_stop"].events))),
    ({"turn_seconds": -1}, diverged("lifecycle", 1)),
    ({"turn_seconds": 0}, diverged("lifecycle", 1)),
    ({"idle_seconds": -(2**31)}, diverged("lifecycle", 1)),
    ({"idle_seconds": 2**31 - 1}, EXACT),
]


@pytest.mark.parametrize(("fields", "found"), FIRST, ids=[str(fields) for fields, _ in FIRST])
def test_event_1_says_what_it_says_or_is_no_event(fields: dict[str, Any], found: Found, verdict: Judge) -> None:
    """Values that a later program may write are unverified, others diverge."""

    def change(said: proto.Opened) -> None:
        for name, value in fields.items():
            setattr(said, name, value)

    assert found == verdict(opened(change))


def test_event_1_names_all_options(verdict: Judge) -> None:
    """A missing option would mean its default, and so have two encodings."""
    assert diverged("container", 1) == verdict(opened(lambda said: said.options.cant_stop.ClearField("hasty")))


def test_a_file_that_repeats_another_game_than_event_1_says_diverges_also_where_nobody_knows_it(verdict: Judge) -> None:
    """This comparison needs no rules."""
    replay = opened(lambda said: setattr(said, "ruleset", 9))
    assert UNVERIFIED == verdict(replay)
    assert diverged("container", None) == verdict(replace(replay, ruleset=1))
    assert diverged("container", None) == verdict(replace(replay, game="raffzahn"))


def test_a_secret_has_32_bytes(verdict: Judge) -> None:
    """A longer secret is refused even if it fits the commitment."""
    for secret, found in ((bytes(32), EXACT), (bytes(33), None), (b"", None)):
        replay = replay_of(eventful(secret=secret, brief=True))
        assert (found or diverged("commitment", len(replay.events))) == verdict(replay)
        assert commitment(secret) == proto.Event.FromString(replay.events[0]).opened.commitment


def changed(replay: Replay, index: int, path: str, value: Any) -> Replay:
    """Return the match with one field of one event changed."""
    event = proto.Event.FromString(replay.events[index])
    *inner, name = path.split(".")
    message: Any = event
    for part in inner:
        message = getattr(message, part)
    if isinstance(value, list):
        del getattr(message, name)[:]
        getattr(message, name).extend(value)
    else:
        setattr(message, name, value)
    return relinked(replay, index, event.SerializeToString(deterministic=True))


LARGEST: Final = {"int": [-1, -(2**31), 2**31 - 1], "uint": [2**63, 2**64 - 1]}
NUMBERS: Final = [
    ("sequence", Chosen, "uint", "chain"),
    ("time_ms", Chosen, "uint", "clocks"),
    ("seat", Chosen, "int", "lifecycle"),
    ("chosen.charged_ms", Chosen, "uint", "clocks"),
    ("happened.outcome.cant_stop.first_seat.seat", Happened, "int", "draws"),
]


@pytest.mark.parametrize(("path", "kind", "numbers", "check"), NUMBERS, ids=[path for path, *_ in NUMBERS])
def test_negative_and_huge_numbers_are_compared_like_others(
    path: str, kind: type, numbers: str, check: str, verdict: Judge
) -> None:
    """Numbers do not overflow."""
    replay = MATCHES["cant_stop"]
    lines = taken_apart(replay)
    index = first(lines, kind, lambda event: not getattr(event, "by_caretaker", False))
    for number in LARGEST[numbers]:
        assert diverged(check, index + 1) == verdict(changed(replay, index, path, number)), number


def test_places_and_hidden_counts_that_are_no_numbers_of_any_match_diverge(verdict: Judge) -> None:
    """No event has a negative count, and no draw has more cards than the game."""
    replay = MATCHES["cant_stop"]
    last = len(replay.events) - 1
    for places in ([-1, 1, 2], [2**31 - 1] * 3, [0, 0, 0], [1, 2, 3, 4]):
        assert diverged("result", last + 1) == verdict(changed(replay, last, "sealed.places.places", places))
    hiding = MATCHES["allie_gator"]
    index = first(taken_apart(hiding), Happened, lambda event: isinstance(event.outcome, Drawn))
    for count, check in ((-1, "container"), (0, "draws"), (99, "draws")):
        path = "happened.outcome.allie_gator.draw.count"
        assert diverged(check, index + 1) == verdict(changed(hiding, index, path, count)), count


def test_a_running_match_shows_draws_that_the_rules_do_not_await(verdict: Judge) -> None:
    """The wrong draw is reported first, also if its hidden part is missing or does not fit."""
    whole = MATCHES["allie_gator"]
    index = first(taken_apart(whole), Happened, lambda event: isinstance(event.outcome, Drawn))
    spoilt = changed(whole, index, "happened.outcome.allie_gator.draw.count", 4)
    assert diverged("draws", index + 1) == verdict(cut(spoilt, index + 5))
    assert diverged("draws", index + 1) == verdict(replace(cut(spoilt, index + 5), private={}))
    other = whole.private[max(whole.private)]
    assert diverged("hidden", index + 1) == verdict(
        replace(cut(whole, index + 5), private={**whole.private, index + 1: other})
    )
    assert UNVERIFIED == verdict(replace(cut(whole, index + 5), private={}))


# Requests


def test_no_event_needs_a_request(verdict: Judge) -> None:
    """Simulated matches have no requests, because a log proves choices, not requests."""
    lines = [replace(line, request=b"") for line in taken_apart(MATCHES["cant_stop"])]
    assert EXACT == verdict(put_together(lines, SERVICE))


@pytest.mark.parametrize("size", [1, 15, 17, 100])
def test_a_request_that_is_there_has_16_bytes(size: int, verdict: Judge) -> None:
    """Other lengths are no event."""
    lines = taken_apart(MATCHES["cant_stop"])
    index = first(lines, Chosen, lambda event: not event.by_caretaker)
    lines[index] = replace(lines[index], request=bytes(size))
    assert diverged("lifecycle", index + 1) == verdict(put_together(lines, SERVICE))
