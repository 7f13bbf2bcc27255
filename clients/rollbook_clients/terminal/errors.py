"""Texts for errors, in the user's language."""

from rollbook_clients.reasons import explain
from rollbook_clients.sdk import RollbookError
from rollbook_replays.games.words import Words
from rollbook_replays.text import printable


def said_of(error: RollbookError, words: Words) -> str:
    """The reason of an error as printable text; facts in it come from the service."""
    return printable(explain(error, words.language))
