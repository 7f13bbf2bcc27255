"""Exit codes of the commands, and their error messages."""

import sys
from enum import IntEnum


class Exit(IntEnum):
    """Exit codes, the same for all commands."""

    GOOD = 0
    WRONG = 1
    UNVERIFIED = 2
    UNREADABLE = 3
    USAGE = 64
    INTERRUPTED = 130


class Failed(Exception):
    """Ends a command with a message and an exit code."""

    def __init__(self, code: Exit, why: str) -> None:
        super().__init__(code, why)
        self.code = code
        self.why = why


def worst(codes: set[Exit]) -> Exit:
    """The most severe of several exit codes: 1 before 3 before 2."""
    for code in (Exit.WRONG, Exit.UNREADABLE, Exit.UNVERIFIED):
        if code in codes:
            return code
    return Exit.GOOD


def count_noun(number: int, one: str, many: str) -> str:
    """A number with its noun.

    >>> count_noun(1, "match", "matches"), count_noun(1_200, "event", "events")
    ('1 match', '1,200 events')
    """
    return f"{number:,} {one if number == 1 else many}"


def usage(message: str) -> Exit:
    """Print what is wrong with the arguments on standard error."""
    print(message, file=sys.stderr)
    return Exit.USAGE
