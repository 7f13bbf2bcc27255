"""The bare prototype as a peer: its process, its Valkey, and the same load."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rollbook.storage.embedded.server import find_server
from tests.bench.peers.rounds import Round, played
from tests.bench.peers.service import LOAD
from tests.bench.peers.size import Size
from tests.storage.servers import running

PARTICIPANTS = 4


def one_round(size: Size, **how: Any) -> Round:
    """Run a new prototype, on a store that keeps acknowledged writes, and a new load."""
    matches = [{"tokens": [""] * PARTICIPANTS}] * size.matches
    with tempfile.TemporaryDirectory() as folder, running(find_server(), Path(folder)) as store:
        words = (sys.executable, "-m", "tests.bench.peers.prototype", str(store.port))
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                address = server.stdout.readline().strip()
                assert address, "the prototype has ended"
                what = {"talk": "bare", "address": address, "matches": matches, **size.timing, **how}
                return played(LOAD, what, {"server": [server.pid], "store": [store.process.pid]})
            finally:
                server.kill()
