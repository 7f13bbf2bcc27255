"""`rollbook audit`: verdicts on replay files."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter

from rollbook.cli.exits import Exit, Failed, usage, worst
from rollbook.cli.progress import Progress
from rollbook.files import write_file
from rollbook.replay_file.key_lines import KnownKeys
from rollbook_replays.audit.facts import head_facts, match_facts, tournament_facts
from rollbook_replays.audit.sources import BundleFile, File, Source, everything
from rollbook_replays.audit.verdicts import Audited, Verdict
from rollbook_replays.audit.workers import Crew
from rollbook_replays.commands.evidence import Evidence, FlawedHead
from rollbook_replays.report import Report
from rollbook_replays.text import Text, printable
from rollbook_replays.tournament.bundle import NotABundle, open_bundle
from rollbook_replays.tournament.judgement import Judgement, judge

NO_ENTROPY = "no seat added randomness: the dice are fixed by the secret alone"

LOOKS: Final[Mapping[str, str]] = {
    Verdict.EXACT: "bold green",
    Verdict.UNVERIFIED: "bold yellow",
    Verdict.DIVERGED: "bold red",
    Verdict.UNREADABLE: "bold magenta",
}
"""Colours of verdicts on a terminal."""

CODES = {
    Verdict.EXACT: Exit.GOOD,
    Verdict.UNVERIFIED: Exit.UNVERIFIED,
    Verdict.DIVERGED: Exit.WRONG,
    Verdict.UNREADABLE: Exit.UNREADABLE,
}


def audit(
    *paths: Path,
    key: Annotated[Sequence[Path], Parameter(negative="")] = (),
    head: Annotated[Sequence[Path], Parameter(negative="")] = (),
    report: Path | None = None,
    jobs: int | None = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Prove replay files without trusting the service: every die, choice and time, the result, and who signed it.

    Each file gets one of four verdicts. EXACT: everything was checked and is right. UNVERIFIED: nothing is wrong, but
    something that a check needs is missing. DIVERGED: something was changed, or was never right; the verdict names the
    event, the check, what was expected and what was found. UNREADABLE: not a complete replay file.

    The checks are container, chain, heads, commitment, entropy, draws, hidden, choices, turns, clocks, caretaker,
    lifecycle, result, seal.

    A bundle (`rollbook bundle create`) is judged as well: whether it has the matches that its manifest names, and
    whether the standings follow from the audited results.

    The verdict also notes if no seat brought entropy of its own: a person who knew the secret of such a match knew its
    dice.

    On a terminal the verdicts have colours, unless NO_COLOR is set.

    Files are judged in separate processes with limited memory and time. If a process dies, its file is judged once
    more, alone; if that process dies too, the file is UNREADABLE. Verdicts come in the order of the files, that of a
    bundle after those of its replays.

    Exit code 0 if all files are exact, 1 only if one diverged, 3 if one cannot be read, there are none, or verdicts
    cannot be written, else 2, also if a kept head proves nothing. A wrong line in a file of keys or heads ends the
    command with 3 before any file is judged.

    Example: `rollbook audit files --key KEY.pub --report page.html`

    Parameters
    ----------
    paths
        Replay files, bundles of tournaments, and folders: with everything below them that ends in `.rollbook`, and all
        bundles, under any name.
    key
        A file of public keys, one `KEY_ID HEX ROLE NAME` a line, as `rollbook key --published` writes them, and as in
        the KEY.pub of simulated matches. ROLE is head, replay or bundle, and NAME, to the end of the line, is the owner
        that the verdict names: a file is exact only if the head keys and the replay key of one name vouch for
        it. Without keys no file is more than unverified. May be repeated.
    head
        A file of signed heads that players or spectators kept: a match that was rewritten after they saw it diverges.
        One whose signature does not hold, or is not by a head key, is listed and proves nothing. May be repeated.
    report
        Also write a page of HTML, to be published: verdicts, results, standings, how the dice fell. It needs no other
        file.
    jobs
        How many processes, at most one a core. Default: one a core.
    as_json
        For programs: one JSON object for each file, a line each; `replays/AUDIT.md` explains its fields.
    """
    if not paths:
        return usage("audit needs at least one file or folder")
    if jobs is not None and jobs < 1:
        return usage("--jobs must be at least 1")
    try:
        evidence = Evidence.read(key, head)
    except Failed as failed:
        print(printable(failed.why), file=sys.stderr)
        return failed.code
    found = everything(paths)
    if not found:
        print("there are no replay files there: their names end in .rollbook", file=sys.stderr)
        return Exit.UNREADABLE
    verdicts = _Verdicts(as_json=as_json)
    verdicts.tell_flaws(evidence.flawed)
    cores = os.cpu_count() or 1
    jobs = min(jobs or cores, cores)
    try:
        with Progress("file", "files", len(found)) as progress, Crew(evidence.keys, evidence.heads, jobs) as crew:
            _Hearing(crew, progress, verdicts).all(found, evidence.keys)
    except OSError as wrong:
        verdicts.report_failure(f"the audit was broken off: {wrong.strerror}")
    print(verdicts.summary, file=sys.stderr)
    if report is not None:
        verdicts.publish(report)
    return worst(verdicts.codes)


class _Hearing:
    """Everything that is audited, one part after the other, so that no more than one bundle is in memory."""

    def __init__(self, crew: Crew, progress: Progress, verdicts: _Verdicts) -> None:
        self._crew = crew
        self._progress = progress
        self._verdicts = verdicts

    def all(self, found: Iterable[File | BundleFile], keys: KnownKeys) -> None:
        """Print the verdicts on files and bundles, in their order."""
        for kind, group in groupby(found, type):
            if kind is File:
                for _ in self.audit([each for each in group if isinstance(each, File)]):
                    pass
            else:
                for each in group:
                    self.judge(each.path, keys)

    def audit(self, found: Sequence[Source]) -> Iterator[Audited]:
        """Print and yield the verdicts on replays, in their order."""
        for source, audited in self._crew.audit(found):
            yield self._tell(source.name, audited)

    def judge(self, path: Path, keys: KnownKeys) -> None:
        """Print the verdicts on a bundle: on its replays, then its own."""
        try:
            bundle = open_bundle(path)
        except NotABundle as wrong:
            self._tell(str(path), Audited(Verdict.UNREADABLE, unreadable=str(wrong)))
        except OSError as wrong:
            self._tell(str(path), Audited(Verdict.UNREADABLE, unreadable=wrong.strerror or str(wrong)))
        else:
            self._progress.expect(len(bundle.sources) - 1)
            self._verdicts.tell_judgement(str(path), judge(bundle, list(self.audit(bundle.sources)), keys))

    def _tell(self, name: str, audited: Audited) -> Audited:
        self._verdicts.tell(name, audited)
        self._progress.one_more(audited.events)
        return audited


class _Verdicts:
    """Prints verdicts as they come, and gathers what they come to."""

    def __init__(self, *, as_json: bool) -> None:
        self.page = Report()
        self.codes: set[Exit] = set()
        self._as_json = as_json
        self._in_colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        self._count: Counter[Verdict] = Counter()
        self._is_full = False

    def tell(self, name: str, audited: Audited) -> None:
        """One file."""
        self._count[audited.verdict] += 1
        self.codes.add(CODES[audited.verdict])
        self.page.add(name, audited)
        if self._as_json:
            self._say(json.dumps(match_facts(name, audited)))
        else:
            self._say(self._line(f"{name}: ", audited.verdict, _why(audited)))

    def tell_flaws(self, flawed: Iterable[FlawedHead]) -> None:
        """All kept heads that prove nothing, before the files."""
        for each in flawed:
            self.codes.add(Exit.UNVERIFIED)
            self.page.add_flaw(each.where, each.head, each.why)
            self._say(
                json.dumps(head_facts(each.where, each.head, each.why)) if self._as_json else printable(str(each))
            )

    def tell_judgement(self, name: str, judgement: Judgement) -> None:
        """One bundle, after its files."""
        self.codes.add(CODES[judgement.verdict])
        self.page.add_judgement(name, judgement)
        if self._as_json:
            self._say(json.dumps(tournament_facts(name, judgement.facts())))
            return
        first, *others = judgement.lines()
        self._say(self._line(f"{name}: {first.removesuffix(judgement.verdict.upper())}", judgement.verdict))
        for line in others:
            self._say(printable(f"{name}: {line}"))

    def _line(self, before: str, verdict: Verdict, after: str = "") -> str:
        """A line with a verdict, which has a colour on a terminal."""
        # Names of files and of keys come from others, and may contain characters that control the terminal.
        line = Text.of(printable(before), (verdict.upper(), verdict), printable(after))
        if not self._in_colour:
            return line.plain
        # Only output in colour needs this import.
        from rollbook_replays.renderers import colour_lines  # noqa: PLC0415

        return colour_lines([line], LOOKS).removesuffix("\n")

    def _say(self, line: str) -> None:
        """Print the line at once; if the reader has closed the pipe, the audit goes on without output."""
        try:
            print(line, flush=True)
        except BrokenPipeError:
            pass
        except OSError as wrong:
            if not self._is_full:
                self.report_failure(f"verdicts cannot be written: {wrong.strerror}")
            self._is_full = True

    def report_failure(self, why: str) -> None:
        """Print why a file was not judged or a verdict not written; sets exit code 3, which 1 (diverged) outranks."""
        self.codes.add(Exit.UNREADABLE)
        print(f"rollbook audit: {why}", file=sys.stderr)

    def publish(self, file: Path) -> None:
        """Write the page; if that fails, the verdicts keep their exit codes, and 3 is added."""
        try:
            write_file(file, self.page.html().encode())
        except OSError as wrong:
            self.report_failure(f"{file}: {wrong.strerror}")

    @property
    def summary(self) -> str:
        """How many files have which verdict."""
        return ", ".join(f"{self._count[verdict]:,} {verdict}" for verdict in Verdict if self._count[verdict])


def _why(audited: Audited) -> str:
    alone = f"; {NO_ENTROPY}" if audited.is_by_secret_alone else ""
    return f"{_reason(audited)}{alone}"


def _reason(audited: Audited) -> str:
    divergence = audited.divergence
    if divergence is not None:
        at = "" if divergence.event is None else f" at event {divergence.event}"
        return f"{at}, {divergence.check}: {divergence.sentence}"
    if audited.unreadable:
        return f": {audited.unreadable}"
    keys = "" if audited.keys is None else f", keys of {audited.keys}"
    missing = f", missing: {'; '.join(audited.missing)}" if audited.missing else ""
    return f", {audited.events} events{keys}{missing}"
