"""`rollbook serve` in its own process with its own Valkey, and the load on it."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import psutil

from tests.bench.peers.rounds import Round, nothing, played
from tests.bench.peers.size import Size
from tests.bench.peers.tables import UNLIMITED, Tables
from tests.server.serving import Service, started, until

SERVE: Final = (sys.executable, "-m", "rollbook")
LOAD: Final = (sys.executable, "-m", "tests.bench.peers.load")


@contextmanager
def serving(*flags: str, program: Sequence[str] = SERVE) -> Iterator[Service]:
    """Run a service without limits, on a temporary data directory."""
    with tempfile.TemporaryDirectory() as folder:
        words = ("serve", "--data", str(Path(folder) / "data"), "--listen", "127.0.0.1:0")
        with started([*program, *words, *flags], UNLIMITED) as service:
            assert service.address
            yield service


def parts(service: Service) -> dict[str, list[int]]:
    """Return the processes of a service by kind; workers count as the server."""
    root, store = service.process.pid, service.store.pid
    others = [child.pid for child in psutil.Process(root).children(recursive=True) if child.pid != store]
    return {"server": [root, *others], "store": [store]}


def one_round(
    service: Service,
    size: Size,
    *,
    begun: Callable[[], None] = nothing,
    ended: Callable[[], None] = nothing,
    **how: Any,
) -> Round:
    """Play new matches with a new load."""
    with service.channel() as channel:
        matches = Tables(channel).played(size.matches)
    what = {"talk": "rollbook", "address": service.address, "matches": matches, **size.timing, **how}
    return played(LOAD, what, parts(service), begun=begun, ended=ended)


def profile(size: Size) -> str:
    """Return the functions in which the service spends its time under the load."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "samples"
        program = (sys.executable, "-m", "tests.bench.peers.sampled", str(out))
        with serving(program=program) as service:
            tell = partial(os.kill, service.process.pid)
            found = one_round(service, size, begun=lambda: tell(signal.SIGUSR1), ended=lambda: tell(signal.SIGUSR2))
            until(out.exists, service)
            return f"{out.read_text('utf-8')}{found.rate:,.0f} moves/s, {found.micros('server'):,.0f} µs a move\n"
