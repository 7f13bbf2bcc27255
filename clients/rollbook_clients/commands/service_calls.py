"""Runs a command at a service, and converts errors into messages and exit codes."""

import sys
from collections.abc import Callable
from pathlib import Path

from rollbook.cli.exits import Exit, Failed
from rollbook.cli.service_options import ServiceOptions
from rollbook_clients.sdk import NotFound, Refused, RollbookError, Unauthenticated, Unreachable
from rollbook_clients.sdk.sync import SyncTable, connect


def at_the_service(
    command: str, options: ServiceOptions, work: Callable[[SyncTable], Exit], keep: Path | None = None
) -> Exit:
    """Run a command with a table at a service and return its exit code; prints a failure on standard error.

    `keep` is the file that holds the caller's guest; None makes a new guest, unless there is a token.
    """
    try:
        authorities = options.authorities
    except Failed as unreadable:
        print(unreadable.why, file=sys.stderr)
        return unreadable.code
    try:
        with connect(options.service, token=options.token, authorities=authorities, keep=keep) as table:
            return work(table)
    except RollbookError as error:
        ended = convert_error(error)
    except Failed as failure:
        ended = failure
    say(command, ended.why)
    return ended.code


def convert_error(error: RollbookError) -> Failed:
    """Convert an error of the SDK into the exit code and message of a command."""
    match error:
        case Unreachable():
            return Failed(
                Exit.UNREADABLE,
                f"{error}; `rollbook serve --demo` starts one with matches to look at, --service HOST:PORT names"
                " another, --tls-ca FILE is for one with TLS",
            )
        case NotFound():
            return Failed(Exit.UNREADABLE, f"{error.why}; `rollbook matches` lists those that you may see")
        case Unauthenticated(reason="TOKEN_EXPIRED"):
            return Failed(Exit.WRONG, "the token has expired")
        case Refused():
            return Failed(Exit.WRONG, f"the service refuses: {error.why}")
        case _:
            return Failed(Exit.WRONG, str(error))


def say(command: str, words: object) -> None:
    """Print a message of a command on standard error."""
    print(f"rollbook {command}: {words}", file=sys.stderr, flush=True)
