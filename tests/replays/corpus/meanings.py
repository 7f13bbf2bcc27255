"""Ambiguous files, all signed by the service's own keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from rollbook.match.chain import sign_head
from rollbook.match.events import Chosen, Happened, Sealed
from rollbook.replay_file.container import Head, Replay
from rollbook.replay_file.key_lines import key_id
from rollbook.rules.allie_gator.moves import Drawn
from rollbook.rules.game import Watcher
from rollbook.v1 import events_pb2 as proto
from tests.match.played import SECRET
from tests.replays import test_one_meaning as meaning
from tests.replays import test_steps as steps
from tests.replays.corpus.forged import GAMES, UNKNOWN_FIELD, match
from tests.replays.corpus.sample import EXACT, UNREADABLE, UNVERIFIED, Said, Sample, diverged, of_replay, sample
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
from tests.replays.test_every_bit import aborted, played

MESSAGES_OF_A_FILE: Final = (
    "ReplayBody",
    "perspective",
    "hidden",
    "hidden.hidden",
    "hidden.hidden.allie_gator",
    "heads",
    "ReplayNames",
)


def unknown_fields() -> Iterator[Sample]:
    """Yield a file for each message with an unknown field, and for each wire type of one in the body."""
    hiding = replace(match("allie_gator"), perspective=Watcher.PUBLIC)
    for which, place in enumerate(MESSAGES_OF_A_FILE):
        body, names = body_and_names(hiding)
        [*meaning.messages(body), *meaning.messages(names)][which][1].MergeFromString(UNKNOWN_FIELD)
        packed, named = (message.SerializeToString(deterministic=True) for message in (body, names))
        yield sample(f"file-{place}", file_of(packed, footer_of(hiding), named), UNREADABLE)
    for kind, unknown in meaning.UNKNOWN.items():
        body, _ = body_and_names(match())
        data = body.SerializeToString(deterministic=True) + unknown
        yield sample(f"body-{kind.replace(' ', '-')}", file_of(data, footer_of(match())), UNREADABLE)
    seen: set[str] = set()
    for game in GAMES:
        replay = match(game)
        for index, data in enumerate(replay.events):
            for which, (path, message) in enumerate(meaning.messages(proto.Event.FromString(data))):
                if message.DESCRIPTOR.full_name not in seen:
                    seen.add(message.DESCRIPTOR.full_name)
                    event = proto.Event.FromString(data)
                    list(meaning.messages(event))[which][1].MergeFromString(UNKNOWN_FIELD)
                    spoilt = relinked(replay, index, event.SerializeToString(deterministic=True))
                    yield sample(f"event-{game}-{path}", spoilt, diverged("container", index + 1))
    (number, *_), later = hiding.private, b"\x12\x07" + UNKNOWN_FIELD
    spoilt = replace(match("allie_gator"), private={**hiding.private, number: later})
    yield sample("hidden-of-a-later-game", spoilt, diverged("hidden", number), UNVERIFIED)
    unknown_game = meaning.opened(lambda said: setattr(said, "game", "later"), spoilt)
    yield sample("hidden-of-a-later-game-in-one", unknown_game, UNVERIFIED)


SPOILS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "the-sequence-twice": lambda data: data + data[:2],
    "the-sequence-last": lambda data: data[2:] + data[:2],
    "a-longer-number": lambda data: data[:1] + bytes([data[1] | 0x80, 0]) + data[2:],
    "a-default-value": lambda data: data + b"\x2a\x00",
    "cut": lambda data: data[:-2],
    "nothing": lambda data: data[:0],
}


def other_ways() -> Iterator[Sample]:
    """Yield events, and a body, that are not written in the canonical way."""
    whole = match()
    for name, spoil in SPOILS.items():
        for index in (0, 6):
            spoilt = relinked(whole, index, spoil(whole.events[index]))
            yield sample(f"event-{index + 1}-{name}", spoilt, diverged("container", index + 1))
        body, _ = body_and_names(whole)
        if name != "a-default-value":
            data = spoil(body.SerializeToString(deterministic=True))
            yield sample(f"body-{name}", file_of(data, footer_of(whole)), UNREADABLE)
    yield sample("shortest", played(), EXACT)
    yield sample("aborted", aborted(), EXACT)
    data = of_replay(aborted())
    for at in (0, 8, 12, 15, 20, len(data) - 110, len(data) - 107, len(data) - 80, len(data) - 70, len(data) - 1):
        flipped = bytearray(data)
        flipped[at] ^= 1
        unreadable = at in {0, 8, 12, 15, len(data) - 110}
        # Count, last link, key id, signature; the body has the match id, which must equal that of the heads.
        said = {20: UNREADABLE, len(data) - 70: UNVERIFIED}.get(at, diverged("container", None))
        yield sample(f"flipped-{at}", bytes(flipped), UNREADABLE if unreadable else said)
    for length in (0, 7, 8, 15, 16, 127, 128, 200, len(data) - 109, len(data) - 1):
        yield sample(f"cut-to-{length}", data[:length], UNREADABLE)
    yield sample("extended", data + b"\0", UNREADABLE)


def names_and_eyes() -> Iterator[Sample]:
    """Yield files with wrong names or perspectives."""
    whole, hiding = match(), match("allie_gator")
    named: list[tuple[tuple[str, ...], Said]] = [
        (("Anna", "", "Willi"), EXACT),
        (("", "", ""), UNREADABLE),
        (("",), UNREADABLE),
        (("Anna", ""), diverged("container", None)),
        (("Anna", "Tom", "Willi", ""), diverged("container", None)),
    ]
    for number, (each, said) in enumerate(named):
        body, names = body_and_names(replace(whole, names=each))
        packed, written = (message.SerializeToString(deterministic=True) for message in (body, names))
        yield sample(f"names-{number}", file_of(packed, footer_of(whole), written), said)
    body, names = body_and_names(whole)
    names.match_id = "n"
    packed, written = (message.SerializeToString(deterministic=True) for message in (body, names))
    yield sample("names-of-another-match", file_of(packed, footer_of(whole), written), UNREADABLE)
    body.heads[0].match_id = "n"
    yield sample("heads-of-another-match", _file(body, whole), UNREADABLE)
    perspectives: list[tuple[str, Any, Said]] = [
        ("public", Watcher.PUBLIC, EXACT),
        ("judge", Watcher.JUDGE, EXACT),
        ("seat-2", 2, EXACT),
        ("seat-3", 3, diverged("container", None)),
        ("seat-minus-1", -1, diverged("container", None)),
    ]
    some = dict(list(hiding.private.items())[::2])
    for name, perspective, said in perspectives:
        yield sample(f"sealed-for-{name}", replace(hiding, perspective=perspective), said)
    seen = replace(hiding, perspective=2)
    yield sample("sealed-with-some-hidden", replace(seen, private=some), UNVERIFIED)
    other = {**some, max(some): some[min(some)]}
    yield sample("sealed-with-other-hidden", replace(seen, private=other), diverged("hidden", max(some)), UNVERIFIED)
    number = max(hiding.private)
    less = {each: hidden for each, hidden in hiding.private.items() if each != number}
    yield sample("nobodys-eyes-lack-cards", replace(hiding, private=less), diverged("hidden", number), UNVERIFIED)
    yield sample("nobodys-eyes-lack-the-seal", meaning.cut(hiding, 60, None), diverged("seal", 60))
    for kind, seat in ((0, None), (4, None), (1, 0), (3, 0), (2, None)):
        body, _ = body_and_names(whole)
        body.perspective.SetInParent()
        body.perspective.kind = kind  # type: ignore[assignment]  # also invalid numbers
        if seat is not None:
            body.perspective.seat = seat
        yield sample(f"eyes-{kind}-{seat}", _file(body, whole), UNREADABLE)


def _file(body: Any, replay: Replay) -> bytes:
    return file_of(body.SerializeToString(deterministic=True), footer_of(replay))


def ends() -> Iterator[Sample]:
    """Yield logs that were cut, and logs with data for events beyond their end."""
    whole, hiding = match(), match("allie_gator")
    count = len(whole.events)
    running = meaning.cut(whole, 50)
    yield sample("running", running, UNVERIFIED)
    yield sample("running-head-beyond", replace(running, heads=whole.heads), diverged("heads", count))
    yield sample(
        "running-heads-beyond", replace(running, heads=(*running.heads, *whole.heads)), diverged("heads", count)
    )
    lines = [*taken_apart(whole)[:50], Line(Sealed(None, "by_operator", SECRET), 1_800_000_000_000)]
    ended = put_together(lines, SERVICE)
    yield sample("sealed-heads-beyond", replace(ended, heads=(*ended.heads, *whole.heads)), diverged("heads", count))
    beyond = min(number for number in hiding.private if number > 60)
    yield sample("hidden-beyond", replace(meaning.cut(hiding, 60), private=hiding.private), diverged("hidden", beyond))
    for sequence in (0, 10_001, 2**64 - 1):
        for part in ("heads", "hidden"):
            body, _ = body_and_names(hiding)
            for item in getattr(body, part)[:-1]:
                getattr(body, part).remove(item)
            getattr(body, part)[0].sequence = sequence
            yield sample(f"{part}-of-event-{sequence}", _file(body, hiding), UNREADABLE)
    lost: list[tuple[str, int, Said]] = [
        ("heads", 60, EXACT),
        ("heads", 2**64 - 1, EXACT),
        ("replays", 60, diverged("result", 51)),
        ("heads", 50, diverged("result", 51)),
        ("heads", 0, diverged("container", 51)),
    ]
    for signer, sequence, said in lost:
        key = getattr(SERVICE, signer)
        link = bytes(32) if sequence != 50 else head_of(whole.match_id, whole.events, 50, SERVICE).link
        head = Head(sequence, link, key_id(key.public_key()), sign_head(key, whole.match_id, sequence, link))
        lines = taken_apart(whole)[:50]
        lines.append(Line(Sealed(None, "log_lost", SECRET, head), lines[-1].time_ms))
        yield sample(f"lost-log-by-{signer}-{sequence}", put_together(lines, SERVICE), said)
    flat = [replace(line, request=b"") for line in taken_apart(whole)]
    yield sample("no-requests", put_together(flat, SERVICE), EXACT)
    for size in (1, 15, 17):
        lines = taken_apart(whole)
        index = first(lines, Chosen, lambda event: not event.by_caretaker)
        lines[index] = replace(lines[index], request=bytes(size))
        yield sample(f"request-of-{size}", put_together(lines, SERVICE), diverged("lifecycle", index + 1))


def first_events() -> Iterator[Sample]:
    """Yield valid and invalid contents of event 1."""
    for number, (fields, (verdict, check, event, _)) in enumerate(meaning.FIRST):

        def change(said: proto.Opened, fields: dict[str, Any] = fields) -> None:
            for name, value in fields.items():
                setattr(said, name, value)

        (field,) = fields
        # Only the rules know the possible numbers of seats; zero seats show at the first `seat_taken`.
        without = (
            {"seats": diverged("lifecycle", 2)}.get(field)
            if fields != {"seats": 2**31 - 1}
            else diverged("lifecycle", 5)
        )
        yield sample(f"{field.replace('_', '-')}-{number}", meaning.opened(change), (verdict, check, event), without)
    left_out = meaning.opened(lambda said: said.options.cant_stop.ClearField("hasty"))
    yield sample("an-option-left-out", left_out, diverged("container", 1))
    later = meaning.opened(lambda said: setattr(said, "ruleset", 9))
    yield sample("another-ruleset-around", replace(later, ruleset=1), diverged("container", None))
    yield sample("another-game-around", replace(later, game="raffzahn"), diverged("container", None))
    for size in (32, 33, 0):
        replay = replay_of(eventful(secret=bytes(size), brief=True))
        said = EXACT if size == 32 else diverged("commitment", len(replay.events))
        yield sample(f"a-secret-of-{size}", replay, said)


def numbers() -> Iterator[Sample]:
    """Yield negative and huge numbers."""
    replay, hiding = match(), match("allie_gator")
    lines = taken_apart(replay)
    for path, kind, sort, check in meaning.NUMBERS:
        index = first(lines, kind, lambda event: not getattr(event, "by_caretaker", False))
        for number in meaning.LARGEST[sort]:
            name = f"{path.rpartition('.')[2].replace('_', '-')}-{path.count('.')}-{number}"
            said = diverged(check, index + 1)
            without: Said | None = said
            if path == "chosen.charged_ms":
                without = UNVERIFIED
            elif path == "time_ms":
                without = diverged("clocks", index + 2)
            yield sample(name, meaning.changed(replay, index, path, number), said, without)
    last = len(replay.events) - 1
    for number, places in enumerate(([-1, 1, 2], [2**31 - 1] * 3, [0, 0, 0], [1, 2, 3, 4])):
        spoilt = meaning.changed(replay, last, "sealed.places.places", places)
        yield sample(f"places-{number}", spoilt, diverged("result", last + 1), UNVERIFIED)
    index = first(taken_apart(hiding), Happened, lambda event: isinstance(event.outcome, Drawn))
    path = "happened.outcome.allie_gator.draw.count"
    for count, check in ((-1, "container"), (0, "draws"), (99, "draws"), (3 * 10**8, "draws")):
        spoilt = meaning.changed(hiding, index, path, count)
        without = None if check == "container" else UNVERIFIED
        yield sample(f"count-{count}", spoilt, diverged(check, index + 1), without)
    spoilt, said = meaning.changed(hiding, index, path, 4), diverged("draws", index + 1)
    yield sample("count-running", meaning.cut(spoilt, index + 5), said, UNVERIFIED)
    yield sample("count-running-hidden", replace(meaning.cut(spoilt, index + 5), private={}), said, UNVERIFIED)
    other = {**hiding.private, index + 1: hiding.private[max(hiding.private)]}
    other = {number: hidden for number, hidden in other.items() if number <= index + 5}
    running = replace(meaning.cut(hiding, index + 5), private=other)
    yield sample("cards-running", running, diverged("hidden", index + 1), UNVERIFIED)
    yield sample("cards-running-hidden", replace(running, private={}), UNVERIFIED)


def several() -> Iterator[Sample]:
    """Yield events and files with several errors: readers report the first step."""
    spoilt: dict[str, tuple[Any, Sequence[tuple[Any, Any]]]] = {
        "opened": (steps.of_opened, steps.OPENED),
        "seat-taken": (steps.of_seat_taken, steps.SEAT_TAKEN),
        "ready": (steps.of_ready, steps.READY),
        "chosen": (steps.of_chosen, steps.CHOSEN),
        "happened": (steps.of_happened, steps.HAPPENED),
        "sealed": (steps.of_sealed, steps.SEALED),
    }
    for kind, (honest, faults) in spoilt.items():
        for mended, (check, _) in enumerate(faults):
            forgery = honest()
            spoils = [spoil for _, spoil in faults[mended:]]
            for spoil in sorted(
                spoils, key=lambda spoil: steps.INSERTING.index(spoil) if spoil in steps.INSERTING else 9
            ):
                spoil(forgery)
            said = diverged(check.value, forgery.at + 1)
            # Without rules a reader reports the first remaining error that needs no rules.
            left = [each.value for each, _ in faults[mended:]]
            seen = next(each for each in left if not (each in NEED_RULES and kind in {"chosen", "happened"}))
            if kind == "chosen" and check.value in {"choices", "clocks"}:
                seen = "lifecycle"  # only rules know the charge of a wait, but a caretaker is never charged
            yield sample(f"{kind}-{mended}-{check.value}", forgery.replay(), said, diverged(seen, forgery.at + 1))
    for mended, (check, _, event) in enumerate(steps.BEHIND):
        file = steps.honest_file()
        for number, (_, spoil, _) in enumerate(steps.BEHIND):
            if number >= mended and not (mended == 0 and spoil is steps.BEHIND[6][1]):
                spoil(file)
        said = diverged(check.value, event(file))
        yield sample(f"file-{mended}-{check.value}", file.written(), said, heads=tuple(file.heads))


NEED_RULES: Final = {"turns", "caretaker", "choices", "draws", "hidden"}
