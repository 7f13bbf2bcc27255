"""What a person reads when something could not be done: a sentence in their language."""

from rollbook_clients.reasons import explained
from rollbook_clients.sdk import RollbookError
from rollbook_replays.games.words import Words
from rollbook_replays.text import printable


def said_of(error: RollbookError, words: Words) -> str:
    """Why, in words; facts come from the service."""
    return printable(explained(error, words.language))
