"""`rollbook play`: plays in a terminal."""

from dataclasses import replace
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from rollbook.cli.exits import usage
from rollbook.cli.service_options import LOCAL_SERVICE, ServiceOptions


def play(  # noqa: PLR0913 - every flag is a parameter
    link: str = "",
    *,
    name: str = "",
    code: str = "",
    at: ServiceOptions = LOCAL_SERVICE,
    language: Literal["en", "de"] | None = None,
    pace: Annotated[float | None, Parameter(validator=Number(gte=0, lte=2))] = None,
) -> int:
    """Play in this terminal: the lobby, a table, the board, by keys and by mouse.

    You play as a guest, always the same one. Come back any time; your seats are still yours. `?` shows the keys and the
    rules of the game. Exit code 1 if no service answers or it refuses, 64 without a terminal.

    With a LINK you join the match that you were invited to. To try that on one machine the friend has to be another
    guest, with a folder of their own: `XDG_STATE_HOME=/tmp/tom rollbook play LINK --name Tom`.

    Example: `rollbook play --name Anna`

    Parameters
    ----------
    link
        An invitation: HOST:PORT/MATCH, or HOST:PORT/MATCH/CODE of a private match.
    code
        The code from `rollbook device` or the page (/device) on your other device: be the same player here.
    name
        Your display name. Default: the last one you used, else your login name.
    language
        en or de. Default: the locale's, else en.
    pace
        Seconds that each move of other players is shown, 0 to 2. Default: the one you used last, else 1.
    """
    from rollbook_clients.terminal import invitation, start  # noqa: PLC0415 - slow to import, and not needed for help

    if not link:
        return start.play(start.TerminalOptions(at, language, name, pace=pace, code=code))
    try:
        invited = invitation.read(link)
    except ValueError as wrong:
        return usage(str(wrong))
    options = replace(at, service=invited.service)
    return start.play(start.TerminalOptions(options, language, name, pace=pace, code=code), invited)
