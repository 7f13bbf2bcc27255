"""Documents for developers are short and complete, and the files that they name exist."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / "service" / "decisions"
INDEX: Final = FOLDER / "README.md"
PARTS: Final = ("Context", "Decision", "Consequences")
MOST_LINES: Final = 40
"""Most lines of a record; a longer one has more than one decision."""

RECORDS: Final = sorted(FOLDER.glob("[0-9]*.md"))

MOST_LINES_OF: Final = {"README.md": 160, "service/ARCHITECTURE.md": 200}
"""Most lines of documents that a newcomer reads in one go."""

DOCUMENTS: Final = (
    *("README.md", ".github/CONTRIBUTING.md"),
    *(f"tests/{folder}/README.md" for folder in ("bench", "faults", "sim")),
    *(f"service/{name}.md" for name in ("ARCHITECTURE", "OPERATIONS", "SECURITY")),
    *(f"service/decisions/{record.name}" for record in RECORDS),
)
"""Documents that name files of the repository."""


def test_the_index_lists_every_record_with_its_title() -> None:
    """Each record is listed once, in the section of its subject, and a link has the heading of its record as text."""
    listed = sorted(re.findall(r"^- \[(.+)\]\((.+)\)$", INDEX.read_text(encoding="utf-8"), re.MULTILINE))
    headings = [record.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ") for record in RECORDS]
    assert [(heading, record.name) for heading, record in zip(headings, RECORDS, strict=True)] == listed
    assert len(listed) == len({name[:3] for _, name in listed})


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.stem)
def test_a_record_has_context_decision_and_consequences(record: Path) -> None:
    """The parts come in this order and are not empty, and the record is short."""
    text = record.read_text(encoding="utf-8")
    heading, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    assert heading.startswith(f"# {record.name[:3]} ")
    assert list(PARTS) == [part.partition("\n")[0] for part in parts]
    assert all(part.partition("\n")[2].strip() for part in parts)
    assert len(text.splitlines()) <= MOST_LINES


@pytest.mark.parametrize("document", MOST_LINES_OF)
def test_what_a_newcomer_reads_first_is_short(document: str) -> None:
    """Details belong into a decision record or into the module."""
    assert len((ROOT / document).read_text(encoding="utf-8").splitlines()) <= MOST_LINES_OF[document]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_files_that_a_document_names_exist(document: str) -> None:
    """Links are relative to the document; a path in backticks is the end of the path of some file."""
    path = ROOT / document
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    links = [link.partition("#")[0] for link in re.findall(r"\]\((?!http)([^)]+)\)", text)]
    assert [] == [link for link in links if not (path.parent / link).exists()]
    named = set(re.findall(r"`([\w./-]+\.(?:py|lua|js|proto|toml|txt|md|yaml|acl))`", text))
    there = _tracked()
    assert [] == sorted(name for name in named if not any(f"/{file}".endswith(f"/{name}") for file in there))


def _tracked() -> list[str]:
    """Return the files that git tracks; skips the test outside a checkout."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("not a checkout")
    return done.stdout.splitlines()
