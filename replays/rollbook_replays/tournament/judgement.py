"""Judges a tournament: checks that a bundle holds the matches of its manifest, and computes the standings.

The places come from the audited matches, and the players from the names in the replays, which the service signed. Names
can be removed from a replay. Such a match still proves its places, but its points belong to no known player, and the
standings are unverified. An aborted match gives no points.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any, Final

from rollbook.replay_file.key_lines import KeyRole, KnownKey, KnownKeys
from rollbook.rules.places import places
from rollbook_replays.audit.signatures import lacking
from rollbook_replays.audit.verdicts import Audited, Verdict, wrong
from rollbook_replays.text import pad_text, printable, width
from rollbook_replays.tournament.bundle import Bundle
from rollbook_replays.tournament.manifest import Manifest, Pairing, instant

NAMES_REMOVED: Final = "the names of the players, which were removed, so that the points are nobody's"


class Fault(StrEnum):
    """The possible faults of a tournament."""

    SIGNATURE = "signature"
    """The bundle was changed after it was signed."""
    MISSING = "missing"
    """A match of the manifest is not in the bundle."""
    DOUBLED = "doubled"
    """A match counts twice: the manifest names it twice, or two files hold it."""
    UNLISTED = "unlisted"
    """A match of the bundle is not in the manifest."""
    MATCH = "match"
    """A match diverges or cannot be read."""
    PLAYERS = "players"
    """The players of a match are not those in the manifest."""
    RULESET = "ruleset"
    """The game, version or options of a match are not those in the manifest."""
    TIME = "time"
    """A match was opened before the tournament began, or sealed after it ended."""
    STANDINGS = "standings"
    """The claimed standings do not follow from the results."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of a tournament."""

    fault: Fault
    where: str
    """The match, player, entry or key with the fault."""
    expected: str
    found: str
    is_refusal: bool = False
    """Whether `expected` is a sentence with the reason why the rules refuse what was found."""

    def __str__(self) -> str:
        """The fault in one line."""
        return f"{self.fault} ({self.where}): {wrong(self.expected, self.found, is_refusal=self.is_refusal)}"


@dataclass(frozen=True, slots=True)
class Standing:
    """The place and points of a player, computed from the audited results."""

    place: int
    player: str
    points: Fraction
    matches: int
    """Number of the player's matches that counted."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a bundle."""

    verdict: Verdict
    manifest: Manifest
    findings: tuple[Finding, ...]
    missing: tuple[str, ...]
    """What a verdict of EXACT needs and the judge lacks, in words."""
    standings: tuple[Standing, ...]
    """Best first; computed from the results, not from the claims."""
    results: Mapping[str, Audited]
    """The audited matches by id."""
    signer: KnownKey | None = None
    """The known key whose signature of the bundle is valid; None if there is none."""

    @property
    def signed_by(self) -> str:
        """The signer of the bundle in words; empty without a valid signature by a known key."""
        return "" if self.signer is None else f"signed by {self.signer.name} (bundle key {self.signer.key_id})"

    def lines(self) -> Iterator[str]:
        """The report for people: the standings, the signer, then all faults and everything that is missing."""
        yield f"{self.manifest.title}: {self.verdict.upper()}"
        yield from self.table()
        if self.signer is not None:
            yield f"  {self.signed_by}"
        yield from (f"  {printable(str(finding))}" for finding in self.findings)
        yield from (f"  missing: {printable(what)}" for what in self.missing)

    def table(self) -> Iterator[str]:
        """The standings: a line with place, player and points for each player."""
        columns = max(width(standing.player) for standing in self.standings)
        for standing in self.standings:
            yield f"{standing.place:>5}. {pad_text(standing.player, columns)}  {amount(standing.points)}"

    def facts(self) -> dict[str, Any]:
        """The judgement as JSON."""
        return {
            "tournament": self.manifest.title,
            "verdict": self.verdict,
            "key": None if self.signer is None else {"name": self.signer.name, "bundle_key": self.signer.key_id},
            "standings": [
                {"place": standing.place, "player": standing.player, "points": amount(standing.points)}
                for standing in self.standings
            ],
            "findings": [
                {"fault": finding.fault, "where": finding.where, "expected": finding.expected, "found": finding.found}
                for finding in self.findings
            ],
            "missing": list(self.missing),
        }


def judge(bundle: Bundle, audited: Sequence[Audited], keys: KnownKeys) -> Judgement:
    """Return the judgement on a bundle; `audited` has the verdicts on its replays, in the order of its sources."""
    findings = [
        Finding(Fault.SIGNATURE, name, "the checksum of its bytes", "that of others") for name in bundle.changed
    ]
    missing: list[str] = []
    key = keys.get(bundle.key_id)
    signer = key if key is not None and key.role is KeyRole.BUNDLE and bundle.holds(key.public) else None
    if key is None or key.role is not KeyRole.BUNDLE:
        missing.append(lacking(keys, bundle.key_id, KeyRole.BUNDLE))
    elif signer is None and not findings:
        findings.append(Finding(Fault.SIGNATURE, bundle.key_id, "a signature over this bundle", "one over another"))
    named = [(source.match_id, match) for source, match in zip(bundle.sources, audited, strict=True)]
    return replace(judge_matches(bundle.manifest, named, findings, missing), signer=signer)


def judge_matches(
    manifest: Manifest, named: Sequence[tuple[str, Audited]], findings: list[Finding], missing: list[str]
) -> Judgement:
    """Return the judgement on matches, each with the match id that its file name gives; extends both lists."""
    filed = _file_matches(named, findings)
    _check_listing(manifest, filed, findings)
    tally = _Tally(manifest)
    for match_id, pairing in tally.pairings.items():
        if match_id in filed:
            findings += tally.take(pairing, filed[match_id])
    missing += tally.missing
    standings = tally.standings()
    if tally.is_whole:
        findings += _compare_places(manifest, standings)
    elif manifest.standings:
        missing.append("results of all matches, without which nobody can tell whether the standings claimed are right")
    verdict = Verdict.DIVERGED if findings else Verdict.UNVERIFIED if missing else Verdict.EXACT
    return Judgement(verdict, manifest, tuple(findings), tuple(missing), standings, filed)


class _Tally:
    """The points counted so far."""

    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest
        self.pairings = {pairing.match_id: pairing for pairing in manifest.pairings}
        self._points: dict[str, Fraction] = dict.fromkeys(manifest.players, Fraction())
        self._matches = Counter[str]()
        self._results = 0
        self._missing: dict[str, list[str]] = {}

    @property
    def is_whole(self) -> bool:
        """Whether the result and the players of every pairing are known."""
        return self._results == len(self.pairings)

    @property
    def missing(self) -> list[str]:
        """What the audits of the matches lack, each once, with the match or the number of matches that lack it."""
        return [
            f"{what} ({match_ids[0] if len(match_ids) == 1 else f'{len(match_ids)} matches'})"
            for what, match_ids in self._missing.items()
        ]

    def take(self, pairing: Pairing, match: Audited) -> list[Finding]:
        """Count a match; returns the reasons if it does not count."""
        faults = list(_faults(self.manifest, pairing, match))
        for what in match.missing:
            self._missing.setdefault(what, []).append(match.match_id)
        if faults:
            return faults
        if match.places is not None and not match.names:
            self._missing.setdefault(NAMES_REMOVED, []).append(match.match_id)
        elif match.places is not None:
            self._results += 1
            for player, worth in zip(match.names, self.manifest.points_for(match.places), strict=True):
                self._points[player] += worth
                self._matches[player] += 1
        elif match.aborted is not None:
            self._results += 1
        return []

    def standings(self) -> tuple[Standing, ...]:
        """Best first; players with equal points in the order of the manifest."""
        values = sorted(set(self._points.values()))
        rank = {value: number for number, value in enumerate(values)}
        ranked = places([rank[points] for points in self._points.values()])
        standings = [
            Standing(place, player, points, self._matches[player])
            for place, (player, points) in zip(ranked, self._points.items(), strict=True)
        ]
        return tuple(sorted(standings, key=lambda standing: standing.place))


def amount(points: Fraction) -> str:
    """Points as text for people: a decimal number or a fraction.

    >>> amount(Fraction(5, 2)), amount(Fraction(7, 3)), amount(Fraction(4))
    ('2.5', '7/3', '4')
    """
    if points.denominator in _DECIMAL:
        return f"{float(points):g}" if points.denominator > 1 else str(points.numerator)
    return str(points)


_DECIMAL: Final = frozenset({1, 2, 4, 5, 10})


def _file_matches(named: Sequence[tuple[str, Audited]], findings: list[Finding]) -> dict[str, Audited]:
    """The matches by id; a file whose name is not the id of its match is a finding instead."""
    filed: dict[str, Audited] = {}
    for name, match in named:
        if match.match_id != name and match.verdict is not Verdict.UNREADABLE:
            findings.append(
                Finding(Fault.DOUBLED, match.match_id, "one file, of its own name", f"it is in {name}, too")
            )
        else:
            filed[name] = match
    return filed


def _check_listing(manifest: Manifest, filed: Mapping[str, Audited], findings: list[Finding]) -> None:
    named = Counter(pairing.match_id for pairing in manifest.pairings)
    for match_id, times in named.items():
        if times > 1:
            findings.append(Finding(Fault.DOUBLED, match_id, "one pairing", f"{times} of them"))
        if match_id not in filed:
            findings.append(Finding(Fault.MISSING, match_id, "its replay", "none"))
    findings += [Finding(Fault.UNLISTED, match_id, "a pairing", "none") for match_id in filed if match_id not in named]


def _faults(manifest: Manifest, pairing: Pairing, match: Audited) -> Iterator[Finding]:
    """The reasons why a match does not count; empty if it counts."""
    where = pairing.match_id
    if match.unreadable:
        yield Finding(Fault.MATCH, where, "a replay", match.unreadable)
        return
    if match.divergence is not None:
        at = "" if match.divergence.event is None else f" at event {match.divergence.event}"
        what = f"{match.divergence.check}{at}: {match.divergence.found}"
        yield Finding(Fault.MATCH, where, match.divergence.expected, what, match.divergence.is_refusal)
        return
    expected = manifest.options[len(pairing.players)]
    if (match.game, match.ruleset) != (manifest.game, manifest.ruleset):
        yield Finding(Fault.RULESET, where, f"{manifest.game} {manifest.ruleset}", f"{match.game} {match.ruleset}")
    elif match.seats != len(pairing.players):
        yield Finding(Fault.PLAYERS, where, f"{len(pairing.players)} seats", str(match.seats))
    elif dict(match.options) != dict(expected):
        yield Finding(Fault.RULESET, where, _write_options(expected), _write_options(match.options))
    if match.names and sorted(match.names) != sorted(pairing.players):
        yield Finding(Fault.PLAYERS, where, ", ".join(sorted(pairing.players)), ", ".join(sorted(match.names)))
    sealed_ms = match.opened_ms if match.sealed_ms is None else match.sealed_ms
    if not manifest.begins_ms <= match.opened_ms <= sealed_ms <= manifest.ends_ms:
        found = f"opened {instant(match.opened_ms)}, sealed {instant(match.sealed_ms)}"
        yield Finding(Fault.TIME, where, f"{instant(manifest.begins_ms)} to {instant(manifest.ends_ms)}", found)


def _write_options(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in options.items())


def _compare_places(manifest: Manifest, standings: Sequence[Standing]) -> Iterator[Finding]:
    """A finding for each claimed place that differs from the computed one; players without a claim are skipped."""
    for standing in standings:
        claimed = manifest.standings.get(standing.player)
        if claimed is not None and (claimed.place, claimed.points) != (standing.place, standing.points):
            yield Finding(
                Fault.STANDINGS,
                standing.player,
                f"place {standing.place} with {amount(standing.points)}",
                f"place {claimed.place} with {amount(claimed.points)} claimed",
            )
