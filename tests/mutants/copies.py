"""Copies of the tree in which code is changed and tests run; the tree itself stays unchanged."""

from __future__ import annotations

import compileall
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.changes import Change
from tests.mutants.drawing import SOURCES

NOT_COPIED = (".git", ".venv", "__pycache__", "*.egg-info", "dist", ".hypothesis", ".*_cache", ".mutants")

SECONDS_TO_END = 5


@dataclass(frozen=True, slots=True)
class Ran:
    """The result of a run of pytest."""

    code: int | None
    """The exit code; None if the whole run took too long."""
    output: str


class Copy:
    """A copy of the tree, and at most one run of pytest in it at a time."""

    def __init__(self, root: Path, folder: Path) -> None:
        """Copy the current tree, committed or not, and compile it once."""
        self.root = folder
        shutil.copytree(root, folder, ignore=shutil.ignore_patterns(*NOT_COPIED), symlinks=True)
        for name in (*SOURCES, "tests"):
            compileall.compile_dir(folder / name, quiet=2)
        self._running: subprocess.Popen[str] | None = None
        self._stopped = threading.Event()

    @contextmanager
    def changed(self, change: Change) -> Iterator[None]:
        """Make one change in the copy, for the time of the context."""
        file = self.root / change.path
        before, source = file.stat(), file.read_bytes()
        file.write_bytes(change.made_in(source))
        # Python recognises compiled files by the time of their source; none is written for the change.
        os.utime(file, (before.st_atime, before.st_mtime + 10))
        try:
            yield
        finally:
            file.write_bytes(source)
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    def test(self, words: Sequence[str], seconds: float, environment: Mapping[str, str] | None = None) -> Ran:
        """Run pytest on the code of this copy, also in subprocesses of the tests, with a time limit."""
        command = [sys.executable, "-m", "pytest", "--quiet", "-p", "tests.mutants.plugin", "-p", "no:cacheprovider"]
        with subprocess.Popen(
            [*command, "--numprocesses=0", "--tb=line", *words],
            cwd=self.root,
            env=self._environment() | dict(environment or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as running:
            self._running = running
            if self._stopped.is_set():
                self.stop()
            try:
                output, _ = running.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                _end(running)
                return Ran(None, "")
            finally:
                self._running = None
        return Ran(running.returncode, output)

    def _environment(self) -> dict[str, str]:
        """Return variables that put this copy before the installed one and disable compiled files.

        A fixed hash seed keeps the names of tests that are parametrized by sets.
        """
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        paths = [*(str(self.root / source) for source in SOURCES), os.environ.get("PYTHONPATH", "")]
        own = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}
        return inherited | own | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}

    def stop(self) -> None:
        """End the running tests, and start no others."""
        self._stopped.set()
        running = self._running
        if running is not None:
            _end(running)


def _end(running: subprocess.Popen[str]) -> None:
    """End a run and its children: first so that they can clean up, then by force."""
    for word in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(running.pid, word)
            running.wait(SECONDS_TO_END)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue
