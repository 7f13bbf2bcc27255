"""A port that a test has chosen stays free until its process listens there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.ports import PORTS

ROOT: Final = Path(__file__).parents[1]
SCRIPT: Final = "from tests.ports import free_port; print(*(free_port() for _ in range(400))); input()"


def test_no_two_test_processes_choose_the_same_port() -> None:
    """Two processes choose some hundred ports each; by chance alone about sixteen would be equal."""
    words = [sys.executable, "-c", SCRIPT]
    processes = [
        subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    chosen: list[str] = []
    for process in processes:
        assert process.stdout is not None
        chosen += process.stdout.readline().split()
    for process in processes:
        process.communicate("\n")
    assert 800 == len(chosen) == len(set(chosen))


def test_the_system_never_gives_a_chosen_port_to_a_connection() -> None:
    """This holds for the port and for the one that a cluster opens beside it."""
    lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split()[0])
    assert max(PORTS) + 10_000 < lowest
