"""If a file has several errors, every reader reports the first step of `replays/FORMAT.md`.

Each test breaks one event, or one file, in several compatible ways, and repairs them one by one in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pytest

from rollbook.match.chain import sign_head
from rollbook.match.events import Chosen, Happened, Ready, Resigned, Sealed, SeatTaken
from rollbook.replay_file.container import Head, Replay
from rollbook.replay_file.kept_heads import WitnessedHead
from rollbook.replay_file.key_lines import key_id
from rollbook.rules.allie_gator.moves import Drawn
from rollbook.rules.cant_stop.moves import Advance
from rollbook_replays.audit.audit import audit
from rollbook_replays.audit.verdicts import BEHIND_THE_EVENTS, OF_AN_EVENT, Audited, Check, Verdict
from tests.match.played import SECRET
from tests.replays.example import PAGE
from tests.replays.forging import (
    PUBLIC,
    SERVICE,
    Line,
    body_and_names,
    eventful,
    file_of,
    first,
    footer_of,
    head_of,
    judged,
    kept,
    put_together,
    relinked,
    replay_of,
    taken_apart,
)

UNKNOWN_FIELD: Final = b"\xf8\x07\x01"


def test_the_page_numbers_the_steps_as_they_are_taken() -> None:
    """The tests below show that the audit takes them in this order."""
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    steps = (*OF_AN_EVENT, *BEHIND_THE_EVENTS)
    assert [(str(number), check.value) for number, check in enumerate(steps, start=1)] == rows
    assert set(Check) == set(steps)


@dataclass
class Forgery:
    """A match with one broken event."""

    lines: list[Line]
    at: int
    """The index of the event."""
    spoilt: list[Callable[[bytes], bytes]] = field(default_factory=list)
    """Changes of its bytes, applied last."""
    private: dict[int, bytes] = field(default_factory=dict)

    def change(self, **fields: Any) -> None:
        """Change fields of the event."""
        self.lines[self.at] = replace(self.lines[self.at], event=replace(self.lines[self.at].event, **fields))

    def insert(self, *events: Any) -> None:
        """Insert events directly before it, at the time of the previous one."""
        time_ms = self.lines[self.at - 1].time_ms
        self.lines[self.at : self.at] = [Line(event, time_ms) for event in events]
        self.at += len(events)

    def replay(self) -> Replay:
        """Return the match, chained and signed."""
        replay = put_together(self.lines, SERVICE)
        data = replay.events[self.at]
        for spoil in self.spoilt:
            data = spoil(data)
        replay = relinked(replay, self.at, data)
        return replace(replay, private={**replay.private, **self.private})


Fault = Callable[[Forgery], object]


def not_canonical(forgery: Forgery) -> None:
    """An unknown field."""
    forgery.spoilt.append(lambda data: data + UNKNOWN_FIELD)


def behind_nothing(forgery: Forgery) -> None:
    """A wrong previous link."""
    forgery.spoilt.append(
        lambda data: re.sub(rb"\x1a\x20.{32}", b"\x1a\x20" + bytes(32), data, count=1, flags=re.DOTALL)
    )


def behind_a_seal(forgery: Forgery) -> None:
    """A seal with a lost log before the event."""
    signature = sign_head(SERVICE.heads, forgery.lines[0].event.match_id, 9_000, bytes(32))
    lost = Head(9_000, bytes(32), key_id(SERVICE.heads.public_key()), signature)
    forgery.insert(Sealed(None, "log_lost", SECRET, lost))


def behind_the_last_players_resignation(forgery: Forgery) -> None:
    """Resignations before the event, after which only a seal may follow."""
    there = {line.event.seat for line in forgery.lines[: forgery.at] if isinstance(line.event, Resigned)}
    forgery.insert(*(Resigned(seat) for seat in (1, 2) if seat not in there))


def too_early(forgery: Forgery) -> None:
    """A time before that of the previous event."""
    at = forgery.at
    forgery.lines[at] = replace(forgery.lines[at], time_ms=forgery.lines[at - 1].time_ms - 1)


def short_request(forgery: Forgery) -> None:
    """A request of fifteen bytes."""
    forgery.lines[forgery.at] = replace(forgery.lines[forgery.at], request=bytes(15))


FORM: Final[list[tuple[Check, Fault]]] = [(Check.CONTAINER, not_canonical), (Check.CHAIN, behind_nothing)]
REQUEST: Final[tuple[Check, Fault]] = (Check.LIFECYCLE, short_request)


def of_chosen() -> Forgery:
    """Return a match, broken at a choice that a player made in time."""
    lines = taken_apart(replay_of(eventful(brief=True)))
    at = first(lines, Chosen, lambda event: isinstance(event.choice, Advance) and not event.by_caretaker, after=30)
    return Forgery(lines, at)


CHOSEN: Final[list[tuple[Check, Fault]]] = [
    *FORM,
    (Check.SEAL, behind_a_seal),
    (Check.LIFECYCLE, behind_the_last_players_resignation),
    (Check.TURNS, lambda forgery: forgery.change(seat=(forgery.lines[forgery.at].event.seat + 1) % 3)),
    (Check.CARETAKER, lambda forgery: forgery.change(by_caretaker=True)),
    (Check.CHOICES, lambda forgery: forgery.change(choice=Advance((2, 12)))),
    (Check.CLOCKS, lambda forgery: forgery.change(charged_ms=forgery.lines[forgery.at].event.charged_ms + 1)),
    REQUEST,
]


def of_happened() -> Forgery:
    """Return a match, broken at a draw into a hand."""
    lines = taken_apart(replay_of(eventful("allie_gator", brief=True)))

    def is_alone(index: int) -> bool:
        event = lines[index].event
        drawn = isinstance(event, Happened) and isinstance(event.outcome, Drawn)
        return drawn and isinstance(lines[index - 1].event, Chosen) and isinstance(lines[index + 1].event, Chosen)

    return Forgery(lines, next(filter(is_alone, range(30, len(lines)))))


def other_draw(**fields: Any) -> Fault:
    """Return a fault that changes fields of the outcome."""
    return lambda forgery: forgery.change(outcome=replace(forgery.lines[forgery.at].event.outcome, **fields))


def a_second_time(forgery: Forgery) -> None:
    """Repeat the outcome of the event."""
    forgery.insert(forgery.lines[forgery.at].event)


INSERTING: Final[list[Fault]] = [a_second_time, behind_the_last_players_resignation, behind_a_seal]
"""Faults that insert events, applied first and in this order."""


HAPPENED: Final[list[tuple[Check, Fault]]] = [
    *FORM,
    (Check.SEAL, behind_a_seal),
    (Check.LIFECYCLE, behind_the_last_players_resignation),
    (Check.TURNS, a_second_time),
    (Check.DRAWS, lambda forgery: other_draw(seat=(forgery.lines[forgery.at].event.outcome.seat + 1) % 3)(forgery)),
    (Check.HIDDEN, other_draw(cards=(1,))),
    (Check.CLOCKS, too_early),
    REQUEST,
]


def of_ready() -> Forgery:
    """Return a match, broken at the readiness of a seat."""
    lines = taken_apart(replay_of(eventful(brief=True)))
    return Forgery(lines, first(lines, Ready))


READY: Final[list[tuple[Check, Fault]]] = [
    *FORM,
    (Check.SEAL, behind_a_seal),
    (Check.LIFECYCLE, lambda forgery: forgery.change(seat=7)),
    (Check.ENTROPY, lambda forgery: forgery.change(entropy=bytes(15))),
    (Check.CLOCKS, too_early),
    REQUEST,
]


def of_seat_taken() -> Forgery:
    """Return a match, broken at the second `seat_taken`."""
    lines = taken_apart(replay_of(eventful(brief=True)))
    return Forgery(lines, first(lines, SeatTaken, after=1))


SEAT_TAKEN: Final[list[tuple[Check, Fault]]] = [
    *FORM,
    (Check.SEAL, behind_a_seal),
    (Check.LIFECYCLE, lambda forgery: forgery.change(seat=0)),
    (Check.ENTROPY, lambda forgery: forgery.change(entropy_commitment=bytes(31))),
    (Check.CLOCKS, too_early),
    REQUEST,
]


def of_sealed() -> Forgery:
    """Return a match, broken at a seal with a lost log."""
    lines = taken_apart(replay_of(eventful(brief=True)))
    honest = put_together(lines, SERVICE)
    lost = head_of(honest.match_id, honest.events, 60, SERVICE)
    lines[50:] = [Line(Sealed(None, "log_lost", SECRET, lost), lines[49].time_ms)]
    return Forgery(lines, 50)


def lost_by_the_files_key(forgery: Forgery) -> None:
    """Use a head that the replay key signed as evidence."""
    lost = forgery.lines[forgery.at].event.lost
    forgery.change(lost=replace(lost, key_id=key_id(SERVICE.replays.public_key())))


SEALED: Final[list[tuple[Check, Fault]]] = [
    *FORM,
    (Check.SEAL, behind_a_seal),
    (Check.RESULT, lost_by_the_files_key),
    (Check.CLOCKS, too_early),
    REQUEST,
]


def of_opened() -> Forgery:
    """Return a match, broken at event 1."""
    return Forgery(taken_apart(replay_of(eventful(brief=True))), 0)


def something_beside(forgery: Forgery) -> None:
    """Add private data that only a draw can have."""
    forgery.private[forgery.at + 1] = b"\x12\x00"


OPENED: Final[list[tuple[Check, Fault]]] = [
    *FORM,
    (Check.COMMITMENT, lambda forgery: forgery.change(commitment=bytes(31))),
    (
        Check.LIFECYCLE,
        lambda forgery: forgery.change(terms=replace(forgery.lines[0].event.terms, turn_seconds=-1)),
    ),
    (Check.HIDDEN, something_beside),
    REQUEST,
]


@pytest.mark.parametrize(
    ("honest", "faults"),
    [
        (of_opened, OPENED),
        (of_seat_taken, SEAT_TAKEN),
        (of_ready, READY),
        (of_chosen, CHOSEN),
        (of_happened, HAPPENED),
        (of_sealed, SEALED),
    ],
    ids=["opened", "seat_taken", "ready", "chosen", "happened", "sealed"],
)
def test_of_all_that_is_wrong_with_an_event_the_first_step_is_reported(
    honest: Callable[[], Forgery], faults: Sequence[tuple[Check, Fault]]
) -> None:
    """Later steps and later events do not matter."""
    assert Verdict.EXACT is judged(honest().replay(), SERVICE).verdict
    for mended, (check, _) in enumerate(faults):
        forgery = honest()
        spoiling = [spoil for _, spoil in faults[mended:]]
        for spoil in sorted(spoiling, key=lambda spoil: INSERTING.index(spoil) if spoil in INSERTING else 9):
            spoil(forgery)
        found = judged(forgery.replay(), SERVICE).divergence
        assert found is not None
        assert (forgery.at + 1, check) == (found.event, found.check), found


def test_an_earlier_event_comes_before_a_later_one_whatever_their_checks() -> None:
    """A judge wants to know the first changed event."""
    forgery = of_chosen()
    short_request(forgery)
    later = replace(forgery.lines[forgery.at + 3], request=bytes(15))
    forgery.lines[forgery.at + 3] = later
    spoilt = relinked(put_together(forgery.lines, SERVICE), forgery.at + 3, b"")
    found = judged(spoilt, SERVICE).divergence
    assert found is not None
    assert (forgery.at + 1, Check.LIFECYCLE) == (found.event, found.check)


def test_a_wrong_secret_comes_before_event_2_and_behind_event_1() -> None:
    """Otherwise every draw would look wrong and the seal right."""
    forgery = of_chosen()
    not_canonical(forgery)
    last = len(forgery.lines) - 1
    forgery.lines[last] = replace(forgery.lines[last], event=replace(forgery.lines[last].event, secret=bytes(32)))
    found = judged(forgery.replay(), SERVICE).divergence
    assert found is not None
    assert (last + 1, Check.COMMITMENT) == (found.event, found.check)
    forgery.at, forgery.spoilt = 0, []
    short_request(forgery)
    found = judged(forgery.replay(), SERVICE).divergence
    assert found is not None
    assert (1, Check.LIFECYCLE) == (found.event, found.check)


def test_a_seal_that_cannot_be_read_reveals_nothing() -> None:
    """Draws are then checked as in a running match, and the error is the seal's form."""
    replay = replay_of(eventful(brief=True))
    last = len(replay.events) - 1
    found = judged(relinked(replay, last, replay.events[last] + UNKNOWN_FIELD), SERVICE).divergence
    assert found is not None
    assert (last + 1, Check.CONTAINER) == (found.event, found.check)


@dataclass
class Spoilt:
    """A file with errors after its events."""

    replay: Replay
    heads: list[WitnessedHead] = field(default_factory=list)
    names: tuple[str, ...] = ("Anna", "Tom", "Willi")
    count: int = 0
    """The footer's count exceeds the real one by this."""
    file_bit: bool = False
    names_bit: bool = False

    def judged(self) -> Audited:
        """Return the verdict on the file."""
        return audit(self.written(), PUBLIC, self.heads)

    def written(self) -> bytes:
        """Return the bytes of the file."""
        body, names = body_and_names(replace(self.replay, names=self.names))
        count, last_link = footer_of(self.replay)
        named = names.SerializeToString(deterministic=True)
        data = bytearray(file_of(body.SerializeToString(deterministic=True), (count + self.count, last_link), named))
        data[-1] ^= self.file_bit
        # The signature of the names is directly before them, and they are before the footer of 108 bytes.
        data[-108 - len(named) - 1] ^= self.names_bit
        return bytes(data)

    def change(self, **fields: Any) -> None:
        """Change the replay."""
        self.replay = replace(self.replay, **fields)


def honest_file() -> Spoilt:
    """Return a match with hidden cards."""
    return Spoilt(replay_of(eventful("allie_gator", brief=True)))


def no_seal(file: Spoilt) -> None:
    """Replace the seal by another event."""
    events = file.replay.events[:-1]
    file.change(events=events, heads=(head_of(file.replay.match_id, events, len(events), SERVICE),))


def hidden_beyond(file: Spoilt) -> None:
    """Add private data of an event that does not exist."""
    number = len(file.replay.events) + 1
    file.change(private={**file.replay.private, number: file.replay.private[max(file.replay.private)]})


def head_beyond(file: Spoilt) -> None:
    """Add a head, by an unknown key, of an event that does not exist."""
    head = Head(len(file.replay.events) + 7, bytes(32), "ab" * 8, bytes(64))
    file.change(heads=(*file.replay.heads, head))


def other_kept_head(file: Spoilt) -> None:
    """Add a kept head of another history."""
    other = replay_of(eventful("allie_gator", seed=5, brief=True))
    file.heads = [kept(other, 60)]


BEHIND: Final[list[tuple[Check, Callable[[Spoilt], object], Callable[[Spoilt], int | None]]]] = [
    (Check.SEAL, no_seal, lambda file: len(file.replay.events)),
    (Check.HIDDEN, hidden_beyond, lambda file: len(file.replay.events) + 1),
    (Check.HEADS, head_beyond, lambda file: len(file.replay.events) + 7),
    (Check.HEADS, other_kept_head, lambda _: 60),
    (Check.CONTAINER, lambda file: setattr(file, "count", 1), lambda _: None),
    (Check.CONTAINER, lambda file: file.change(game="chess"), lambda _: None),
    (Check.CONTAINER, lambda file: file.change(perspective=3), lambda _: None),
    (Check.CONTAINER, lambda file: setattr(file, "names", ("Anna", "Tom")), lambda _: None),
    (Check.CONTAINER, lambda file: setattr(file, "file_bit", True), lambda _: None),
    (Check.CONTAINER, lambda file: setattr(file, "names_bit", True), lambda _: None),
]
SAID: Final = ["no seal", "event", "event", "event", "events, the last", "chess", "seat 3", "2 names", "file", "names"]


def test_of_all_that_is_wrong_behind_the_events_the_first_step_is_reported() -> None:
    """Heads are checked before the parts around the events, because a footer is easily rewritten."""
    assert Verdict.EXACT is honest_file().judged().verdict
    assert [check for check, _, _ in BEHIND] == list(BEHIND_THE_EVENTS)
    for mended, (check, _, event) in enumerate(BEHIND):
        file = honest_file()
        for number, (_, spoil, _) in enumerate(BEHIND):
            # The file has neither seal nor perspective, or both: a perspective excuses a missing seal.
            if number >= mended and not (mended == 0 and spoil is BEHIND[6][1]):
                spoil(file)
        found = file.judged().divergence
        assert found is not None
        assert (event(file), check) == (found.event, found.check), found
        assert SAID[mended] in f"{found.expected} {found.found}"
