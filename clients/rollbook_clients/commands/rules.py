"""`rollbook rules`: explains the rules of a game."""

import sys
from typing import Literal

from rich.console import Console

from rollbook.cli.commands.games import no_such_game
from rollbook.cli.exits import Exit
from rollbook.cli.game_names import GameName
from rollbook.rules.catalogue import current
from rollbook_clients.terminal.texts import language_of_this_person
from rollbook_replays.games import presentation
from rollbook_replays.games.blocks import Block
from rollbook_replays.games.guide import guide
from rollbook_replays.games.presentation import Presentation
from rollbook_replays.games.words import Words
from rollbook_replays.renderers import colour_lines
from rollbook_replays.text import STRONG, Text, plain

NARROWEST, WIDEST = 40, 100


def rules(game: GameName, *, language: Literal["en", "de"] | None = None) -> int:
    """Explain a game: its aim, a turn and the end, with examples, such as `rollbook rules cant_stop`.

    At a table, `?` shows the same. Exit code 64 if there is no such game.

    Example: `rollbook rules cant_stop`

    Parameters
    ----------
    game
        The id or title of a game, as listed by `rollbook games`.
    language
        en or de. Default: the locale's, else en.
    """
    known = current().get(game)
    if known is None:
        return no_such_game(game)
    wide = min(max(Console().width, NARROWEST), WIDEST)
    explained = explain(presentation(game), language or language_of_this_person(), wide)
    lines = [Text.of((known.title, STRONG)), *([Text(), *explained] if explained else [])]
    sys.stdout.write(colour_lines(lines, {}) if sys.stdout.isatty() else plain(lines))
    return Exit.GOOD


def explain(shown: Presentation, language: str, wide: int) -> Block:
    """Return the guide of a game, or its help paragraph if it has no guide; empty without either."""
    words = Words(language, shown.texts)
    paragraph = " ".join(words("help").split()) if "help" in words else ""
    return guide(shown, language, wide) or (list(Text.of(paragraph).wrap(wide)) if paragraph else [])
