"""Preferences of the terminal are saved; a broken file does not prevent the start."""

from __future__ import annotations

from pathlib import Path

import pytest

from rollbook_clients.terminal.preferences import PACES, USUAL_PACE, Preferences


def test_what_was_set_is_so_next_time(tmp_path: Path) -> None:
    """Pace and bell are saved in a file that only this user can read."""
    file = tmp_path / "preferences.json"
    first = Preferences(file)
    assert (USUAL_PACE, True) == (first.pace, first.bell)
    first.change_pace()
    first.switch_bell()
    again = Preferences(file)
    assert (first.pace, False) == (again.pace, again.bell)
    assert 0o600 == file.stat().st_mode & 0o777


def test_the_pace_goes_round_from_nothing_to_two_seconds() -> None:
    """One key cycles through all paces, from 0 to 2 seconds."""
    preferences = Preferences()
    seen = []
    for _ in PACES:
        preferences.change_pace()
        seen.append(preferences.pace)
    assert set(PACES) == set(seen)
    assert (0.0, 2.0) == (min(seen), max(seen))


@pytest.mark.parametrize("kept", ["", "[]", "{", '{"pace": 99, "bell": "loud"}', '{"pace": null}'])
def test_a_file_that_makes_no_sense_is_as_good_as_none(tmp_path: Path, kept: str) -> None:
    """With a broken file, such as after a full disk, the program starts with the defaults."""
    file = tmp_path / "preferences.json"
    file.write_text(kept, encoding="utf-8")
    preferences = Preferences(file)
    assert (USUAL_PACE, True) == (preferences.pace, preferences.bell)


def test_a_folder_that_cannot_be_written_costs_only_the_memory(tmp_path: Path) -> None:
    """The preferences apply until the program ends."""
    preferences = Preferences(tmp_path / "nowhere" / "preferences.json")
    preferences.switch_bell()
    assert not preferences.bell
