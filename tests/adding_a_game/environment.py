"""A fresh environment with rollbook installed as a package; its dependencies come from the running environment."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
CONSTRAINTS: Final = ROOT / ".ci" / "constraints.txt"
PATIENCE_SECONDS: Final = 600


def fresh(folder: Path, rollbook: Path, *how: str) -> dict[str, str]:
    """Make an environment, install rollbook from a source tree, and return the variables to run commands with."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    site = sysconfig.get_path("purelib", vars={"base": str(folder)})
    # Third-party packages come from the running environment, because installing them takes minutes.
    (Path(site) / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    env = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PIP_CONSTRAINT": str(CONSTRAINTS),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    install = ["install", "--quiet", "--no-deps", "--ignore-installed", *how, str(rollbook)]
    run([str(python), "-m", "pip", *install], folder, env)
    return env


def run(words: list[str], folder: Path, env: Mapping[str, str]) -> str:
    """Run a command in a folder and return what it prints; it has to end with exit code 0."""
    done = subprocess.run(
        words, cwd=folder, env=dict(env), capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert 0 == done.returncode, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def shell(commands: str, folder: Path, env: Mapping[str, str]) -> str:
    """Run shell commands as they are written in the document; each has to end with exit code 0."""
    return run(["bash", "-euo", "pipefail", "-c", commands], folder, env)


def generators() -> Path:
    """Return the environment with the protobuf generators that `.ci/stubs` uses; it is made if it is missing."""
    done = subprocess.run([ROOT / ".ci" / "stubs", "--python"], stdout=subprocess.PIPE, text=True, check=True)
    return Path(done.stdout.strip()).parents[1]
