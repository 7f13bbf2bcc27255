"""How many coroutines wait while a Choose is stored: each of them runs again when the store has replied."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.server.play.await_chain import HANDLER, SENDER

MOST_FRAMES = 12
PATIENCE_SECONDS = 60


def test_a_choose_waits_for_the_store_in_few_frames(tmp_path: Path) -> None:
    """From the coroutine that gRPC awaits to the one that awaits the store's reply, in the real service."""
    words = [sys.executable, "-m", "tests.server.play.await_chain", str(tmp_path / "data")]
    root = Path(__file__).parents[3]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    frames = done.stdout.splitlines()
    assert (0, "server/rpc/layers.py:handle_call", SENDER) == (done.returncode, frames[0], frames[-1]), done.stderr
    assert HANDLER in frames
    assert len(frames) <= MOST_FRAMES, frames
