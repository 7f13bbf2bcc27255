"""`rollbook play`: sit down and play, in a terminal."""

from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from rollbook.cli.service_options import LOCAL_SERVICE, ServiceOptions


def play(
    *,
    name: str = "",
    at: ServiceOptions = LOCAL_SERVICE,
    language: Literal["en", "de"] | None = None,
    pace: Annotated[float | None, Parameter(validator=Number(gte=0, lte=2))] = None,
) -> int:
    """Play in this terminal: the lobby, a table, the board, by keys and by mouse.

    You play as a guest and stay the same one: come back any time; your seats are still yours. `?` shows the keys and
    the rules of the game everywhere. Exit code 1 if no service answers or it refuses, 64 without a terminal.

    Parameters
    ----------
    name
        Your display name. Default: the last one you used, else your login name.
    language
        en or de. Default: the locale's, else en.
    pace
        Seconds that each move of others stands before the next one, 0 to 2. Default: as you had it last, else 1.
    """
    from rollbook_clients.terminal import start  # noqa: PLC0415 - slow to load, and no help needs it

    return start.play(start.TerminalOptions(at, language, name, pace=pace))
