"""The worked example in JavaScript plays a match to its end, where node and its gRPC are installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.clients.sdk.tables import service

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "clients" / "examples" / "javascript"
INSTALLED = Path(os.environ.get("ROLLBOOK_NODE_MODULES", EXAMPLE / "node_modules"))

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or not (INSTALLED / "@grpc" / "grpc-js").is_dir(),
    reason="npm install in clients/examples/javascript, or ROLLBOOK_NODE_MODULES names where that was done",
)


def test_a_match_is_played_from_javascript(tmp_path: Path) -> None:
    """The example uses the protos alone and plays against a bot of the house."""
    shutil.copy(EXAMPLE / "play.mjs", tmp_path)
    (tmp_path / "node_modules").symlink_to(INSTALLED)
    with service(tmp_path / "data") as one:
        done = subprocess.run(
            ["node", "play.mjs", one.address],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "ROLLBOOK_PROTOS": str(ROOT / "proto")},
        )
    assert 0 == done.returncode, done.stderr
    assert re.fullmatch(r"match [a-z2-7]{24}: place [12] of 2\n", done.stdout)
