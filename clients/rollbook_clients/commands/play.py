"""`rollbook play`: plays in a terminal."""

from dataclasses import replace
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from rollbook.cli.exits import usage
from rollbook.cli.game_names import GameName
from rollbook.cli.service_options import LOCAL_SERVICE, ServiceOptions
from rollbook.rules.catalogue import current


def play(  # noqa: PLR0913 - every flag is a parameter
    link: str = "",
    *,
    now: GameName = "",
    slow: bool = False,
    people: bool = False,
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

    With --now you sit down with people who want to play the same game now. Bots join after 15 seconds.

    Example: `rollbook play --name Anna`, `rollbook play --now cant_stop`

    Parameters
    ----------
    link
        An invitation: HOST:PORT/MATCH, or HOST:PORT/MATCH/CODE of a private match.
    now
        The game to play at once, by id or title.
    slow
        With --now: a turn may take a day.
    people
        With --now: wait for people, without bots.
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
    from rollbook_clients.terminal.screens.play_now import Wish  # noqa: PLC0415 - as above

    if now and (link or now not in current()):
        return usage("--now takes no LINK" if link else f"there is no game {now!r}; `rollbook games` lists them")
    if (slow or people) and not now:
        return usage("--slow and --people go with --now")
    if not link:
        wish = Wish(now, slow, people) if now else None
        return start.play(start.TerminalOptions(at, language, name, pace=pace, code=code), wish)
    try:
        invited = invitation.read(link)
    except ValueError as wrong:
        return usage(str(wrong))
    options = replace(at, service=invited.service)
    return start.play(start.TerminalOptions(options, language, name, pace=pace, code=code), invited)
