"""The cost of matches with a clock but without events, of watchers and streams, and of finished matches."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from tests.bench import results
from tests.bench.peers.service import serving
from tests.bench.peers.tables import AT_ONCE, UNLIMITED, Tables
from tests.bench.scale.onlookers import playing, watching
from tests.bench.scale.site import cores, filled, resident, settled
from tests.bench.scale.size import Size
from tests.server.serving import started

LONG_TURN_SECONDS: Final = 1_209_600
MOST_CORES: Final = 0.02
MOST_START_SECONDS: Final = 5.0


def clocked_matches(size: Size, said: Callable[[str], None]) -> list[str]:
    """Measure their cost at rest, their memory, and the start of a service with them."""
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "rollbook", "serve", "--data", str(Path(folder) / "data")]
        words += ["--listen", "127.0.0.1:0"]
        with started(words, UNLIMITED) as service, service.channel() as channel:
            Tables(channel).guest()
            empty = resident(service)
            match_id = filled(service, size.resting, running=True, turn_seconds=LONG_TURN_SECONDS)[0]
            settled(service)
            used = cores(service, size.rest_seconds)
            held = (resident(service) - empty) / size.resting
            said(f"{size.resting:,} clocked matches at rest: {used}, {held:,.0f} bytes each")
            service.process.terminate()
            service.ended()
        began = time.monotonic()
        with started(words, UNLIMITED) as service, service.channel() as channel:
            tables = Tables(channel)
            tables.call("GetMatch", tables.guest(), match_id=match_id)
            seconds = time.monotonic() - began
            said(f"first answer after {seconds:.1f} s")
    rest = used["server"]
    return results.table(
        (f"{size.resting:,} running matches with a clock", "", ""),
        [
            ["server at rest, of a core", f"{100 * rest:.1f} %", _judged(rest, MOST_CORES, f"< {MOST_CORES:.0%}")],
            ["store at rest, of a core", f"{100 * used['store']:.1f} %", ""],
            ["memory each, of the server", f"{held / 1024:,.1f} KiB", ""],
            ["from start to the first answer", f"{seconds:.1f} s", _judged(seconds, MOST_START_SECONDS, "< 5 s")],
        ],
    )


def memory(size: Size, said: Callable[[str], None]) -> list[str]:
    """Measure memory by the number of watchers and Play streams, and the memory left by finished matches."""
    with serving("--archive-after", "1") as service, service.channel() as channel:
        tables = Tables(channel)
        token = tables.guest()
        match_id = tables.started([tables.guest(), tables.guest()])["match_id"]
        rows = []
        for what, held in (
            ("a watcher", watching(service.address, token, [match_id] * size.weighed)),
            ("a stream of Play", playing(service.address, token, size.weighed)),
        ):
            before = resident(service)
            with held:
                settled(service)
                each = (resident(service) - before) / size.weighed
            said(f"{what}: {each / 1024:.1f} KiB")
            rows.append([f"{what}, by {size.weighed:,}", f"{each / 1024:.1f} KiB"])
        first, second = size.finished
        _over(tables, token, first)
        settled(service)
        before = resident(service)
        _over(tables, token, second - first)
        settled(service)
        grown = resident(service) - before
        said(f"{second - first:,} more matches that are over: {grown / 1024:,.0f} KiB")
        rows.append([f"{second - first:,} finished matches after {first:,}, in all", f"{grown / 1024:,.0f} KiB"])
    return results.table(("memory of the server", ""), rows)


def _over(tables: Tables, token: str, number: int) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda _: tables.call("AbortMatch", token, match_id=tables.open(token)), range(number)))


def one_connection(size: Size, said: Callable[[str], None]) -> list[str]:
    """Measure how many watches one connection carries."""
    with serving() as service, service.channel() as channel:
        tables = Tables(channel)
        match_id = tables.started([tables.guest(), tables.guest()])["match_id"]
        with watching(service.address, tables.guest(), [match_id] * size.watches, connections=1) as found:
            said(f"on one connection: {found}")
    why = ", ".join(f"{times:,} {how}" for how, times in found["ended"].items()) + found["broken"]
    begun = f"{found['begun']:,} begun in {found['seconds']:.1f} s"
    rows = [
        [
            f"{found['asked']:,} watches",
            begun,
            f"all {'reached' if found['begun'] == found['asked'] else 'MISSED'}",
            why,
        ]
    ]
    return results.table(("on one connection", "", "", "others"), rows)


def _judged(value: float, most: float, words: str) -> str:
    return f"{words} {'reached' if value < most else 'MISSED'}"
