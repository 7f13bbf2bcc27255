"""Adds a listed game to a copy of this repository: an existing game under another name."""

from __future__ import annotations

import re
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Final

from tests.adding_a_game.environment import ROOT

MODEL: Final = "allie_gator"
"""The model has hidden cards, options and rounds, which is all that a game can have."""

GAME: Final = "bolly_gator"
NAMES: Final = {
    "allie_gator": "bolly_gator",
    "AllieGator": "BollyGator",
    "ALLIE_GATOR": "BOLLY_GATOR",
    "Allie Gator": "Bolly Gator",
}
OWN: Final = (
    "clients/rollbook_clients/bots/NAME/*.py",
    "proto/rollbook/v1/NAME.proto",
    "replays/games/NAME.md",
    "replays/perft/NAME.toml",
    "replays/rollbook_replays/games/NAME/*.py",
    "service/rollbook/rules/NAME/*.py",
    "tests/games/NAME.py",
    "tests/rules/*NAME*.py",
    "tests/v1/claims_NAME.toml",
)
"""The files of a game."""

SCRIPTS: Final = (
    "tests.v1.kept",
    "tests.replays.game_pages",
    "tests.golden",
    "tests.replays.games.snapshots",
    "tests.replays.conformance",
    "tests.fuzz.seeds",
)
"""The commands that write the generated files, after `.ci/stubs`."""


def copy_tree(target: Path) -> None:
    """Copy all files that git tracks or would track, with their current content."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.rstrip("\0").split("\0"):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def digests(tree: Path) -> dict[str, str]:
    """Return a digest of each file, without caches and other by-products."""
    return {
        name: sha256(file.read_bytes()).hexdigest()
        for file in tree.rglob("*")
        if file.is_file()
        and not {"__pycache__", ".venv", ".hypothesis"} & set(file.parts)
        and (name := file.relative_to(tree).as_posix())
    }


def renamed(text: str) -> str:
    """Return the text with the new names in place of the model's."""
    return re.sub("|".join(NAMES), lambda found: NAMES[found[0]], text)


def add(tree: Path) -> None:
    """Write the game's own files, list it in games.proto, and add its entry points."""
    games = tree / "proto" / "rollbook" / "v1" / "games.proto"
    text = games.read_text(encoding="utf-8")
    numbers = [int(number) for number in re.findall(r"^    \w+ \w+ = (\d+);$", text, re.MULTILINE)]
    reserved = [int(number) for number in re.findall(r"^  reserved (\d+);$", text, re.MULTILINE)]
    number = max(numbers + reserved) + 1
    for pattern in OWN:
        for file in tree.glob(pattern.replace("NAME", MODEL)):
            target = tree / renamed(file.relative_to(tree).as_posix())
            target.parent.mkdir(parents=True, exist_ok=True)
            page = re.sub(r"(?<=` \| )\d+(?= \| `AllieGator)", str(number), file.read_text(encoding="utf-8"))
            target.write_text(renamed(page), encoding="utf-8")
    text = re.sub(rf"^import .*{MODEL}.*\n", lambda line: line[0] + renamed(line[0]), text, flags=re.MULTILINE)
    field = re.compile(rf"^    // .*\n    \w+ {MODEL} = \d+;\n", re.MULTILINE)
    text = field.sub(lambda line: line[0] + re.sub(r"\d+", str(number), renamed(line[0])), text)
    games.write_text(text, encoding="utf-8")
    project = tree / "pyproject.toml"
    text = project.read_text(encoding="utf-8")
    text = re.sub(rf"^{MODEL} = .*\n", lambda line: line[0] + renamed(line[0]), text, flags=re.MULTILINE)
    project.write_text(text, encoding="utf-8")
