"""The page for authors of bots: what it shows works as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "clients" / "BOTS.md"


def shown() -> dict[str, str]:
    """The files that the page shows, by name."""
    blocks = re.findall(r"<!-- (\S+) -->\n```\w+\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return dict(blocks)


def test_the_bot_of_the_page_stands_its_test(tmp_path: Path) -> None:
    """Laid out as it would be after installing, with the entry point that the page gives; its own test passes."""
    files = shown()
    assert {"my_bots.py", "pyproject.toml", "test_my_bots.py"} == files.keys()
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (entry,) = re.findall(r'^\[project\.entry-points\."(.+)"\]\n(.+)$', files["pyproject.toml"], re.MULTILINE)
    installed = tmp_path / "my_bots-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: my-bots\nVersion: 1.0\n", encoding="utf-8")
    (installed / "entry_points.txt").write_text(f"[{entry[0]}]\n{entry[1].replace(chr(34), '')}\n", encoding="utf-8")
    env = os.environ | {
        "PYTHONPATH": str(tmp_path),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)]
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stdout + done.stderr


def test_the_bot_is_as_short_as_the_page_says() -> None:
    """Twenty lines, without the empty ones."""
    assert len([line for line in shown()["my_bots.py"].splitlines() if line.strip()]) <= 20
