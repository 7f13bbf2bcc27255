"""Ports for processes that tests start, of which no other test process takes the same one meanwhile.

A port that the system chooses may be given to any connection of the machine before the process listens on it. So these
are below the range that the system chooses from, and each is held by a UDP socket on the same number for as long as
this process runs: of several test processes one can bind it.
"""

from __future__ import annotations

import random
import socket
from typing import Final

PORTS: Final = range(10_000, 20_000)
"""Low enough for the second port that a node of a cluster opens 10,000 above."""

_held: Final[list[socket.socket]] = []
_chance: Final = random.SystemRandom()


def free_port() -> int:
    """A port that no process uses now, and that no other test process gets."""
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
