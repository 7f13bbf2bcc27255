"""The audit: a verdict on a replay file, from nothing but its bytes and the keys and heads that a judge has.

Several things can be wrong at once, and what a judge wants to know is what somebody changed. So the log itself comes
first, event by event: its form, its place in the chain, and what it says. Then those who vouch for the log: signed
heads in the file, and heads that people kept. Last the file around it: footer, names, signature. A forger without a key
who rewrites chain and footer breaks the signatures as well, but what is reported is the event that he changed; only
what no other check can see, such as times in a match without a clock, is left to the signatures. One check comes before
event 2: a secret other than the one committed to would make every draw look wrong. `replays/FORMAT.md` numbers all of
them, so that whoever writes another audit reports the same.

Nothing is read here, neither files nor clocks; the commands do that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rollbook.replay_file.container import BeforeRelease, NotAReplay, Stored, read
from rollbook.replay_file.kept_heads import WitnessedHead
from rollbook.replay_file.key_lines import KnownKeys
from rollbook_replays.audit.course import Course
from rollbook_replays.audit.divergence import Diverged, shortened
from rollbook_replays.audit.signatures import (
    check_container,
    check_heads,
    check_kept,
    check_lost,
    flaw,
    vouching,
)
from rollbook_replays.audit.verdicts import Audited, Divergence, Verdict

LONGEST_GAME: Final = 100
"""Of a name that a file may have made as long as a file can be."""

MOST_MISSING: Final = 20


def audit(data: bytes, keys: KnownKeys, witnessed: Sequence[WitnessedHead] = ()) -> Audited:
    """Check everything that can be checked with these keys (by key id) and these heads, of any matches."""
    try:
        stored = read(data)
    except BeforeRelease as old:
        return Audited(Verdict.UNVERIFIED, missing=(str(old),))
    except NotAReplay as broken:
        return Audited(Verdict.UNREADABLE, unreadable=str(broken))
    course = Course(stored.replay)
    missing: list[str] = []
    kept = [head for head in witnessed if head.match_id == stored.replay.match_id and flaw(head, keys) is None]
    divergence, compared = _divergence(stored, course, keys, kept, missing)
    return Audited(
        _verdict(divergence, missing),
        stored.replay.match_id,
        divergence,
        missing=_few(missing),
        keys=vouching(stored, keys) if divergence is None else None,
        game=stored.replay.game[:LONGEST_GAME],
        ruleset=stored.replay.ruleset,
        names=stored.replay.names,
        events=len(stored.replay.events),
        heads=len(stored.replay.heads),
        kept_heads=compared,
        thrown=course.thrown,
        **_facts(course),
    )


def _verdict(divergence: Divergence | None, missing: Sequence[str]) -> Verdict:
    if divergence is not None:
        return Verdict.DIVERGED
    return Verdict.UNVERIFIED if missing else Verdict.EXACT


def _few(missing: Sequence[str]) -> tuple[str, ...]:
    """What is missing, each once; a file can name ten thousand keys, which nobody wants to read."""
    each = tuple(map(shortened, dict.fromkeys(missing)))
    return each if len(each) <= MOST_MISSING else (*each[:MOST_MISSING], f"{len(each) - MOST_MISSING:,} more")


def _divergence(
    stored: Stored,
    course: Course,
    keys: KnownKeys,
    witnessed: Sequence[WitnessedHead],
    missing: list[str],
) -> tuple[Divergence | None, int]:
    """The first thing wrong, if anything is, and how many kept heads fit; what is missing is added to the list."""
    links = course.links
    try:
        course.follow(lambda number, event: check_lost(stored, links, keys, number, event))
        missing += course.missing
        missing += check_heads(stored, links, keys)
        lacking = check_kept(stored, links, keys, witnessed)
        missing += lacking
        missing += check_container(stored, links, course.said, keys)
    except Diverged as diverged:
        return diverged.divergence, 0
    # Each head that could not be compared is missing something.
    return None, len(witnessed) - len(lacking)


def _facts(course: Course) -> dict[str, Any]:
    """What the match turned out to be, as far as it was followed."""
    record = course.record
    if record is None:
        return {}
    sealed = record.match.sealed
    return {
        "options": record.opened.options,
        "seats": len(record.players),
        "started": record.match.started,
        "places": None if sealed is None else sealed.places,
        "aborted": None if sealed is None else sealed.aborted,
        "opened_ms": course.opened_ms,
        "sealed_ms": None if sealed is None else record.time_ms,
        "house": tuple(seat for seat, house in enumerate(record.house) if house),
        "seats_with_entropy": tuple(
            seat for seat, brought in enumerate(record.match.entropy) if brought and not record.house[seat]
        ),
    }
