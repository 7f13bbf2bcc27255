"""`rollbook index`: compares the index of a store with its lobby, and rebuilds it."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from rollbook.cli.exits import Exit, usage
from rollbook.cli.json_lines import AsJson, print_json


def index(
    *,
    data: Annotated[Path | None, Parameter(env_var="ROLLBOOK_DATA")] = None,
    redis: Annotated[str | None, Parameter(env_var="ROLLBOOK_REDIS")] = None,
    rebuild: Annotated[bool, Parameter(negative="")] = False,
    as_json: AsJson = False,
) -> int:
    """Compare the index of a store, used for lists and turn clocks, with its matches.

    The service may keep running. It creates a missing index by itself, and finds and repairs errors within about a
    minute, so you need this command only to make sure, or not to wait. While an index is rebuilt, lists are read from
    the matches themselves.

    Prints how many matches there are, for how many the index is wrong, and how many entries it has too many. Entries of
    archived matches, which a crash may leave behind, are counted apart: no list shows them. Exit code 1 if the index is
    wrong or not marked as whole, or the store cannot be used, 3 if there is no store.

    Example: `rollbook index --data ~/rollbook`

    Parameters
    ----------
    data
        The data directory of the service, running or not.
    redis
        The URL of the Redis of the service, if it has no store of its own; as for `rollbook serve`.
    rebuild
        Delete the index and build it again.
    as_json
        For programs: one JSON object. matches: how many the lobby lists; indexed_otherwise: for how many of them the
        index is wrong; indexed_too_often: entries that belong to no match; archived: entries of archived matches;
        is_whole: whether the index is marked as whole.
    """
    if data is None and redis is None:
        return usage("name the place: --data or --redis; rollbook index --help explains it")
    return _run(None if data is None else data.expanduser(), redis, rebuild=rebuild, as_json=as_json)


def _run(data: Path | None, redis: str | None, *, rebuild: bool, as_json: bool) -> Exit:
    from rollbook.server.forgetting.kept_names import NoPlace  # noqa: PLC0415 - only for who asks
    from rollbook.storage.embedded.data_directory import DataDirectoryRefused  # noqa: PLC0415 - see above
    from rollbook.storage.embedded.server import ServerFailed, ServerNotFound  # noqa: PLC0415 - see above
    from rollbook.storage.port import StoreUnavailable  # noqa: PLC0415 - see above

    try:
        return asyncio.run(_compare(data, redis, rebuild=rebuild, as_json=as_json))
    except NoPlace as nothing:
        return _fail(nothing, Exit.UNREADABLE)
    except (DataDirectoryRefused, OSError, ServerFailed, ServerNotFound, StoreUnavailable, ValueError) as why:
        return _fail(why, Exit.WRONG)


async def _compare(data: Path | None, redis: str | None, *, rebuild: bool, as_json: bool) -> Exit:
    from rollbook.server.forgetting.kept_names import store_of  # noqa: PLC0415 - see above
    from rollbook.server.lobby.index_keeper import IndexKeeper  # noqa: PLC0415 - see above
    from rollbook.server.lobby.lobby import StoredLobby  # noqa: PLC0415 - see above

    async with store_of(data, redis) as log:
        keeper = IndexKeeper(log, log, StoredLobby(log, log, log))
        if rebuild:
            await log.erase_index()
            await keeper.make()
        entries, strays, is_whole = Counter(await keeper.check()), await log.strays(), await log.has_index()
        archived = await keeper.find_archived({*entries, *strays})
        facts = {
            "matches": len(await log.lobby()),
            "indexed_otherwise": len(entries.keys() - archived),
            "indexed_too_often": sum(strays[match_id] for match_id in strays.keys() - archived),
            "archived": sum(strays[match_id] + entries[match_id] for match_id in archived),
        }
    if as_json:
        print_json(facts | {"is_whole": is_whole})
    else:
        print(", ".join(f"{name.replace('_', ' ')}: {count}" for name, count in facts.items()))
    if not is_whole:
        print("rollbook index: the index is not whole; a service that runs makes it, or --rebuild", file=sys.stderr)
    return Exit.WRONG if facts["indexed_otherwise"] or facts["indexed_too_often"] or not is_whole else Exit.GOOD


def _fail(why: object, code: Exit) -> Exit:
    print(f"rollbook index: {why}", file=sys.stderr)
    return code
