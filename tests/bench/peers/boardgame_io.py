"""boardgame.io as a peer: its own server in memory, and a load with its client library, both on Node."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

import platformdirs

from tests.bench.peers.rounds import Round, played
from tests.bench.peers.size import Size

HERE: Final = Path(__file__).with_name("boardgame")
PACKAGE: Final = (HERE / "package.json").read_bytes()
VERSION: Final = str(json.loads(PACKAGE)["dependencies"]["boardgame.io"])
NAME: Final = f"boardgame.io {VERSION}"
INSTALL_SECONDS: Final = 300


def place() -> Path:
    """Return the folder of the installed packages; it depends on the list of packages."""
    digest = hashlib.sha256(PACKAGE).hexdigest()[:12]
    return platformdirs.user_cache_path("rollbook-bench") / f"boardgame-{VERSION}-{digest}"


def why_not() -> str:
    """Return the reason why it cannot be measured without an installation; empty if it can."""
    if missing := [name for name in ("node", "npm") if shutil.which(name) is None]:
        return f"{' and '.join(missing)} not found"
    if not (place() / "node_modules").is_dir():
        return "not installed yet: `python -m tests.bench peers` does that"
    return ""


def installed() -> str:
    """Install the packages if needed; returns the reason if it still cannot be measured, else an empty text."""
    there = place()
    if (there / "node_modules").is_dir() or shutil.which("npm") is None:
        return why_not()
    there.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=there.parent))
    try:
        (folder / "package.json").write_bytes(PACKAGE)
        words = ("npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts")
        subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True, timeout=INSTALL_SECONDS)
        folder.rename(there)
    except subprocess.CalledProcessError as failed:
        return f"npm install failed: {failed.stderr.strip()[-500:]}"
    except subprocess.TimeoutExpired:
        return f"npm install took more than {INSTALL_SECONDS} s"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return why_not()


def environment() -> dict[str, str]:
    """Return the environment in which Node finds the packages, in production mode."""
    return {**os.environ, "NODE_PATH": str(place() / "node_modules"), "NODE_ENV": "production"}


def versions() -> str:
    """Return the versions that run."""
    node = subprocess.run(("node", "--version"), check=True, capture_output=True, text=True).stdout.strip()
    found = [f"Node {node}", NAME]
    for name in ("socket.io", "socket.io-client"):
        described = json.loads((place() / "node_modules" / name / "package.json").read_bytes())
        found.append(f"{name} {described['version']}")
    return ", ".join(found)


def one_round(size: Size, **how: Any) -> Round:
    """Run a new server, and a new load that plays new matches."""
    words = ("node", str(HERE / "server.cjs"))
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment()) as server:
        try:
            assert server.stdout is not None
            said = server.stdout.readline()
            assert said, "boardgame.io has ended"
            what = {**size.timing, **how, **json.loads(said), "matches": size.matches}
            return played(("node", str(HERE / "load.cjs")), what, {"server": [server.pid]}, env=environment())
        finally:
            server.kill()
