"""The audit's verdicts on unchanged files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rollbook.match.chain import link, sign_head
from rollbook.match.simulation import Simulation
from rollbook.replay_file.container import Head, Replay, without_names, write
from rollbook.replay_file.key_lines import key_id, read_keys
from rollbook.replay_file.recording import Keys, record
from rollbook.rules.catalogue import current, find
from rollbook.rules.chance import Throw
from rollbook.rules.game import Watcher
from rollbook.v1 import events_pb2 as proto
from rollbook_replays.audit.audit import audit
from rollbook_replays.audit.verdicts import Audited, Check, Verdict
from tests.replays.forging import put_together, taken_apart

SEED = 11
KEYS = Keys.of(SEED)
PUBLIC = read_keys(KEYS.public)
REPLAY_KEY_ID = key_id(KEYS.replays.public_key())


def recorded(game: str, seats: int | None = None) -> Replay:
    """Return a simulated match."""
    rules = find(game)
    count = rules.seats[0] if seats is None else seats
    return record(Simulation(rules, {}, count, SEED, 0), KEYS.heads)


def cut(replay: Replay, events: int, watcher: Watcher = Watcher.PUBLIC) -> Replay:
    """Return the match as exported while it ran: the public gets no hidden part, a judge all."""
    last = link(replay.events[events - 1])
    head = Head(events, last, replay.heads[-1].key_id, sign_head(KEYS.heads, replay.match_id, events, last))
    private = {number: hidden for number, hidden in replay.private.items() if number <= events}
    return replace(
        replay,
        perspective=watcher,
        events=replay.events[:events],
        private=private if watcher is Watcher.JUDGE else {},
        heads=(head,),
    )


def audited(replay: Replay) -> Audited:
    """Return the verdict with all keys."""
    return audit(write(replay, KEYS.replays), PUBLIC)


def throws_dice(game: str) -> bool:
    """Whether a match of the game has dice and not only cards."""
    played = Simulation(find(game), {}, find(game).seats[0], SEED, 0)
    return any(isinstance(played.match.awaited, Throw) for _ in played.events())


@pytest.mark.parametrize("game", current())
def test_a_match_of_any_game_is_exact(game: str) -> None:
    """The result has all facts that a report needs."""
    replay = recorded(game)
    found = audited(replay)
    assert (Verdict.EXACT, None, ()) == (found.verdict, found.divergence, found.missing)
    assert (game, len(replay.events), replay.names) == (found.game, found.events, replay.names)
    assert found.places is not None
    assert min(found.places) == 1
    assert found.sealed_ms is not None
    assert found.opened_ms + (found.events - 1) * 1_000 == found.sealed_ms
    assert bool(found.thrown) == throws_dice(game)


def test_a_file_without_names_is_exact() -> None:
    """Removing the names keeps the proof valid."""
    found = audit(without_names(write(recorded("cant_stop"), KEYS.replays)), PUBLIC)
    assert (Verdict.EXACT, ()) == (found.verdict, found.names)


def test_without_a_key_a_file_is_unverified_and_names_the_keys() -> None:
    """Rules, dice and result are right, but no known key signed them."""
    data = write(recorded("cant_stop"), KEYS.replays)
    found = audit(data, {})
    assert Verdict.UNVERIFIED is found.verdict
    heads = key_id(KEYS.heads.public_key())
    assert (f"the head key {heads}", f"the replay key {REPLAY_KEY_ID}") == found.missing
    without_heads = {REPLAY_KEY_ID: PUBLIC[REPLAY_KEY_ID]}
    assert (f"the head key {heads} of {KEYS.name}",) == audit(data, without_heads).missing


def test_without_a_head_of_the_last_event_a_file_is_unverified() -> None:
    """A head from the middle vouches only for the events before it."""
    replay = recorded("cant_stop")
    missing = "a signed head of the last event"
    for heads in ((), cut(replay, 30).heads):
        found = audited(replace(replay, heads=heads))
        assert (Verdict.UNVERIFIED, (missing,)) == (found.verdict, found.missing)


@pytest.mark.parametrize("game", current())
def test_a_running_match_is_unverified_at_every_length(game: str) -> None:
    """The audit checks everything that is possible before the seal, and names what is missing."""
    replay = recorded(game)
    for events in (1, 2, 5, 6, 7, 8, 20, len(replay.events) - 1):
        found = audited(cut(replay, events, Watcher.JUDGE))
        assert (Verdict.UNVERIFIED, None) == (found.verdict, found.divergence)
        assert ("the seal: the match is unfinished",) == found.missing


def test_a_running_match_that_hides_cards_says_from_where_on_the_rules_cannot_follow() -> None:
    """Form, chain and heads are checked also after that event."""
    replay = recorded("allie_gator")
    found = audited(cut(replay, 100))
    first_hidden = min(replay.private)
    assert Verdict.UNVERIFIED is found.verdict
    assert f"what event {first_hidden} hides, without which the rules cannot go on" in found.missing


def test_times_that_fall_behind_what_the_rules_can_follow_are_found() -> None:
    """Times can be checked without the hidden cards."""
    lines = taken_apart(recorded("allie_gator"))
    lines[90] = replace(lines[90], time_ms=lines[89].time_ms - 1)
    replay = put_together(lines, KEYS)
    assert min(replay.private) < 90
    found = audited(cut(replay, 100))
    assert found.divergence is not None
    assert (91, Check.CLOCKS) == (found.divergence.event, found.divergence.check)


@pytest.mark.parametrize("names", [("Anna",), ("Anna", "Tom", "Willi")])
def test_a_file_names_all_seats_or_none(names: tuple[str, ...]) -> None:
    """With a name too many or too few the seats could not be assigned."""
    found = audited(replace(recorded("cant_stop", 2), names=names))
    assert found.divergence is not None
    assert (Verdict.DIVERGED, Check.CONTAINER) == (found.verdict, found.divergence.check)
    assert (f"{len(names)} names", "names of 2 seats, or none") == (found.divergence.found, found.divergence.expected)


def test_a_sealed_match_whose_hidden_outcomes_were_withheld_is_unverified() -> None:
    """The outcomes can be recomputed, but the file does not contain the service's own."""
    replay = recorded("allie_gator")
    found = audited(replace(replay, perspective=Watcher.PUBLIC, private={}))
    assert (Verdict.UNVERIFIED, (f"what {len(replay.private)} events hide",)) == (found.verdict, found.missing)


def test_what_is_no_replay_is_unreadable() -> None:
    """A file that is no replay is UNREADABLE, with the reason."""
    found = audit(b"no replay", PUBLIC)
    assert (Verdict.UNREADABLE, "this is no replay file: it does not begin with the magic bytes") == (
        found.verdict,
        found.unreadable,
    )


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        ({"envelope": 3}, "a program that knows envelope 3"),
        ({"fairness": "fair/2"}, "a program that knows dice by 'fair/2'"),
        ({"ruleset": 9}, "a program that knows ruleset 9 of 'cant_stop'"),
        ({"game": "chess"}, "a program that knows ruleset 1 of 'chess'"),
    ],
)
def test_what_a_newer_program_wrote_is_unverified_and_named(change: dict[str, Any], missing: str) -> None:
    """Files of newer programs are neither exact nor diverged; the result names what the reader lacks."""
    replay = cut(recorded("cant_stop"), 1)
    event = proto.Event.FromString(replay.events[0])
    for name, value in change.items():
        setattr(event.opened, name, value)
    data = event.SerializeToString(deterministic=True)
    opened = event.opened
    found = audited(cut(replace(replay, game=opened.game, ruleset=opened.ruleset, events=(data,)), 1))
    assert (Verdict.UNVERIFIED, None, (missing,)) == (found.verdict, found.divergence, found.missing)


@pytest.mark.parametrize(("seat", "verdict"), [(0, Verdict.EXACT), (-1, Verdict.DIVERGED), (2, Verdict.DIVERGED)])
def test_a_file_is_seen_by_eyes_that_sat_at_the_table(seat: int, verdict: Verdict) -> None:
    """A file cannot be exported for a seat that the match does not have."""
    found = audited(replace(recorded("cant_stop"), perspective=seat))
    check = None if found.divergence is None else found.divergence.check
    assert (verdict, None if verdict is Verdict.EXACT else Check.CONTAINER) == (found.verdict, check)
