"""Commands accept a game by its id or its title."""

from __future__ import annotations

import pytest

from rollbook.cli.app import app
from rollbook.cli.game_names import game_id
from rollbook.rules.catalogue import AnyGame, current
from tests.cli.test_commands import rollbook

TAKING_A_GAME = (
    ["rules", "GAME"],
    ["simulate", "GAME"],
    ["duel", "random", "random", "--game", "GAME"],
    ["bot", "--game", "GAME"],
    ["matches", "--game", "GAME"],
    ["admin", "matches", "--game", "GAME"],
)


@pytest.mark.parametrize("words", TAKING_A_GAME, ids=lambda words: words[0])
@pytest.mark.parametrize("spelling", ["Can't Stop", "cantstop", "CANT-STOP", "cant_stop"])
def test_every_command_takes_titles(words: list[str], spelling: str) -> None:
    """The command's function receives the id."""
    given = [spelling if word == "GAME" else word for word in words]
    _, bound, *_ = app().parse_args(given, exit_on_error=False, print_error=True)
    assert "cant_stop" == bound.arguments["game"]


@pytest.mark.parametrize("game", list(current().values()), ids=lambda game: game.name)
def test_a_title_leads_to_its_game_and_nothing_else_does(game: AnyGame) -> None:
    """The titles of all installed games, and texts that are no title."""
    assert [game.name] * 3 == [game_id(text) for text in (game.name, game.title, game.title.upper())]
    for text in ("", "'", "chess", game.title[:-1]):
        assert text == game_id(text)


def test_the_same_match_is_simulated_by_id_and_by_title() -> None:
    """Both names give the same bytes, even for a title with an umlaut."""
    by_id, by_title = (rollbook("simulate", name, "--seed", "1", "--json") for name in ("wuerfelzoo", "Würfelzoo"))
    assert (0, by_id.stdout) == (by_title.returncode, by_title.stdout)
