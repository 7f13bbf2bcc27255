"""The scripts of these tests, run as a reader of the documents runs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run_script(module: str, *words: str) -> str:
    """What `python -m MODULE WORDS` prints; it has to end well."""
    done = subprocess.run(
        [sys.executable, "-m", module, *words], cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert 0 == done.returncode, done.stderr
    return done.stdout
