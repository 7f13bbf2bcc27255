"""Genuine matches of every game, and all forgeries that the tests know."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any, Final

from rollbook.match.dice import commitment
from rollbook.match.events import Chosen, Happened, Sealed, SeatTaken, Terms, TimedOut
from rollbook.match.fold import MatchFold
from rollbook.replay_file.container import Replay, write
from rollbook.rules.allie_gator.moves import Drawn, Stolen
from rollbook.rules.catalogue import current
from rollbook.rules.game import Watcher
from rollbook.rules.refusals import RefusedByRules
from tests.match.played import SECRET, Played
from tests.replays import changes, forging
from tests.replays.corpus.sample import (
    EXACT,
    UNVERIFIED,
    Said,
    Sample,
    diverged,
    sample,
)
from tests.replays.forging import (
    EXPIRING,
    SERVICE,
    STRANGER,
    Line,
    edit,
    eventful,
    first,
    head_of,
    kept,
    put_together,
    relinked,
    replay_of,
    taken_apart,
    under_way,
    with_a_free_seat,
)
from tests.replays.replaying import KEYS as SIMULATED
from tests.replays.replaying import cut, recorded

GAMES: Final = tuple(current())
NAMES: Final = ("Anna", "Tom", "Willi")
UNKNOWN_FIELD: Final = b"\xfa\x07\x04Anna"
EMPTY_HIDDEN: Final = b"\x12\x00"

WITHOUT_RULES: Final = {
    "another_first_seat": ("draws", 0),
    "a_dropped_readiness": ("lifecycle", 0),
    "a_doubled_choice": ("lifecycle", 0),
    "a_reordered_pair": ("clocks", 1),
    "a_match_without_a_result": ("result", 0),
    "a_time_that_falls": ("clocks", 0),
    "a_wait_that_was_longer": ("clocks", 1),
    "a_players_choice_as_a_caretakers": ("lifecycle", 0),
    "another_secret": ("commitment", 0),
    "something_behind_the_seal": ("seal", 0),
    "no_seal": ("seal", 0),
}
"""Forgeries by strangers that a reader without rules finds by another check or at a later event.

By forgery: the check, and by how many events later. Examples: a request that is doubled or has a caretaker, and a time
that falls.
"""

OF_RULES: Final = {
    "a_time_out_before_its_time",
    "a_time_out_of_another_seat",
    "a_pardon_longer_than_the_wait",
    "a_wait_charged_by_less",
}
"""Forgeries by operators that only the rules find."""


@cache
def match(game: str = "cant_stop", seed: int = 1) -> Replay:
    """Return a match with every kind of event, and with names."""
    return replace(forging.match(game, seed), names=NAMES)


def genuine() -> Iterator[Sample]:
    """Yield whole matches of every game and perspective; each could be EXACT or UNVERIFIED, and none is accused."""
    for game in GAMES:
        whole = match(game)
        simulated = recorded(game, current()[game].seats[0])
        heads = (head_of(whole.match_id, whole.events, 40, SERVICE),)
        running = replace(cut(whole, 40, Watcher.JUDGE), heads=heads)
        yield sample(f"{game}-eventful", whole, EXACT)
        yield sample(f"{game}-without-names", replace(whole, names=()), EXACT)
        yield sample(f"{game}-simulated", write(simulated, SIMULATED.replays), EXACT)
        yield sample(f"{game}-running-for-the-judge", running, UNVERIFIED)
        yield sample(
            f"{game}-running-for-the-public", replace(running, perspective=Watcher.PUBLIC, private={}), UNVERIFIED
        )
        yield sample(f"{game}-without-heads", replace(whole, heads=()), UNVERIFIED)
        yield sample(
            f"{game}-unknown-keys", write(put_together(taken_apart(whole), STRANGER), STRANGER.replays), UNVERIFIED
        )


# One forgery for each check and game


Change = Callable[[str], tuple[Replay, Said, Said | None]]


def _changed(change: Callable[[list[Line]], int], check: str, *, alike: bool = False) -> Change:
    def changed(game: str) -> tuple[Replay, Said, Said | None]:
        lines = taken_apart(match(game))
        index = change(lines)
        said = diverged(check, index + 1)
        return put_together(lines, SERVICE), said, said if alike else UNVERIFIED

    return changed


def _with_a_field(game: str) -> tuple[Replay, Said, None]:
    return relinked(match(game), 9, match(game).events[9] + UNKNOWN_FIELD), diverged("container", 10), None


def _behind_another(game: str) -> tuple[Replay, Said, None]:
    whole = match(game)
    at = whole.events[19].index(b"\x1a\x20") + 2
    data = whole.events[19]
    return relinked(whole, 19, data[:at] + bytes(32) + data[at + 32 :]), diverged("chain", 20), None


def _with_something_beside(game: str) -> tuple[Replay, Said, None]:
    return replace(match(game), private={**match(game).private, 2: EMPTY_HIDDEN}), diverged("hidden", 2), None


def _with_a_head_that_nobody_signed(game: str) -> tuple[Replay, Said, None]:
    (head,) = match(game).heads
    return replace(match(game), heads=(replace(head, signature=bytes(64)),)), diverged("heads", head.sequence), None


def _an_illegal_choice(found: list[Line]) -> int:
    """Replace a choice by one that the rules do not allow at that moment; returns its index."""
    opened = found[0].event
    fold = MatchFold(current()[opened.game], opened)
    pool = [line.event.choice for line in found if isinstance(line.event, Chosen)]
    for index, line in enumerate(found[1:], start=1):
        if isinstance(line.event, Chosen) and not line.event.by_caretaker and index > 20:
            for choice in pool:
                try:
                    fold.game.play(fold.game.copy(fold.state), choice)
                except RefusedByRules:
                    return edit(found, index, choice=choice)
        fold.take(line.event)
    raise LookupError


def _hides(outcome: Any) -> bool:
    return isinstance(outcome, Drawn | Stolen)


def _another_outcome(found: list[Line]) -> int:
    """Replace a public outcome by one of another moment; returns its index."""
    for index, line in enumerate(found[8:], start=8):
        if isinstance(line.event, Happened) and not _hides(line.event.outcome):
            for other in found[8:]:
                alike = isinstance(other.event, Happened) and type(other.event.outcome) is type(line.event.outcome)
                if alike and other.event.outcome != line.event.outcome:
                    return edit(found, index, outcome=other.event.outcome)
    raise LookupError


EACH: Final[dict[str, Change]] = {
    "container": _with_a_field,
    "chain": _behind_another,
    "commitment": _changed(changes.another_secret, "commitment", alike=True),
    "seal": _changed(changes.something_behind_the_seal, "seal", alike=True),
    "lifecycle": _changed(changes.a_dropped_readiness, "lifecycle", alike=True),
    "turns": _changed(changes.a_choice_of_another_seat, "turns"),
    "caretaker": _changed(changes.a_caretakers_choice_as_a_players, "caretaker"),
    "choices": _changed(_an_illegal_choice, "choices"),
    "entropy": _changed(changes.entropy_that_was_not_committed, "entropy", alike=True),
    "draws-first-seat": _changed(changes.another_first_seat, "draws", alike=True),
    "draws": _changed(_another_outcome, "draws"),
    "hidden": _with_something_beside,
    "result": _changed(changes.another_result, "result"),
    "clocks": _changed(changes.a_wait_charged_by_less, "clocks"),
    "clocks-falling": _changed(changes.a_time_that_falls, "clocks", alike=True),
    "heads": _with_a_head_that_nobody_signed,
}


def each_check_and_game() -> Iterator[Sample]:
    """Yield one forgery for every check of every game."""
    for game in GAMES:
        for name, change in EACH.items():
            replay, said, without = change(game)
            yield sample(f"{game}-{name}", replay, said, without)
        other = match(game, seed=5)
        beyond = kept(other, min(60, len(other.events)))
        yield sample(f"{game}-heads-kept", match(game), diverged("heads", beyond.sequence), heads=(beyond,))


# Forgeries by strangers and operators


def forged() -> Iterator[Sample]:
    """Yield every forgery of the tests, by strangers without keys and by operators with all keys."""
    for check, change, game in changes.STRANGERS:
        lines = taken_apart(match(game))
        index = change(lines)
        said = diverged(check.value, index + 1)
        seen, behind = WITHOUT_RULES.get(change.__name__, (None, 0))
        without = UNVERIFIED if seen is None else diverged(seen, index + 1 + behind)
        for whose, keys in (("stranger", STRANGER), ("operator", SERVICE)):
            data = write(put_together(lines, keys), keys.replays)
            yield sample(f"{whose}-{change.__name__.replace('_', '-')}", data, said, without)
    for check, change in changes.OPERATORS:
        lines = taken_apart(match())
        index = change(lines)
        said = diverged(check.value, index + 1)
        without = UNVERIFIED if change.__name__ in OF_RULES else said
        if change is changes.a_forfeit_without_time_outs:
            # Without rules the earlier resignation counts, so one seat is left and only the seal may follow.
            without = diverged("lifecycle", len(lines) - 2)
        yield sample(f"operator-{change.__name__.replace('_', '-')}", put_together(lines, SERVICE), said, without)
    yield from _ended()
    yield from _by_another_secret()
    yield from _against_heads()
    yield from _thefts()


def _sealed(played: Played, after_ms: int) -> tuple[Replay, int]:
    lines = taken_apart(replay_of(played))
    lines.append(Line(Sealed(None, "expired", SECRET), lines[-1].time_ms + after_ms))
    return put_together(lines, SERVICE), len(lines)


def _ended() -> Iterator[Sample]:
    cases: dict[str, tuple[Played, int, str | None]] = {
        "open": (with_a_free_seat(), 60_000, None),
        "open-too-early": (with_a_free_seat(), 59_999, "clocks"),
        "as-seats-get-ready": (Played(terms=EXPIRING).sit(), 10**9, "result"),
        "idle": (under_way(), 3_600_000, None),
        "idle-too-early": (under_way(), 3_599_999, "clocks"),
        "with-a-clock": (under_way(replace(EXPIRING, turn_seconds=30)), 10**9, "clocks"),
        "without-such-terms": (under_way(Terms()), 10**9, "clocks"),
    }
    for name, (played, after_ms, check) in cases.items():
        replay, number = _sealed(played, after_ms)
        yield sample(f"expired-{name}", replay, EXACT if check is None else diverged(check, number))
    played = Played(terms=Terms()).start()
    while len(played.log) < 40:
        played.append(played.choose())
    lines = taken_apart(replay_of(played))
    lines.append(Line(Sealed(None, "by_operator", SECRET), lines[-1].time_ms))
    yield sample("without-a-clock", put_together(lines, SERVICE), EXACT)
    index = edit(lines, first(lines, Chosen, after=20), charged_ms=1)
    yield sample("charged-without-a-clock", put_together(lines, SERVICE), diverged("clocks", index + 1))
    whole = taken_apart(match())
    short = [*whole[:50], Line(Sealed(None, "by_operator", SECRET), whole[49].time_ms)]
    ended = put_together(short, SERVICE)
    yield sample("cut-and-sealed", ended, EXACT)
    yield sample("cut-and-sealed-with-a-kept-head", ended, diverged("heads", 60), heads=(kept(match(), 60),))
    for name, lost, said in (
        ("", head_of(match().match_id, match().events, 60, SERVICE), EXACT),
        ("-by-a-head-that-it-has", head_of(match().match_id, match().events, 40, SERVICE), diverged("result", 51)),
        (
            "-by-nobody",
            replace(head_of(match().match_id, match().events, 60, SERVICE), signature=bytes(64)),
            diverged("result", 51),
        ),
        ("-by-an-unknown-key", head_of(match().match_id, match().events, 60, STRANGER), UNVERIFIED),
    ):
        seal = Line(Sealed(None, "log_lost", SECRET, lost), whole[49].time_ms)
        yield sample(f"lost-log{name}", put_together([*whole[:50], seal], SERVICE), said)


def _by_another_secret() -> Iterator[Sample]:
    other = taken_apart(replay_of(eventful(secret=b"s" * 32, brief=True)))
    edit(other, 0, commitment=commitment(SECRET))
    last = len(other)
    yield sample("committed-to-another-secret", put_together(other, SERVICE), diverged("commitment", last))
    edit(other, last - 1, secret=SECRET)
    said = diverged("draws", first(other, Happened) + 1)
    yield sample("dice-of-another-secret", put_together(other, SERVICE), said)
    lines = taken_apart(match())
    at, behind = first(lines, Happened, after=40), first(other, Happened, after=40)
    spliced = put_together([*lines[:at], *other[behind:]], STRANGER)
    data = write(spliced, STRANGER.replays)
    yield sample("spliced", data, diverged("draws", at + 1), diverged("clocks", at + 1))
    edit(lines, 0, match_id="final")
    said = diverged("draws", first(lines, Happened) + 1)
    yield sample("called-by-another-name", put_together(lines, SERVICE), said)


def _against_heads() -> Iterator[Sample]:
    whole, moved = match(), []
    for line in taken_apart(whole):
        event = line.event
        if isinstance(event, TimedOut):
            event = replace(event, not_before_ms=event.not_before_ms + 1_000)
        moved.append(replace(line, event=event, time_ms=line.time_ms + 1_000))
    data = write(put_together(moved, STRANGER, heads=whole.heads), STRANGER.replays)
    yield sample("moved-in-time", data, diverged("heads", len(moved)))
    yield sample("moved-in-time-without-heads", write(put_together(moved, STRANGER), STRANGER.replays), UNVERIFIED)
    rewritten = match(seed=3)
    pairs = zip(whole.events, rewritten.events, strict=False)
    fork = next(number for number, (one, other) in enumerate(pairs, start=1) if one != other)
    witnesses = (kept(whole, fork - 1), kept(whole, fork))
    yield sample("rewritten", rewritten, EXACT, heads=witnesses[:1])
    yield sample("rewritten-with-a-kept-head", rewritten, diverged("heads", fork), heads=witnesses)
    lines = taken_apart(whole)
    edit(lines, first(lines, SeatTaken), player=b"somebody else's name")
    other = put_together(lines, SERVICE)
    yield sample("another-player", other, diverged("heads", 10), heads=(kept(whole, 10),))


def _thefts() -> Iterator[Sample]:
    """Yield files for which one stolen key signed the work of both."""
    lines = taken_apart(match())
    for stolen in ("heads", "replays"):
        key = getattr(SERVICE, stolen)
        thief = replace(SERVICE, heads=key, replays=key)
        data = write(put_together(lines, thief), key)
        yield sample(f"one-key-for-all-{stolen}", data, diverged("heads", len(lines)))
