"""`rollbook rules` explains how a game is played."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rollbook.rules.catalogue import current
from rollbook_clients.commands.rules import explain
from rollbook_replays.games.plain import PLAIN


def rules(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    return subprocess.run(
        [sys.executable, "-m", "rollbook", "rules", *words], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("game", current())
def test_every_game_is_explained_in_both_languages(game: str) -> None:
    """Plain text in a pipe, with headings and an example, in the chosen language."""
    english, german = rules(game, "--language", "en"), rules(game, "--language", "de")
    assert (0, 0) == (english.returncode, german.returncode)
    assert "What it is about" in english.stdout
    assert "Example: " in english.stdout
    assert "Worum es geht" in german.stdout
    assert "\x1b" not in english.stdout


def test_a_game_that_is_not_there_is_wrong_usage_and_the_others_are_named() -> None:
    """The message lists the available games."""
    done = rules("chess")
    assert (64, "") == (done.returncode, done.stdout)
    assert all(game in done.stderr for game in current())


def test_a_game_without_presentation_has_no_rules_to_show() -> None:
    """`explain` returns no lines, not an empty one."""
    assert [] == explain(PLAIN, "de", 80)
