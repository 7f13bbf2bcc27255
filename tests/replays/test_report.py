"""The page of a tournament is valid, self-contained, and safe with any names."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import pytest

from rollbook.replay_file.container import write
from rollbook.rules.catalogue import current
from rollbook.rules.chance import Value
from rollbook_replays.audit.audit import audit
from rollbook_replays.audit.verdicts import Audited, Thrown, Verdict
from rollbook_replays.dice_statistics import DiceCount, chi_square_tail
from rollbook_replays.report import LONGEST_DETAIL, Report
from tests.replays.replaying import KEYS, PUBLIC, recorded
from tests.replays.tournaments import NUMBERS, bundled, judged, manifest, replays

VOID: Final = {"meta", "br"}


class Page(HTMLParser):
    """A strict HTML parser: every element has to be closed in order."""

    def __init__(self, html: str) -> None:
        """Parse the page."""
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        assert len(attrs) == len(dict(attrs))
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Handle an empty SVG element."""
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """Close an element."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Collect text."""
        self.texts.append(data)


def page(*names: str) -> str:
    """Return a page on a match of every game, one with these names, and on a tournament."""
    report = Report()
    for number, (game, rules) in enumerate(current().items()):
        seats = rules.seats[number == 0]
        replay = recorded(game, seats)
        if names and len(names) == seats:
            replay = replace(replay, names=names)
        report.add(f"{game}.rollbook", audit(write(replay, KEYS.replays), PUBLIC))
    report.add("<b>broken</b>", Audited(Verdict.UNREADABLE, unreadable="no <i>replay</i>"))
    return report.html()


def test_the_page_is_whole_html() -> None:
    """Every element is closed in order, and the page has language, encoding and title."""
    read = Page(page())
    assert [] == read.open
    assert page().startswith('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">')
    assert "Audit of replays" in read.texts


def test_the_page_needs_no_other_file_and_may_load_none() -> None:
    """It is one file that stays readable offline."""
    read = Page(page())
    assert set() == {tag for tag, _ in read.elements} & {"script", "link", "img", "iframe", "object", "embed", "a"}
    assert set() == {name for _, attributes in read.elements for name in attributes} & {
        "src",
        "href",
        "onload",
        "style",
    }
    assert not re.search(r"url\(|@import|https?:", page())
    policies = [attributes["content"] for _, attributes in read.elements if "http-equiv" in attributes]
    assert ["default-src 'none'; style-src 'unsafe-inline'"] == policies


def test_names_and_reasons_are_text_whatever_they_hold() -> None:
    """A player whose name is a script is shown as text."""
    script = "<script>alert(1)</script>"
    html = page(script, '"><img src=x onerror=y>')
    assert script not in html
    assert "img" not in {tag for tag, _ in Page(html).elements}
    texts = "".join(Page(html).texts)
    assert script in texts
    assert "no <i>replay</i>" in texts
    assert "\u202e" not in page("\u202eA", "\x1bB")


def test_each_match_is_a_row_whose_numbers_stand_like_numbers() -> None:
    """Only the count of events is a number; names, days and verdicts are words."""
    found = audit(write(recorded("cant_stop", 2), KEYS.replays), PUBLIC)
    report = Report()
    report.add("a.rollbook", found)
    row = next(line for line in report.html().splitlines() if "<td>a.rollbook</td>" in line)
    assert [f"{found.events:,}"] == re.findall(r'<td class="number">([^<]*)</td>', row)
    assert ">1 replay file audited: 1 exact" in report.html()


def test_a_reason_is_shown_whole_unless_it_is_very_long() -> None:
    """A cut reason is marked; a forger cannot fill the page."""
    report = Report()
    for name, reason in (("whole", "y" * LONGEST_DETAIL), ("cut", "z" * (LONGEST_DETAIL + 1))):
        report.add(name, Audited(Verdict.UNREADABLE, unreadable=reason))
    html = report.html()
    assert f"<small>{'y' * LONGEST_DETAIL}</small>" in html
    assert f"<small>{'z' * LONGEST_DETAIL}…</small>" in html


def test_light_dark_and_paper_have_colours_of_their_own() -> None:
    """Each colour on the page is defined for light, dark and print."""
    style = re.search(r"<style>(.*)</style>", page(), re.DOTALL)
    assert style is not None
    used = set(re.findall(r"var\((--\w+)\)", style[1]))
    given = re.findall(r":root \{([^}]*)\}", style[1])
    assert 3 == len(given)
    assert [used] * 3 == [set(re.findall(r"(--\w+):", colours)) for colours in given]


def test_the_page_shows_the_standings_recomputed_beside_those_claimed(tmp_path: Path) -> None:
    """The faults are shown above the standings."""
    judgement = judged(bundled(manifest(standings={"Anna": (1, "9")}), replays(*NUMBERS)), tmp_path)
    report = Report()
    report.add_judgement("cup.zip", judgement)
    html = report.html()
    assert '<td class="number">3</td><td>Anna</td><td class="number">1.5</td>' in html
    assert "<td>1. with 9</td>" in html
    assert "<td>standings</td><td>Anna</td><td>place 3 with 1.5</td>" in html
    assert '<span class="verdict diverged">DIVERGED</span>' in html
    assert "<h1>Cup</h1>" in html


def test_dice_are_counted_with_what_fair_ones_give() -> None:
    """By hand: of 60 throws of a die with two stars 20 are stars; chi-square 4 + 1 with two degrees."""
    count = DiceCount()
    faces = ("star", "star", "1", "1", "1", "2")
    halves: list[dict[Value, int]] = [{"star": 10, "1": 16, "2": 3}, {"star": 10, "1": 17, "2": 4}]
    for half in halves:
        count.add(Audited(Verdict.EXACT, game="raffzahn", thrown=(Thrown(faces, half),)))
    (die,) = count.statistics()
    assert [("star", 20, 20.0), ("1", 33, 30.0), ("2", 7, 10.0)] == [
        (face.face, face.times, face.expected) for face in die.fallen
    ]
    assert (60, 2) == (die.throws, die.freedom)
    assert pytest.approx(0.3 + 0.9) == die.chi_square
    assert pytest.approx(0.5488, abs=1e-4) == die.likelihood


@pytest.mark.parametrize(
    ("freedom", "statistic", "tail"),
    [(1, 3.841459, 0.05), (2, 5.991465, 0.05), (3, 7.814728, 0.05), (4, 9.487729, 0.05), (5, 20.51501, 0.001)],
)
def test_the_tail_of_chi_square_is_that_of_the_tables(freedom: int, statistic: float, tail: float) -> None:
    """The values are those of statistical tables."""
    assert pytest.approx(tail, rel=1e-4) == chi_square_tail(statistic, freedom)
    assert pytest.approx(1.0) == chi_square_tail(0.0, freedom)


def test_a_match_in_two_files_is_counted_once() -> None:
    """A bundle and the folder of its matches may both be given."""
    once, twice = Report(), Report()
    audited = audit(write(recorded("cant_stop", 2), KEYS.replays), PUBLIC)
    once.add("a", audited)
    twice.add("a", audited)
    twice.add("b", audited)
    figures = [re.findall(r"<figcaption>.*", report.html()) for report in (once, twice)]
    assert 1 == len(figures[0])
    assert figures[0] == figures[1]
