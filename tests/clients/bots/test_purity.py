"""Modules that bots may import."""

from __future__ import annotations

import subprocess
import sys


def test_importing_the_strategies_loads_neither_grpc_nor_redis() -> None:
    """Duels need no service, and a process that has imported gRPC must not be forked."""
    script = (
        "import sys\n"
        "from rollbook_clients.bots import catalogue, duel, tally\n"
        "import rollbook_clients.commands.duel\n"
        "for name in catalogue.names(): catalogue.find(name)\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "rollbook_clients" in loaded
    assert set() == loaded & {"grpc", "redis", "google"}
