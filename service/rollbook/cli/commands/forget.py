"""`rollbook forget`: erases names of players from all data of a service."""

from __future__ import annotations

import asyncio
import sys
import unicodedata
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from rollbook.cli.exits import Exit, usage
from rollbook.cli.json_lines import AsJson, print_json

if TYPE_CHECKING:
    from rollbook.server.forgetting.erasure import Erased, Selection

_NEVER_REACHED = (
    "backups that were made before, or meanwhile: a restore brings the names back",
    "files that others have: exports, bundles, what the SDK or a watcher kept",
    "tokens: a player's token has the name until it expires, and a player who sits down again brings it along",
)


def forget(  # noqa: PLR0913 - every flag is a parameter
    *match: str,
    data: Annotated[Path | None, Parameter(env_var="ROLLBOOK_DATA")] = None,
    redis: Annotated[str | None, Parameter(env_var="ROLLBOOK_REDIS")] = None,
    archive: Annotated[str | None, Parameter(env_var="ROLLBOOK_ARCHIVE")] = None,
    player: str | None = None,
    subject: str | None = None,
    issuer: str | None = None,
    as_json: AsJson = False,
) -> int:
    """Erase names of players from everything that a service keeps; matches stay valid without them.

    Names are not part of the log, so it can still be checked. From the lobby only the given names are erased; from the
    file of an archived match all of them, because they share one signature. The files of the store and the index of the
    archive are rewritten, so that the names are nowhere in the data directory, nor in a backup that is made afterwards.

    The service may keep running, and so may others on the same store: each looks every 2 seconds for names to forget,
    and when the command ends none of them shows the names. For a player or a subject all files of the archive are read.
    If the command was interrupted, run it again to finish.

    It cannot reach earlier backups, files that others have (exports, bundles, what the SDK keeps), older versions in a
    bucket, and tokens, which contain the names of their owners. The command lists these places, and the servers of a
    Redis of your own that did not rewrite their files.

    Prints every match that names were erased from. Exit code 1 if something was not done, 3 if no such name was found.

    Example: `rollbook forget --data ~/rollbook --player Anna`

    Parameters
    ----------
    match
        The ids of matches: all names in them are erased.
    data
        The data directory of the service, running or not.
    redis
        The URL of the Redis of the service, if it has no store of its own; as for `rollbook serve`.
    archive
        The archive: a folder, or s3://bucket/prefix with credentials and endpoint in the environment. Default: archive
        in the data directory. Without --data and --redis only its files are changed.
    player
        All matches with exactly this display name (after NFC). Names are not identities: other people may have the same
        one and lose it as well, and a player who used two names needs two runs.
    subject
        All matches in which this subject (the `sub` of their tokens) sits, by any name. Needs --data: service.key
        is needed to find their references in the logs.
    issuer
        The issuer of that subject: the `iss` of the tokens. Default: rollbook, the issuer of guests.
    as_json
        For programs: one JSON object for each match that names were erased from, a line each, with match: its id. The
        last line is a report. matches: how many there were; unknown: the given ids that are of no match; problems: what
        was not done; not_reached: where names may remain. The last three are lists.
    """
    if not match and player is None and subject is None:
        return usage("name matches, a --player or a --subject; rollbook forget --help explains it")
    if data is None and redis is None and archive is None:
        return usage("name the place: --data, --redis or --archive; rollbook forget --help explains it")
    if subject is not None and data is None:
        return usage("--subject needs --data: the service key is needed to find the subject in the logs")
    home = None if data is None else data.expanduser()

    def selection() -> Selection:
        from rollbook.server.forgetting.erasure import Selection  # noqa: PLC0415 - only for who forgets

        name = None if player is None else unicodedata.normalize("NFC", player)
        reference = None if subject is None or home is None else _references(home, issuer, subject)
        return Selection(frozenset(match), name, reference)

    return _run(home, redis, archive, selection, as_json=as_json)


def _run(
    data: Path | None, redis: str | None, archive: str | None, selection: Callable[[], Selection], *, as_json: bool
) -> Exit:
    from rollbook.identity.service_keys import KeyFileRefused  # noqa: PLC0415 - only for who forgets
    from rollbook.server.forgetting.erasure import NotForgotten  # noqa: PLC0415 - see above
    from rollbook.server.forgetting.kept_names import NoPlace  # noqa: PLC0415 - see above
    from rollbook.storage.archive.marker import OtherArchive  # noqa: PLC0415 - see above
    from rollbook.storage.embedded.data_directory import DataDirectoryRefused  # noqa: PLC0415 - see above
    from rollbook.storage.embedded.server import ServerFailed, ServerNotFound  # noqa: PLC0415 - see above
    from rollbook.storage.port import StoreUnavailable  # noqa: PLC0415 - see above

    try:
        return asyncio.run(_forget(data, redis, archive, selection(), as_json=as_json))
    except NoPlace as nothing:
        return _fail(nothing, Exit.UNREADABLE)
    except (
        DataDirectoryRefused, KeyFileRefused, NotForgotten, OSError, OtherArchive, ServerFailed, ServerNotFound,
        StoreUnavailable, ValueError,
    ) as why:  # fmt: skip
        return _fail(why, Exit.WRONG)


async def _forget(
    data: Path | None, redis: str | None, archive: str | None, selection: Selection, *, as_json: bool
) -> Exit:
    from rollbook.cli.progress import Progress  # noqa: PLC0415 - see above
    from rollbook.server.forgetting.erasure import Erasure  # noqa: PLC0415 - see above
    from rollbook.server.forgetting.kept_names import open_places  # noqa: PLC0415 - see above
    from rollbook.storage.archive.marker import S3  # noqa: PLC0415 - see above

    async with open_places(data, redis, archive) as place:
        with Progress("file", "files", 0) as files:
            erased = await Erasure(place, selection, partial(_tell, as_json=as_json), files).run()
    unknown = sorted(selection.matches - erased.there)
    for match_id in unknown:
        print(f"{match_id}: there is no such match", file=sys.stderr)
    for problem in erased.problems:
        print(f"rollbook forget: {problem}", file=sys.stderr)
    unreached = [*_NEVER_REACHED, *sorted(erased.doubts)]
    if place.log is None:
        unreached.append("the store and the index of a service: --data or --redis names them")
    elif data is None:
        unreached.append("the index in the data directory of a service that does not run now: it follows at its start")
    if place.archive is not None and place.archive.where.startswith(S3):
        unreached.append("older versions of files, if the bucket keeps them")
    for sentence in unreached:
        print(f"not reached: {sentence}", file=sys.stderr)
    if as_json:
        report = {"unknown": unknown, "problems": erased.problems, "not_reached": unreached}
        print_json({"matches": len(erased.matches), **report})
    return _exit(erased)


def _tell(match_id: str, *, as_json: bool) -> None:
    """Print a match that names were erased from."""
    if as_json:
        print_json({"match": match_id})
    else:
        print(match_id, flush=True)


def _exit(erased: Erased) -> Exit:
    if erased.problems:
        return Exit.WRONG
    if erased.matches or erased.was_begun:
        return Exit.GOOD
    return _fail("no such name was found", Exit.UNREADABLE)


def _references(data: Path, issuer: str | None, sub: str) -> Callable[[str], bytes]:
    """Return a function that takes a match id and returns the reference to this player in the match's log."""
    from rollbook.identity.service_keys import service_key  # noqa: PLC0415 - see above
    from rollbook.identity.tokens import OWN_ISSUER, Role, Subject  # noqa: PLC0415 - see above
    from rollbook.server.access.players import Players  # noqa: PLC0415 - see above

    players = Players(service_key(data))
    somebody = Subject(OWN_ISSUER if issuer is None else issuer, sub, Role.PLAYER, (), "", 0)
    return lambda match_id: players.reference(somebody, match_id)


def _fail(why: object, code: Exit) -> Exit:
    print(f"rollbook forget: {why}", file=sys.stderr)
    return code
