"""Finds the tests that execute each line: every test file runs once under coverage, and the result is cached.

Subprocesses of the tests are traced as well: pytest names the running test in an environment variable, which they
inherit. The result of a test file is valid until that file, a helper of tests or a module changes.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import TypedDict

from coverage import Coverage

from tests.mutants.changes import Change
from tests.mutants.copies import Copy
from tests.mutants.drawing import SOURCES, modules
from tests.mutants.plugin import TIMES

TRACE_SECONDS = 1_800
"""The longest time of one test file under coverage."""

SETTINGS = """[run]
data_file = {data}
source =
    {sources}
parallel = true
sigterm = true
context = ${{PYTEST_CURRENT_TEST-}}
disable_warnings = no-data-collected, module-not-imported, already-imported, module-not-measured, couldnt-parse
"""


class Traced(TypedDict):
    """The result of one test file."""

    seconds: dict[str, float]
    """The time of each passing test."""
    lines: dict[str, dict[str, list[int]]]
    """For every test and every module that it enters, the executed lines."""


@dataclass(frozen=True, slots=True)
class KnownTest:
    """A test by its pytest name, with its time."""

    name: str
    seconds: float

    @property
    def folder(self) -> tuple[str, ...]:
        """The folder of the code that it tests, by the mirrored tree."""
        parts = PurePosixPath(self.name.partition("::")[0]).parent.parts
        return parts[1:] if parts[:1] == ("tests",) else _home(parts)


def _home(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the folder below `tests` that mirrors this folder."""
    return parts[2:] if parts[:1] == ("service",) else (*parts[:1], *parts[2:])


class Reach:
    """The lines that each test executes."""

    def __init__(self, found: Iterable[Traced]) -> None:
        """Merge the results of the test files."""
        self.tests: list[KnownTest] = []
        self._lines: defaultdict[str, defaultdict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        for traced in found:
            for name, seconds in traced["seconds"].items():
                number = len(self.tests)
                self.tests.append(KnownTest(name, seconds))
                for path, lines in traced["lines"].get(name, {}).items():
                    for line in lines:
                        self._lines[path][line].append(number)

    def tests_of(self, change: Change) -> list[KnownTest]:
        """Return the tests that may notice a change: near ones first, and of these the fast ones first.

        Code that runs when a module is imported belongs to no test of its own, and a killed process does not report its
        executed lines. So for a line without a test, all tests are returned that enter the module or are in the nearest
        folder.
        """
        by_line = self._lines[change.path]
        numbers = {number for line in change.lines for number in by_line.get(line, ())} if change.in_function else set()
        home = _home(PurePosixPath(change.path).parent.parts)
        if not numbers:
            numbers = {number for reached in by_line.values() for number in reached} | self._nearest(home)
        found = [self.tests[number] for number in numbers]
        return sorted(found, key=lambda test: (-_in_common(test.folder, home), test.seconds, test.name))

    def _nearest(self, home: Sequence[str]) -> set[int]:
        """Return the tests in the folder that mirrors the code's, or in the next one above it with tests."""
        above = (tuple(home[:length]) for length in range(len(home), -1, -1))
        rooms = ({number for number, test in enumerate(self.tests) if test.folder == folder} for folder in above)
        return next(filter(None, rooms), set())

    def near(self, change: Change, test: KnownTest) -> bool:
        """Whether the test is in the same room as the code."""
        return _in_common(test.folder, _home(PurePosixPath(change.path).parent.parts)) > 0


def _in_common(one: Sequence[str], other: Sequence[str]) -> int:
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))


def files_with_tests(root: Path, paths: Sequence[str] = ()) -> list[str]:
    """Return the test files below these paths; by default all, with modules whose docstrings have examples."""
    found: set[str] = set()
    for path in paths or ("tests",):
        place = root / path
        files = [place] if place.is_file() else place.rglob("test_*.py")
        found |= {file.relative_to(root).as_posix() for file in files}
    if not paths:
        found |= {path for path in modules(root) if b">>> " in (root / path).read_bytes()}
    return sorted(path for path in found if not path.startswith(("tests/bench/", "tests/mutants/")))


class Traces:
    """The cache of the lines that each test file executes."""

    def __init__(self, root: Path, folder: Path) -> None:
        """Use this folder as the cache for the current tree."""
        self._root = root
        self._folder = folder
        helpers = (file for file in (root / "tests").rglob("*.py") if not file.name.startswith("test_"))
        digest = hashlib.sha256()
        for path in [*modules(root), *sorted(file.relative_to(root).as_posix() for file in helpers)]:
            digest.update(f"{path}\0".encode() + (root / path).read_bytes())
        self._code = digest.digest()

    def _file(self, path: str) -> Path:
        name = hashlib.sha256(self._code + path.encode() + b"\0" + (self._root / path).read_bytes()).hexdigest()[:32]
        return self._folder / f"{name}.json"

    def missing(self, paths: Iterable[str]) -> list[str]:
        """Return the test files that have to be traced."""
        return [path for path in paths if not self._file(path).exists()]

    def read(self, paths: Iterable[str]) -> Iterator[Traced]:
        """Return the results of these files."""
        for path in paths:
            traced: Traced = json.loads(self._file(path).read_text(encoding="utf-8"))
            yield traced

    def trace(self, copy: Copy, path: str) -> None:
        """Run one test file under coverage, and cache the result."""
        with tempfile.TemporaryDirectory(prefix="rollbook-trace-") as name:
            traced = _trace(copy, path, Path(name))
        self._folder.mkdir(exist_ok=True)
        draft = self._file(path).with_suffix(".draft")
        draft.write_text(json.dumps(traced), encoding="utf-8")
        draft.replace(self._file(path))


def _trace(copy: Copy, path: str, folder: Path) -> Traced:
    rules, times = folder / "coverage.ini", folder / "times.json"
    sources = "\n    ".join(str(copy.root / source) for source in SOURCES)
    rules.write_text(SETTINGS.format(data=folder / ".coverage", sources=sources), encoding="utf-8")
    # Only this tracer of coverage can record the running test.
    environment = {"COVERAGE_PROCESS_START": str(rules), "COVERAGE_CORE": "ctrace", TIMES: str(times)}
    ran = copy.test([f"--timeout={TRACE_SECONDS}", path], TRACE_SECONDS, environment)
    if not times.exists():
        raise RuntimeError(f"{path} could not be run:\n{ran.output}")
    seconds: dict[str, float] = json.loads(times.read_text(encoding="utf-8"))
    return Traced(seconds=seconds, lines=_lines(copy, rules) if seconds else {})


def _lines(copy: Copy, rules: Path) -> dict[str, dict[str, list[int]]]:
    coverage = Coverage(config_file=str(rules), context="")
    coverage.combine()
    data = coverage.get_data()
    found: defaultdict[str, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for file in sorted(data.measured_files()):
        path = Path(file).relative_to(copy.root).as_posix()
        for line, contexts in data.contexts_by_lineno(file).items():
            for test in {_test_of(context) for context in contexts} - {""}:
                found[test][path].append(line)
    return {test: dict(lines) for test, lines in found.items()}


def _test_of(context: str) -> str:
    """Return the test of a context; contexts of subprocesses also name the stage: setup, call or teardown."""
    name, found, stage = context.rpartition(" (")
    return name if found and stage in {"setup)", "call)", "teardown)"} else context
