"""What the scripts have in common that remake what the tests compare with."""

from __future__ import annotations

import argparse
from pathlib import Path


def asked_folder(place: Path) -> Path:
    """The folder that the command line names, or else the place where the tests look."""
    parser = argparse.ArgumentParser(description="Remake what the tests compare with.")
    parser.add_argument("--folder", type=Path, default=place, help=f"where it goes, instead of {place}")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    return folder
