"""`rollbook replay`: replays a match in a terminal."""

from typing import Literal

from rollbook.cli.service_options import LOCAL_SERVICE, ServiceOptions


def replay(source: str, *, at: ServiceOptions = LOCAL_SERVICE, language: Literal["en", "de"] | None = None) -> int:
    """Replay a match: step by step, turn by turn, or at any speed, from any perspective that the file allows.

    The rules are followed, but dice and signatures are not checked: `rollbook audit` does that. Exit code 1 if the
    service refuses or does not answer, 3 if there is nothing to read, 64 without a terminal.

    Example: `rollbook replay MATCH.rollbook`

    Parameters
    ----------
    source
        A replay file, the id of a match at the service, or an invitation: HOST:PORT/MATCH or HOST:PORT/MATCH/CODE.
    language
        en or de. Default: the locale's, else en.
    """
    from rollbook_clients.terminal import start  # noqa: PLC0415 - slow to import, and not needed for help

    return start.replay(start.TerminalOptions(at, language), source)
