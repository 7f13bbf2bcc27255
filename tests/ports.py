"""Ports for processes that tests start, each used by one test process only.

The system may give a port that it chose to any connection before the process listens on it. So these ports are below
the system's range, and this process holds a UDP socket of the same number: only one test process can bind it.
"""

from __future__ import annotations

import random
import socket
from typing import Final

PORTS: Final = range(10_000, 20_000)
"""Below the second port of a cluster's node, which is 10,000 higher."""

_held: Final[list[socket.socket]] = []
_chance: Final = random.SystemRandom()


def free_port() -> int:
    """Return a port that no process uses now, and that no other test process gets."""
    while True:
        port = _chance.choice(PORTS)
        held = socket.socket(type=socket.SOCK_DGRAM)
        try:
            held.bind(("127.0.0.1", port))
            for needed in (port, port + 10_000):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", needed))
        except OSError:
            held.close()
        else:
            _held.append(held)
            return port
