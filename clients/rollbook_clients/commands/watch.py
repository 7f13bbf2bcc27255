"""`rollbook watch`: watches a match in a terminal."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from rollbook.cli.service_options import LOCAL_SERVICE, ServiceOptions


def watch(
    match: str | None = None,
    *,
    keep_heads: Path | None = None,
    at: ServiceOptions = LOCAL_SERVICE,
    language: Literal["en", "de"] | None = None,
    pace: Annotated[float | None, Parameter(validator=Number(gte=0, lte=2))] = None,
) -> int:
    """Watch a match as it is played, or choose one from the lobby.

    Lost connections are renewed and nothing is missed. Chain and signed heads are always checked. Exit code 1 if no
    service answers or it refuses, 3 if there is no such match or the file of heads cannot be read, 64 without a
    terminal.

    Example: `rollbook watch MATCH --keep-heads heads.jsonl`

    Parameters
    ----------
    match
        The id of a match. Default: choose one from the lobby.
    keep_heads
        A file for the last signed head of every match that you watch: proof if a log is changed afterwards, for
        `rollbook audit --head`.
    language
        en or de. Default: the locale's, else en.
    pace
        Seconds that each move is shown, 0 to 2. Default: the one you used last, else 1.
    """
    from rollbook_clients.terminal import start  # noqa: PLC0415 - slow to import, and not needed for help

    heads = None if keep_heads is None else keep_heads.expanduser()
    return start.watch(start.TerminalOptions(at, language, heads=heads, pace=pace), match)
