"""The command line: a table of commands, each imported only when it is called.

A package adds a command with an entry point of the group `rollbook.commands`. The group `rollbook.processes` is for
commands that only a service starts; no help lists these.
"""

import errno
import os
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

from cyclopts import App, CycloptsError, Parameter

from rollbook import __version__, processes
from rollbook.cli.exits import Exit, worst
from rollbook.cli.summaries import summary

HELP = """Match service for dice and card games: play, watch, replay, audit.

Every roll and every choice is an event; a match is its log, and anyone can check it.

`rollbook COMMAND --help` explains a command.
`rollbook --install-completion` makes your shell complete commands and flags;
--shell bash, zsh, fish or powershell names it if it is not found by itself.

Exit codes: 0 good, 1 something is wrong, 2 unverified, 3 cannot be read or
written, or nothing found, 64 wrong usage.
"""

_LISTING: Final[tuple[list[str], ...]] = ([], ["--help"], ["-h"])
_COMPLETION: Final = "--install-completion"


def app(words: Sequence[str] = ()) -> App:
    """All installed commands without importing them; with summaries if the words ask for the list of commands."""
    is_listed = list(words) in _LISTING
    table = App(
        name="rollbook",
        help=HELP,
        # Without Markdown these start in 80 % of the time.
        help_format="plaintext" if is_listed or "--version" in words else "markdown",
        version=__version__,
        result_action="return_value",
        default_parameter=Parameter(show_default=False),
    )
    for command in sorted(entry_points(group="rollbook.commands"), key=lambda point: point.name):
        table.command(command.value, name=command.name, help=summary(command) if is_listed else None)
    for process in entry_points(group=processes.GROUP):
        table.command(process.value, name=process.name, show=False)
    if _COMPLETION in words:
        table.register_install_completion_command(_COMPLETION)
    return table


def main() -> None:
    """Run the command and leave with its exit code."""
    sys.exit(run(sys.argv[1:]))


def run(words: list[str]) -> int:
    """Run the command with these words and return its exit code."""
    # gRPC logs to standard error unless this variable is set before it is imported.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    code: int = Exit.GOOD
    if sys.stdout is None:
        # Standard output was closed before the start; otherwise a socket could get its descriptor and receive prints.
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for the rest of the process
    try:
        result = app(words)(words, exit_on_error=False, print_error=True)
        code = result if isinstance(result, int) else Exit.GOOD
        sys.stdout.flush()
    except CycloptsError:
        print("rollbook --help lists the commands, rollbook COMMAND --help explains one", file=sys.stderr)
        return Exit.USAGE
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except OSError as wrong:
        if wrong.errno not in {errno.EPIPE, errno.ENOSPC}:
            raise
        # Prevents a message of the interpreter when it closes standard output itself.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if wrong.errno == errno.ENOSPC:
            print(f"rollbook: {wrong.strerror}", file=sys.stderr)
            return worst({Exit(code), Exit.UNREADABLE})
        # The reader has closed the pipe, which is not an error.
    return code
