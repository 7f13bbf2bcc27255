"""Runs the scripts of these tests as a reader of the documents would."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run_script(module: str, *words: str) -> str:
    """Run `python -m MODULE WORDS`, which has to succeed; returns its output."""
    done = subprocess.run(
        [sys.executable, "-m", module, *words], cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert 0 == done.returncode, done.stderr
    return done.stdout
