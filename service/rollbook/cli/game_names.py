"""Names of games on the command line: the id of a game, or its title in any spelling."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Annotated, Final, TypeAlias

from cyclopts import Parameter, Token

from rollbook.rules.catalogue import current

_SPELLED_OUT: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


def game_id(text: str) -> str:
    """The id of the game with this id or title, in any case and punctuation; returns any other text unchanged.

    >>> [game_id(text) for text in ("cant_stop", "Can't Stop", "cantstop", "WÜRFELZOO", "wurfelzoo", "chess")]
    ['cant_stop', 'cant_stop', 'cant_stop', 'wuerfelzoo', 'wuerfelzoo', 'chess']
    """
    games = current()
    if text in games:
        return text
    wanted = _spellings(text)
    return next(
        (game.name for game in games.values() if wanted & (_spellings(game.name) | _spellings(game.title))), text
    )


def _spellings(text: str) -> set[str]:
    """The letters and digits of a text, with umlauts spelled out and without their dots."""
    folded = unicodedata.normalize("NFC", text.casefold())
    both = folded.translate(_SPELLED_OUT), unicodedata.normalize("NFKD", folded)
    return {"".join(filter(str.isalnum, each)) for each in both} - {""}


def _convert(_kind: object, tokens: Sequence[Token]) -> str:
    return game_id(tokens[0].value)


GameName: TypeAlias = Annotated[str, Parameter(converter=_convert)]
"""A parameter that takes a game by id or title; the command gets the id."""
