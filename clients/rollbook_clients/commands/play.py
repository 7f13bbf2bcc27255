"""`rollbook play`: sit down and play, in a terminal."""

from typing import Literal

from rollbook.cli.service_options import LOCAL_SERVICE, ServiceOptions


def play(*, name: str = "", at: ServiceOptions = LOCAL_SERVICE, language: Literal["en", "de"] | None = None) -> int:
    """Play in this terminal: the lobby, a table, the board, by keys and by mouse.

    One plays as a guest and stays the same one: whoever comes back has their seats again. `?` helps everywhere. Exit
    code 1 if no service answers or it refuses, 64 without a terminal.

    Parameters
    ----------
    name
        How one is called at the table. Default: as last time, or as at this computer.
    language
        en or de. Default: the locale's, else en.
    """
    from rollbook_clients.terminal import start  # noqa: PLC0415 - slow to load, and no help needs it

    return start.play(start.TerminalOptions(at, language, name))
