"""Tournaments, correct and wrong, and archives that are no bundles."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

from rollbook.replay_file.container import read, without_names, write
from rollbook.replay_file.key_lines import key_id
from tests.replays import test_canonical_bundles as canonical
from tests.replays import test_hostile_files as hostile
from tests.replays.corpus.hostile import runs
from tests.replays.corpus.sample import EXACT, UNREADABLE, UNVERIFIED, Said, Sample, sample
from tests.replays.forging import SERVICE
from tests.replays.replaying import KEYS, recorded
from tests.replays.test_key_roles import RIVAL
from tests.replays.tournaments import ORGANISER, SMALL_STANDINGS, Pairings, bundled, manifest, small_cup

FIRST, SECOND = IDS = ("wuerfelzoo-7-0", "wuerfelzoo-7-3")
PLAYERS: Final = ("Anna", "Tom")
PAIRED: Final[Pairings] = tuple((each, PLAYERS) for each in IDS)
NOT_STORED: Final = 200_000
FAULTY: Final[Said] = ("diverged", None, None)
"""Expected of a tournament with faults: no check and no event."""

Faults: TypeAlias = tuple[tuple[str, str], ...]


def described(
    pairings: Pairings = PAIRED, standings: Mapping[str, tuple[int, str]] = SMALL_STANDINGS, **changed: Any
) -> str:
    """Return the manifest of the small cup, with changes."""
    terms = {"game": '"wuerfelzoo"', "players": '["Anna", "Tom"]', "ends": "2026-01-03T00:00:00Z", **changed}
    return manifest(pairings, standings, **terms)


def _bundle(name: str, data: bytes, *faults: tuple[str, str], no_rules: Faults | None = None, **more: Any) -> Sample:
    """Return a bundle with these faults, or with none."""
    seen = faults if no_rules is None else no_rules
    said, without = FAULTY if faults else EXACT, FAULTY if seen else UNVERIFIED
    return sample(name, data, said, without, faults=faults, no_rules_faults=seen, suffix="zip", **more)


def bundles() -> Iterator[Sample]:
    """Yield bundles with every fault that a judgement names, and with every reason to be unverified."""
    _, matches = small_cup()
    first = read(matches[FIRST]).replay
    yield _bundle("true", bundled(described(), matches))
    yield _bundle("full-points", bundled(described(shared_places='"full"'), matches))
    yield _bundle("nothing-claimed", bundled(described(standings={}), matches))
    yield _bundle("missing", bundled(described(), {FIRST: matches[FIRST]}), ("missing", SECOND))
    yield _bundle("unlisted", bundled(described(PAIRED[:1], {}), matches), ("unlisted", SECOND))
    yield _bundle("paired-twice", bundled(described([*PAIRED, PAIRED[0]]), matches), ("doubled", FIRST))
    filed = {FIRST: matches[FIRST], SECOND: matches[FIRST]}
    yield _bundle("filed-twice", bundled(described(), filed), ("doubled", FIRST), ("missing", SECOND))
    named = write(replace(first, names=("Anna", "Heike")), KEYS.replays)
    yield _bundle("other-players", bundled(described(standings={}), {**matches, FIRST: named}), ("players", FIRST))
    three = recorded("wuerfelzoo", 3, 0)
    more = {**matches, FIRST: without_names(write(three, KEYS.replays))}
    yield _bundle("more-seats-than-players", bundled(described(standings={}), more), ("players", FIRST))
    others: list[tuple[str, dict[str, Any], str]] = [
        ("another-option", {"options": "{ box = true }"}, "ruleset"),
        ("another-game", {"game": '"cant_stop"'}, "ruleset"),
        ("before-it-began", {"begins": "2026-01-01T00:00:01Z"}, "time"),
        ("after-it-ended", {"ends": "2026-01-01T00:00:01Z"}, "time"),
    ]
    for name, other, fault in others:
        faults = tuple((fault, each) for each in IDS)
        seen = () if name == "another-option" else faults
        yield _bundle(name, bundled(described(standings={}, **other), matches), *faults, no_rules=seen)
    forged = write(replace(first, events=(*first.events[:20], first.events[19], *first.events[21:])), KEYS.replays)
    yield _bundle("a-forged-match", bundled(described(standings={}), {**matches, FIRST: forged}), ("match", FIRST))
    yield _bundle("no-match", bundled(described(standings={}), {**matches, FIRST: b"garbage"}), ("match", FIRST))
    for name, claimed, faulty in (
        ("too-good-a-place", {**SMALL_STANDINGS, "Tom": (2, "4")}, "Tom"),
        ("a-point-too-many", {"Anna": (1, "9/2")}, "Anna"),
    ):
        text = described(standings={who: (place, f'"{points}"') for who, (place, points) in claimed.items()})
        yield _bundle(f"claimed-{name}", bundled(text.replace('"4"', "4"), matches), ("standings", faulty), no_rules=())
    nameless = bundled(described(), {**matches, FIRST: without_names(matches[FIRST])})
    yield replace(_bundle("without-names", nameless), rules=UNVERIFIED)
    changed = bundled(described(), matches).replace(b'title = "Cup"', b'title = "Cap"')
    crc_too = canonical.Archive().of(
        canonical.entries_of(described(), matches) | {"manifest.toml": described(title='"Cap"').encode()}
    )
    yield _bundle("another-word", changed, ("signature", "manifest.toml"))
    yield _bundle("another-word-and-checksum", crc_too, ("signature", key_id(ORGANISER.public_key())))
    for name, key in (
        ("a-head-key", SERVICE.heads),
        ("a-replay-key", SERVICE.replays),
        ("another-service", RIVAL.heads),
    ):
        yield replace(_bundle(f"signed-by-{name}", bundled(described(), matches, key)), rules=UNVERIFIED)
    yield replace(_bundle("unknown-organiser", bundled(described(), matches), keys="without-bonn"), rules=UNVERIFIED)


def archives() -> Iterator[Sample]:
    """Yield archives with the same entries in another form, and hostile archives."""
    text, matches = small_cup()
    entries = canonical.entries_of(text, matches)
    for number, (other, _) in enumerate(canonical.OTHERS):
        (field,) = other
        data = canonical.Archive(**other).of(entries)
        yield sample(f"{field.replace('_', '-')}-{number}", data, UNREADABLE, suffix="zip")
    yield sample("before", canonical.Archive(before=b"Anna").of(entries), UNREADABLE, suffix="zip")
    names = list(entries)
    orders = ([names[0], *names[2:0:-1], names[-1]], names[::-1], [*names[1:-1], names[0], names[-1]])
    for number, order in enumerate(orders):
        data = canonical.Archive().of({name: entries[name] for name in order})
        yield sample(f"order-{number}", data, UNREADABLE, suffix="zip")
    for number, name in enumerate(names):
        data = canonical.Archive(wrong_checksum=name).of(entries)
        yield _bundle(f"checksum-{number}", data, ("signature", name))
    for number, (make, _) in enumerate(hostile.BUNDLES):
        data = make()
        if b"\x08\x00" in data[8:10]:
            continue  # compressed bytes depend on the compressor
        what = data if len(data) < NOT_STORED else runs(data, b"\0")
        yield sample(f"hostile-{number:02}", what, UNREADABLE, suffix="zip")  # type: ignore[arg-type]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        twice = hostile.archive([("manifest.toml", b"a"), ("manifest.toml", b"b")])
    yield sample("twice", twice, UNREADABLE, suffix="zip")
