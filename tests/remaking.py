"""The common part of scripts that remake files that tests compare."""

from __future__ import annotations

import argparse
from pathlib import Path


def asked_folder(place: Path) -> Path:
    """Return the folder from the command line, or the place of the kept files."""
    parser = argparse.ArgumentParser(description="Remake what the tests compare with.")
    parser.add_argument("--folder", type=Path, default=place, help=f"where it goes, instead of {place}")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    return folder
