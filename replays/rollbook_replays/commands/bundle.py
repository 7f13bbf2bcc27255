"""`rollbook bundle`: a tournament in one signed file."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from rollbook.cli.exits import Exit, Failed, usage
from rollbook.cli.json_lines import AsJson, print_json
from rollbook.files import appearing
from rollbook.identity.keys import load
from rollbook.identity.refusals import KeyRefused
from rollbook_replays.audit.sources import Source, sources
from rollbook_replays.audit.verdicts import Audited
from rollbook_replays.audit.workers import audit_all
from rollbook_replays.tournament.bundle import write_bundle
from rollbook_replays.tournament.judgement import Judgement, judge_matches
from rollbook_replays.tournament.manifest import (
    EXAMPLE,
    LARGEST_MANIFEST,
    Manifest,
    WrongManifest,
    is_match_id,
    read_manifest,
)

bundle = App(
    name="bundle",
    help="Pack a tournament into one signed file, which `rollbook audit` judges.",
    default_parameter=Parameter(show_default=False),
)


@bundle.command
def create(  # noqa: PLR0913 - every flag is a parameter
    *matches: Path,
    manifest: Path | None = None,
    signing_key: Path | None = None,
    out: Path | None = None,
    jobs: int | None = None,
    example: Annotated[bool, Parameter(negative="")] = False,
    as_json: AsJson = False,
) -> int:
    """Pack the replays of a tournament with its manifest, sign them, and print the standings.

    The manifest is TOML: title, game, ruleset, options, begins, ends, players, points for places (a list), what shared
    places get (shared_places = "split": the points of these places in equal parts; "full": the points of the best of
    them), rounds with their pairings, and the standings claimed. The matches are audited, and nothing is written if
    they are not those of the manifest, or if the standings do not follow from them.

    The same matches, manifest and key give the same bytes. Exit code 1 if something is wrong, 3 if something cannot be
    read. `rollbook bundle create --example > cup.toml` begins a manifest.

    Example: `rollbook bundle create files --manifest cup.toml --signing-key cup.key --out cup.zip`

    Parameters
    ----------
    matches
        Replay files, and folders with everything below them that ends in `.rollbook`.
    manifest
        The manifest, a TOML file.
    signing_key
        The organiser's key, an Ed25519 private key in PEM; `rollbook key FILE --create --role bundle --name NAME` makes
        one, and prints the line for the judges' key file.
    out
        The file to write. It appears whole or not at all.
    jobs
        How many processes. Default: one a core.
    example
        Print a manifest to fill in, and end.
    as_json
        For programs: one JSON object instead of the standings. file: the path of the bundle, null if it was not
        written; tournament: its title; standings: a list of place, player and points; findings: what is wrong, a list
        of fault, where, expected and found.
    """
    if example:
        print(EXAMPLE)
        return Exit.GOOD
    if manifest is None or signing_key is None or out is None:
        return usage("bundle create needs --manifest, --signing-key and --out; --example prints a manifest to fill in")
    if not matches:
        return usage("bundle create needs at least one replay file or folder")
    try:
        judgement = _create(matches, manifest, signing_key, out, jobs or os.cpu_count() or 1)
    except Failed as failed:
        print(failed.why, file=sys.stderr)
        return failed.code
    if as_json:
        facts = judgement.facts()
        told = {name: facts[name] for name in ("tournament", "standings", "findings")}
        print_json({"file": None if judgement.findings else str(out), **told})
    elif not judgement.findings:
        print("\n".join(judgement.table()))
    for finding in judgement.findings:
        print(finding, file=sys.stderr)
    return Exit.WRONG if judgement.findings else Exit.GOOD


def _create(matches: tuple[Path, ...], manifest: Path, signing_key: Path, out: Path, jobs: int) -> Judgement:
    """The judgement on the matches; the bundle is written if nothing is wrong. Raises Failed."""
    try:
        described = _manifest(manifest)
        found = _audit_sources(matches, jobs)
        private = load(signing_key)
        judgement = _judge(read_manifest(described), found)
        if not judgement.findings:
            with appearing(out) as file:
                write_bundle(file, described, {audited.match_id: source.read for source, audited in found}, private)
    except WrongManifest as wrong:
        raise Failed(Exit.WRONG, f"{manifest}: {wrong}") from None
    except KeyRefused as wrong:
        raise Failed(Exit.WRONG, f"{signing_key}: {wrong}") from None
    except OSError as wrong:
        raise Failed(Exit.UNREADABLE, f"{wrong.filename or out}: {wrong.strerror}") from None
    return judgement


def _manifest(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LARGEST_MANIFEST + 1)


def _audit_sources(paths: tuple[Path, ...], jobs: int) -> list[tuple[Source, Audited]]:
    found = [source for path in paths for source in sources(path)]
    if not found:
        raise Failed(Exit.UNREADABLE, "there are no replay files there: their names end in .rollbook")
    audited = list(audit_all(found, {}, (), jobs))
    for source, match in audited:
        if match.unreadable:
            raise Failed(Exit.UNREADABLE, f"{source.name}: {match.unreadable}")
        if not is_match_id(match.match_id):
            raise Failed(Exit.WRONG, f"{source.name}: {match.match_id!r} cannot be the name of a file")
    return audited


def _judge(manifest: Manifest, found: list[tuple[Source, Audited]]) -> Judgement:
    """The judgement on the matches alone; keys and signatures are for an audit."""
    named: dict[str, Audited] = {}
    for source, audited in found:
        if audited.match_id in named:
            raise Failed(Exit.WRONG, f"{source.name}: match {audited.match_id} is given twice")
        named[audited.match_id] = audited
    return judge_matches(manifest, list(named.items()), [], [])
