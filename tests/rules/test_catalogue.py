"""The catalogue finds games by entry points; a broken game affects no other."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from importlib.metadata import Distribution, EntryPoint
from pathlib import Path
from typing import Any

import pytest

from rollbook.rules import catalogue
from rollbook.rules.catalogue import GROUP, collect, current, find, rulesets
from rollbook.rules.chance import FirstSeat
from rollbook.rules.refusals import Invalid, Reason

OURS = rulesets()


class Announced(EntryPoint):
    """An entry point that loads a given object."""

    def __init__(self, name: str, games: object, distribution: str = "others") -> None:
        """Announce these games under this name."""
        super().__init__(name, "somewhere:RULESETS", GROUP)
        vars(self).update(dist=Called(distribution), games=games)

    def load(self) -> Any:
        """Return the object; an exception is raised."""
        games = vars(self)["games"]
        if isinstance(games, Exception):
            raise games
        return games


class Called(Distribution):
    """A distribution of which only the name is known."""

    def __init__(self, name: str) -> None:
        """`name`: the name of the distribution."""
        self._name = name

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    def read_text(self, filename: str) -> str | None:
        """Has no files."""
        del filename
        return None

    def locate_file(self, path: Any) -> Path:
        """Has no files."""
        return Path(path)


def named(name: str, *versions: int) -> tuple[Any, ...]:
    """Return rulesets of a game with this name."""
    return tuple(replace(OURS[0], name=name, version=version) for version in versions)


def names(points: Iterable[EntryPoint]) -> list[tuple[str, int]]:
    """Return name and version of the rulesets that the catalogue finds."""
    return [(game.name, game.version) for game in collect(points)]


def test_our_own_games_are_announced_like_everybody_elses() -> None:
    """Our games use the same entry points as games of other packages."""
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    announced = project.partition(f'[project.entry-points."{GROUP}"]\n')[2].partition("\n\n")[0]
    assert [line.partition(" =")[0] for line in announced.splitlines()] == list(current())


def test_games_come_by_name_and_their_rulesets_by_version() -> None:
    """The order does not depend on file system or installer."""
    points = [Announced("zebra", named("zebra", 2, 1)), Announced("ape", named("ape", 1))]
    assert [("ape", 1), ("zebra", 1), ("zebra", 2)] == names(points)


@pytest.mark.parametrize(
    ("name", "games", "why"),
    [
        ("broken", ImportError("no such module"), "ImportError: no such module"),
        ("broken", OURS[0], "is no tuple of games"),
        ("broken", (), "is no tuple of games"),
        ("broken", ("chess",), "is no tuple of games"),
        ("broken", named("ape", 1), "is not that of the game"),
        ("Chess", named("Chess", 1), "cannot be a name"),
        ("other", named("other", 1), "cannot be a name"),
        ("broken", named("broken", 1, 1), "the same version"),
        ("broken", (replace(OURS[0], name="broken", choices={"pass": FirstSeat}),), "a field of a move is called"),
    ],
)
def test_what_cannot_be_used_is_left_out_and_said(name: str, games: object, why: str) -> None:
    """The warning names the game and the reason; all other games can be played."""
    with pytest.warns(RuntimeWarning, match=why) as said:
        assert [("ape", 1)] == names([Announced(name, games), Announced("ape", named("ape", 1))])
    assert 1 == len(said)
    assert f"game '{name}' of others is left out" in str(said[0].message)


@pytest.mark.parametrize("turned", [False, True])
def test_of_two_games_of_one_name_ours_counts(turned: bool) -> None:
    """An installed package cannot replace one of our games; between others the distribution's name decides."""
    ours = Announced("ape", named("ape", 1), "rollbook")
    theirs = Announced("ape", named("ape", 7), "apes")
    others = Announced("ape", named("ape", 8), "more-apes")
    for points, expected in (([ours, theirs], 1), ([theirs, others], 7)):
        with pytest.warns(RuntimeWarning, match="another distribution has a game of this name"):
            assert [("ape", expected)] == names(reversed(points) if turned else points)


def test_a_broken_stranger_is_mentioned_once_in_a_process(tmp_path: Path) -> None:
    """The command continues without that game."""
    (tmp_path / "strangers-1.dist-info").mkdir()
    (tmp_path / "strangers-1.dist-info" / "METADATA").write_text("Name: strangers\nVersion: 1\n")
    (tmp_path / "strangers-1.dist-info" / "entry_points.txt").write_text(f"[{GROUP}]\nchess = nowhere:RULESETS\n")
    script = "from rollbook.rules.catalogue import current, find\nfind('raffzahn'), find('raffzahn')\nprint(*current())"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert list(current()) == done.stdout.split()
    assert 1 == done.stderr.count(
        "game 'chess' of strangers is left out (ModuleNotFoundError: No module named 'nowhere')"
    )


def test_the_newest_ruleset_is_meant_where_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log names its version; a new match gets the newest."""
    monkeypatch.setattr(catalogue, "rulesets", lambda: named("ape", 1, 2, 3))
    assert [3, 1] == [find("ape").version, find("ape", 1).version]
    for name, version, learn in (("ape", 4, "newest: 3"), ("bear", None, "games: ape")):
        with pytest.raises(Invalid) as refused:
            find(name, version)
        assert (Reason.GAME_UNKNOWN, learn) == (refused.value.reason, refused.value.learn)
