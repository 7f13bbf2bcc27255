"""What a person reads when something could not be done: a sentence, and not the name of a reason."""

from rollbook_clients.sdk import Refused, RollbookError
from rollbook_replays.text import printable


def said_of(error: RollbookError) -> str:
    """Why, in words.

    >>> said_of(Refused("MATCH_UNKNOWN", "there is no such match"))
    'there is no such match'
    """
    return printable(error.why if isinstance(error, Refused) else str(error))
