"""Reads the match that a command names: a replay file, or a match of a service by its id or an invitation."""

from __future__ import annotations

from pathlib import Path

from rollbook.cli.exits import Exit, Failed
from rollbook.cli.service_options import ServiceOptions
from rollbook.replay_file.disk import read_file
from rollbook_clients.terminal.invitation import parse_pasted


def replay_of(source: str, at: ServiceOptions) -> bytes:
    """The bytes of a replay file; raises Failed if there is none, NotAReplay if it cannot be unpacked.

    A source that is no file is looked up at the service, as the guest that `rollbook play` made on this computer or as
    the owner of the token.
    """
    path = Path(source).expanduser()
    try:
        if path.exists():
            return read_file(path)
    except OSError as wrong:
        raise Failed(Exit.UNREADABLE, f"{source}: {wrong.strerror or wrong}") from None
    try:
        invited = parse_pasted(source, at.service)
    except ValueError:
        why = f"{source}: no such file, and neither the id of a match nor an invitation (HOST:PORT/MATCH)"
        raise Failed(Exit.UNREADABLE, why) from None
    from rollbook_clients.commands.service_calls import convert_error  # noqa: PLC0415 - not needed for a file
    from rollbook_clients.sdk import RollbookError  # noqa: PLC0415 - see above
    from rollbook_clients.sdk.sync import connect  # noqa: PLC0415 - see above
    from rollbook_clients.terminal.profile import Profile  # noqa: PLC0415 - see above

    try:
        with connect(invited.service, token=at.token, authorities=at.authorities, keep=Profile().guests) as table:
            return table.match(invited.match_id, invited.code).replay()
    except RollbookError as error:
        ended = convert_error(error)
        raise Failed(ended.code, f"{source}: {ended.why}") from None
