"""Malformed manifests are refused with the place and the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from rollbook_replays.tournament.manifest import LARGEST_MANIFEST, MOST_MATCHES, WrongManifest, read_manifest
from tests.replays.tournaments import EVERYBODY, manifest


def test_a_manifest_is_read_as_it_was_written() -> None:
    """Times may have any offset; points may be whole, decimal or fractions."""
    described = manifest(begins="2026-01-01T02:00:00+01:00", points='[3, 1.5, "1/3"]')
    read = read_manifest(described.encode())
    assert ("Cup", "cant_stop", 1) == (read.title, read.game, read.ruleset)
    assert 1_767_225_600_000 + 3_600_000 == read.begins_ms
    assert ["3", "3/2", "1/3"] == list(map(str, read.points))
    assert EVERYBODY == tuple((pairing.match_id, pairing.players) for pairing in read.pairings)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "players is missing"),
        ("title =", "Invalid value"),
        (manifest(title=""), "title is missing"),
        (manifest(title='"a\\u001b[2J"'), "title is text"),
        (manifest(title="7"), "title is text"),
        (manifest(game='"chess"'), "there is no game 'chess'"),
        (manifest(ruleset="2"), "ruleset 2 of cant_stop"),
        (manifest(options="{ blitz = true }"), "blitz"),
        (manifest(begins="2026-01-01T00:00:00"), "begins is an instant with its offset"),
        (manifest(begins='"yesterday"'), "begins is an instant"),
        (manifest(players='["Anna", "Anna", "Tom", "Willi"]'), "players names each once"),
        (manifest(players='["Anna"]'), "is none of the players"),
        (manifest(points="[-1]"), "points holds numbers from 0"),
        (manifest(points="[1e300]"), "points holds numbers from 0"),
        (manifest(points="[nan]"), "points holds numbers from 0"),
        (manifest(points='["1/0"]'), "points holds numbers from 0"),
        (manifest(points="3"), "points is a list"),
        (manifest(shared_places='"none"'), "none of those there are: split, full"),
        (manifest(prize='"a cake"'), "prize is not known here"),
        (manifest([("../../etc/passwd", ("Anna", "Tom"))]), "rounds[0].pairings[0].match is the id of a match"),
        (manifest([("x", ("Anna",))]), "cannot be played by 1 seats"),
        (manifest(standings={"Heike": (1, "3")}), "standings[0].player is 'Heike'"),
        (manifest(standings={"Anna": (0, "3")}), "standings[0].place is a whole number"),
        ("a = " + "[" * 100_000, "nested too deeply"),
        ("a." * 1_000 + "a = 1", "line 1 has more than 50 dots"),
        ("a.b = 1\n" * 20_001, "more than 20000 dots"),
        ("a = 0." + "1" * 1_001, "a number of more than 1000 digits"),
        ("".join(f"[a{number}]\n" for number in range(1_001)), "more than 1000 tables"),
        ("#" * (LARGEST_MANIFEST + 1), "at most"),
    ],
)
def test_what_is_no_manifest_is_refused_with_the_place(text: str, said: str) -> None:
    """An organiser finds the line, and a judge sees no traceback."""
    with pytest.raises(WrongManifest) as refused:
        read_manifest(text.encode())
    assert said in str(refused.value)


def test_bytes_that_are_no_text_are_no_manifest() -> None:
    """TOML has to be UTF-8."""
    with pytest.raises(WrongManifest, match="utf-8"):
        read_manifest(b"\xff")


def test_the_page_has_the_number_of_matches_that_a_tournament_may_have() -> None:
    """Authors of other readers take the limit from the page."""
    page = (Path(__file__).parents[2] / "replays" / "BUNDLE.md").read_text(encoding="utf-8")
    assert f"at most {MOST_MATCHES:,}. An ID" in page
