"""The golden playthroughs equal those of the current code, and none is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from rollbook.match.check import check
from rollbook.replay_file.container import read, write
from rollbook.replay_file.key_lines import read_keys
from rollbook.rules.catalogue import rulesets
from rollbook_replays.audit.audit import audit
from rollbook_replays.audit.verdicts import Verdict
from tests import golden


def test_every_golden_playthrough_is_remade_byte_for_byte() -> None:
    """A difference is a change of rules, dice, notation or order; `python -m tests.golden` shows it in the diff."""
    wanted = golden.files()
    texts = (file for file in golden.FOLDER.iterdir() if file.suffix in {".txt", ".jsonl"})
    found = {file.name: file.read_text(encoding="utf-8") for file in texts}
    assert sorted(wanted) == sorted(found), "python -m tests.golden remakes them"
    for name, content in wanted.items():
        assert content == found[name], f"{name}: python -m tests.golden remakes it"


def test_every_game_and_every_option_has_a_golden_playthrough() -> None:
    """The author of a game or an option adds a readable match of it."""
    shown = {
        (case.game.name, case.game.version, name, value)
        for case in golden.golden_cases()
        for name, value in case.options.items()
    }
    for game in rulesets():
        for option in game.options:
            others = [value for value in option.values if (game.name, game.version, option.name, value) in shown]
            assert option.default in others
            assert len(others) > 1, f"{game.name} has no playthrough with another {option.name}"


@pytest.mark.parametrize("file", sorted(golden.FOLDER.glob("*.jsonl")), ids=lambda file: file.stem)
def test_every_golden_match_checks(file: Path) -> None:
    """The golden matches are valid, not only unchanged."""
    assert check(file.read_text(encoding="utf-8").splitlines()).dice_proved


REPLAYS = sorted(golden.FOLDER.glob("*.rollbook"))


@pytest.mark.parametrize("file", REPLAYS, ids=lambda file: file.stem)
def test_every_golden_replay_is_exact_for_ever(file: Path) -> None:
    """An old match is proved by the rules of its version, after any number of releases."""
    audited = audit(file.read_bytes(), read_keys((golden.FOLDER / "KEY.pub").read_text(encoding="ascii")))
    assert (Verdict.EXACT, None, ()) == (audited.verdict, audited.divergence, audited.missing)


def test_todays_rules_make_the_golden_replays_and_every_version_has_some() -> None:
    """The bytes are the same on every machine."""
    stored = {file.name: read(file.read_bytes()).replay for file in REPLAYS}
    for name, replay in golden.replays().items():
        assert replay == stored.get(name), f"{name}: python -m tests.golden makes it if it is not there"
        assert write(replay, golden.KEYS.replays) == (golden.FOLDER / name).read_bytes()
    released = {(game.name, game.version) for game in rulesets()}
    assert released == {(replay.game, replay.ruleset) for replay in stored.values()}
