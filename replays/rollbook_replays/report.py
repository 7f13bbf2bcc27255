"""The page that a tournament publishes: verdicts, results, standings and dice in one self-contained HTML file.

Strangers choose the texts in replays and manifests, so the page escapes all of them. A content security policy forbids
the browser to load or run anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape
from typing import Final

from rollbook.replay_file.kept_heads import WitnessedHead
from rollbook.rules.catalogue import current
from rollbook_replays.absences import Absences
from rollbook_replays.audit.verdicts import Audited, Verdict
from rollbook_replays.dice_statistics import DiceCount, DieStatistics
from rollbook_replays.text import WIDTH, printable, seat_names
from rollbook_replays.tournament.judgement import Judgement, amount
from rollbook_replays.tournament.manifest import instant

LONGEST_DETAIL: Final = 400
UNLIKELY: Final = 0.001
"""Readers should look twice at a smaller probability, which one in a thousand fair dice has."""

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c1c1c; --faint: #5c5c5c; --paper: #fff; --line: #d4d4d4; --bar: #3b6ea8;
  --mark: #b3541e; --good: #1b6e34; --open: #8a5a00; --bad: #b01e1e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e6e3; --faint: #a8a5a0; --paper: #16181c; --line: #3a3d42;
  --bar: #6ea3dd; --mark: #f0a35e; --good: #6fce8b; --open: #e8b95a; --bad: #ff8a80; } }
@media print { :root { color-scheme: light; --ink: #000; --faint: #444; --paper: #fff; --line: #999; --bar: #3b6ea8;
  --mark: #b3541e; --good: #1b6e34; --open: #8a5a00; --bad: #b01e1e; }
  figure, tr { break-inside: avoid; } thead { display: table-header-group; } }
* { box-sizing: border-box; }
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; margin-bottom: .2rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem; }
p.faint, small, figcaption { color: var(--faint); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: .35rem .6rem; text-align: left; vertical-align: top; }
th { font-weight: 600; } td.number, th.number { text-align: right; }
td { overflow-wrap: anywhere; }
.verdict { font-weight: 700; white-space: nowrap; }
.exact { color: var(--good); } .unverified { color: var(--open); } .diverged, .unreadable { color: var(--bad); }
.dice { display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: 1.5rem; }
figure { margin: 0; max-width: 26rem; }
svg { width: 100%; height: auto; } svg text { fill: var(--ink); font-size: 13px; }
svg .bar { fill: var(--bar); } svg .expected { stroke: var(--mark); stroke-width: 2.5; }
svg .axis { stroke: var(--line); } svg .small { fill: var(--faint); font-size: 11px; }
"""

_PLOT_WIDTH: Final = 360
_PLOT_HEIGHT: Final = 190
_BASE: Final = 160
_TOP: Final = 22


class Report:
    """Collects the content of the page, one row of HTML for each file, so that thousands fit into memory."""

    def __init__(self) -> None:
        self._rows: list[str] = []
        self._verdicts: Counter[Verdict] = Counter()
        self._matches: set[str] = set()
        """Matches counted so far; the dice of a match in two files count once."""
        self._dice = DiceCount()
        self._fixed = 0
        self._absences = Absences()
        self._judged: list[tuple[str, Judgement]] = []
        self._flaws: list[str] = []

    def add(self, name: str, audited: Audited) -> None:
        """Add one file and its verdict."""
        self._verdicts[audited.verdict] += 1
        if audited.match_id not in self._matches:
            self._matches.add(audited.match_id)
            self._dice.add(audited)
            self._fixed += audited.is_by_secret_alone
        self._absences.add(audited)
        self._rows.append(_row(name, audited))

    def add_judgement(self, name: str, judgement: Judgement) -> None:
        """Add one bundle and its judgement."""
        self._judged.append((name, judgement))

    def add_flaw(self, where: str, head: WitnessedHead, why: str) -> None:
        """Add one kept head that proves nothing; `where` is its file and line."""
        self._flaws.append(_cells(where, head.match_id, str(head.sequence), why, numbers=(2,)))

    def html(self) -> str:
        """The complete page."""
        return "\n".join(self._page()) + "\n"

    def _page(self) -> Iterator[str]:
        title = self._judged[0][1].manifest.title if len(self._judged) == 1 else "Audit of replays"
        yield "<!DOCTYPE html>"
        yield '<html lang="en">'
        yield "<head>"
        yield '<meta charset="utf-8">'
        yield (
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        )
        yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
        yield f"<title>{_text(title)}</title>"
        yield f"<style>{_STYLE}</style>"
        yield "</head>"
        yield "<body>"
        yield f"<h1>{_text(title)}</h1>"
        yield f'<p class="faint">{self._summary()}</p>'
        for name, judgement in self._judged:
            yield from _tournament(name, judgement)
        yield from self._dice_section()
        yield from self._absence_section()
        if self._flaws:
            yield "<h2>Kept heads that prove nothing</h2>"
            yield from _table(("Line", "Match", "*Event", "Why"), self._flaws)
        yield "<h2>Matches</h2>"
        heads = ("File", "Match", "Game", "Places", "Opened", "*Events", "Verdict")
        yield from _table(heads, self._rows)
        yield "</body>"
        yield "</html>"

    def _summary(self) -> str:
        counts = ", ".join(f"{self._verdicts[verdict]:,} {verdict}" for verdict in Verdict if self._verdicts[verdict])
        fixed = (
            f" In {self._fixed:,} of the matches no seat added randomness: their dice are fixed by the secret alone."
            if self._fixed
            else ""
        )
        total = self._verdicts.total()
        files = "replay file" if total == 1 else "replay files"
        return f"{total:,} {files} audited: {counts or 'none'}.{fixed}"

    def _absence_section(self) -> Iterator[str]:
        rows = self._absences.rows()
        if not rows:
            return
        yield "<h2>Not ready in time</h2>"
        yield (
            '<p class="faint">How often a match was aborted because a player of this name was not ready, of the exact'
            " matches in which the name sat. Names are not identities: anybody can take any name, and one"
            " person can have many.</p>"
        )
        cells = [_cells(row.name, f"{row.times:,}", f"{row.matches:,}", numbers=(1, 2)) for row in rows]
        yield from _table(("Name", "*Not ready", "*Matches"), cells)

    def _dice_section(self) -> Iterator[str]:
        statistics = self._dice.statistics()
        if not statistics:
            return
        yield "<h2>Dice</h2>"
        yield (
            '<p class="faint">Bars: how often each face fell. Lines: how often fair dice let it fall on average. p is'
            f" how likely fair dice differ at least so much; below {UNLIKELY} look twice.</p>"
        )
        yield '<div class="dice">'
        for die in statistics:
            yield from _plot(die)
        yield "</div>"


def _tournament(name: str, judgement: Judgement) -> Iterator[str]:
    manifest = judgement.manifest
    yield f"<h2>{_text(manifest.title)}: {_verdict(judgement.verdict)}</h2>"
    yield (
        f'<p class="faint">{_text(_game_title(manifest.game))}, ruleset {manifest.ruleset},'
        f" {len(manifest.rounds)} rounds, {len(manifest.pairings)} matches,"
        f" {instant(manifest.begins_ms)} to {instant(manifest.ends_ms)};"
        f" points for places: {', '.join(map(amount, manifest.points))}, shared places"
        f" {manifest.shared_places} ({_text(name)}){f', {_text(judgement.signed_by)}' if judgement.signer else ''}</p>"
    )
    if judgement.findings:
        yield "<h3>What is wrong</h3>"
        rows = [_cells(finding.fault, finding.where, finding.expected, finding.found) for finding in judgement.findings]
        yield from _table(("What", "Where", "Expected", "Found"), rows)
    if judgement.missing:
        yield "<h3>What is missing</h3>"
        yield "<ul>"
        yield from (f"<li>{_text(what)}</li>" for what in judgement.missing)
        yield "</ul>"
    yield "<h3>Standings</h3>"
    rows = []
    for standing in judgement.standings:
        claimed = manifest.standings.get(standing.player)
        says = "nothing" if claimed is None else f"{claimed.place}. with {amount(claimed.points)}"
        cells = (str(standing.place), standing.player, amount(standing.points), str(standing.matches), says)
        rows.append(_cells(*cells, numbers=(0, 2, 3)))
    yield from _table(("*Place", "Player", "*Points", "*Matches", "The manifest claims"), rows)


def _row(name: str, audited: Audited) -> str:
    seats = audited.seats or len(audited.names)
    names = seat_names(audited.names or ("",) * seats, most=WIDTH)
    if audited.places is not None and len(audited.places) == len(names):
        ranked = sorted((place, seat) for seat, place in enumerate(audited.places))
        result = ", ".join(f"{place}. {names[seat]}" for place, seat in ranked)
    else:
        result = f"aborted: {audited.aborted}" if audited.aborted else ", ".join(names)
    game = f"{_game_title(audited.game)} {audited.ruleset}" if audited.game else ""
    opened = instant(audited.opened_ms) if audited.opened_ms else ""
    cells = _cells(name, audited.match_id, game, result, opened, f"{audited.events:,}", numbers=(5,))
    details = (_detail(audited), "" if audited.keys is None else f"keys of {audited.keys}")
    small = "".join(f"<br><small>{_text(detail)}</small>" for detail in details if detail)
    return f"{cells}<td>{_verdict(audited.verdict)}{small}</td>"


def _detail(audited: Audited) -> str:
    divergence = audited.divergence
    if divergence is not None:
        at = "" if divergence.event is None else f" at event {divergence.event}"
        text = f"{divergence.check}{at}: {divergence.sentence}"
    else:
        notes = ["no seat added randomness"] if audited.is_by_secret_alone else []
        text = audited.unreadable or "; ".join([*(f"missing: {what}" for what in audited.missing), *notes])
    return text if len(text) <= LONGEST_DETAIL else text[:LONGEST_DETAIL] + "…"


def _plot(die: DieStatistics) -> Iterator[str]:
    title = f"{_game_title(die.game)}: die {' '.join(map(str, die.faces))}"
    most = max(max(face.times, face.expected) for face in die.fallen)
    step = _PLOT_WIDTH / len(die.fallen)
    yield "<figure>"
    yield f'<svg viewBox="0 0 {_PLOT_WIDTH} {_PLOT_HEIGHT}" role="img" aria-label="{_text(title)}">'
    for number, face in enumerate(die.fallen):
        left, middle = number * step, (number + 0.5) * step
        top, line = (_BASE - (_BASE - _TOP) * value / most for value in (face.times, face.expected))
        yield (
            f'<rect class="bar" x="{left + step * 0.15:.1f}" y="{top:.1f}" width="{step * 0.7:.1f}"'
            f' height="{_BASE - top:.1f}"/>'
        )
        yield (
            f'<line class="expected" x1="{left + step * 0.08:.1f}" x2="{left + step * 0.92:.1f}"'
            f' y1="{line:.1f}" y2="{line:.1f}"/>'
        )
        above = min(top, line) - 5
        yield f'<text class="small" x="{middle:.1f}" y="{above:.1f}" text-anchor="middle">{face.times:,}</text>'
        yield f'<text x="{middle:.1f}" y="{_BASE + 18}" text-anchor="middle">{_text(str(face.face))}</text>'
    yield f'<line class="axis" x1="0" x2="{_PLOT_WIDTH}" y1="{_BASE}" y2="{_BASE}"/>'
    yield "</svg>"
    expected = ", ".join(f"{face.face}: {face.expected:,.1f}" for face in die.fallen)
    verdict = "" if die.likelihood >= UNLIKELY else " <strong>Look twice.</strong>"
    yield (
        f"<figcaption><strong>{_text(title)}</strong><br>{die.throws:,} thrown; expected {_text(expected)}.<br>"
        f"χ² = {die.chi_square:.2f} with {die.freedom} degrees of freedom, p = {die.likelihood:.3g}.{verdict}"
        "</figcaption>"
    )
    yield "</figure>"


def _table(heads: Iterable[str], rows: Iterable[str]) -> Iterator[str]:
    """A table; a heading that begins with a star is for a column of numbers."""
    yield '<div class="scroll"><table>'
    cells = "".join(
        f'<th scope="col"{" class=number" if head.startswith("*") else ""}>{_text(head.removeprefix("*"))}</th>'
        for head in heads
    )
    yield f"<thead><tr>{cells}</tr></thead>"
    yield "<tbody>"
    yield from (f"<tr>{row}</tr>" for row in rows)
    yield "</tbody></table></div>"


def _cells(*texts: str, numbers: tuple[int, ...] = ()) -> str:
    return "".join(
        f'<td class="number">{_text(text)}</td>' if column in numbers else f"<td>{_text(text)}</td>"
        for column, text in enumerate(texts)
    )


def _verdict(verdict: Verdict) -> str:
    return f'<span class="verdict {verdict}">{verdict.upper()}</span>'


def _game_title(game: str) -> str:
    return current()[game].title if game in current() else game


def _text(text: str) -> str:
    return escape(printable(text))
