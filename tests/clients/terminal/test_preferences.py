"""How a person likes the terminal is remembered, and never keeps it from starting."""

from __future__ import annotations

from pathlib import Path

import pytest

from rollbook_clients.terminal.preferences import PACES, USUAL_PACE, Preferences


def test_what_was_set_is_so_next_time(tmp_path: Path) -> None:
    """Pace and bell, in a file of this person's alone."""
    file = tmp_path / "preferences.json"
    first = Preferences(file)
    assert (USUAL_PACE, True) == (first.pace, first.bell)
    first.change_pace()
    first.switch_bell()
    again = Preferences(file)
    assert (first.pace, False) == (again.pace, again.bell)
    assert 0o600 == file.stat().st_mode & 0o777


def test_the_pace_goes_round_from_nothing_to_two_seconds() -> None:
    """Every pace can be had with one key, and none is slower than two seconds."""
    preferences = Preferences()
    seen = []
    for _ in PACES:
        preferences.change_pace()
        seen.append(preferences.pace)
    assert set(PACES) == set(seen)
    assert (0.0, 2.0) == (min(seen), max(seen))


@pytest.mark.parametrize("kept", ["", "[]", "{", '{"pace": 99, "bell": "loud"}', '{"pace": null}'])
def test_a_file_that_makes_no_sense_is_as_good_as_none(tmp_path: Path, kept: str) -> None:
    """Somebody edited it, or the disk was full: one still plays."""
    file = tmp_path / "preferences.json"
    file.write_text(kept, encoding="utf-8")
    preferences = Preferences(file)
    assert (USUAL_PACE, True) == (preferences.pace, preferences.bell)


def test_a_folder_that_cannot_be_written_costs_only_the_memory(tmp_path: Path) -> None:
    """What is set holds for now."""
    preferences = Preferences(tmp_path / "nowhere" / "preferences.json")
    preferences.switch_bell()
    assert not preferences.bell
