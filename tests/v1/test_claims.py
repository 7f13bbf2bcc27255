"""The comments of the protos are true: each sentence with a number or a bound names the test that holds it.

`claims.toml` lists them by file, and `claims_GAME.toml` those of a game: groups of sentences (`says`) with the test
that holds them (`by`), or the reason why none does (`unheld`).
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROTOS = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "proto").rglob("*.proto"))}
CLAIMS: dict[str, list[dict[str, Any]]] = {}
for listed in sorted(Path(__file__).parent.glob("claims*.toml")):
    CLAIMS |= tomllib.loads(listed.read_text(encoding="utf-8"))

CLAIM = re.compile(
    r"\d|\b(never|always|at most|at least|at the earliest|only|up to|within|exactly"
    r"|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?<!\bat )once|twice|none"
    r"|(more|fewer) than|above|below)\b",
    re.IGNORECASE,
)
END_OF_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-ZÄÖÜ`\"\d])")

by_file = pytest.mark.parametrize("stem", PROTOS)


def claims(text: str) -> list[str]:
    """The sentences of a proto's comments that claim something, each once, in their order."""
    sentences = [sentence for comment in _comments(text) for sentence in END_OF_SENTENCE.split(comment)]
    return list(dict.fromkeys(sentence for sentence in sentences if CLAIM.search(sentence)))


def _comments(text: str) -> Iterator[str]:
    """Every paragraph and every item of a list in the comments, in one line."""
    lines: list[str] = []
    for line in text.splitlines():
        comment = line.strip().removeprefix("//").strip() if line.strip().startswith("//") else ""
        if lines and (not comment or comment.startswith("- ")):
            yield " ".join(lines)
            lines = []
        if comment:
            lines.append(comment.removeprefix("- "))
    if lines:
        yield " ".join(lines)


@by_file
def test_every_claim_is_listed_and_every_listed_claim_is_made(stem: str) -> None:
    """Whoever writes a bound into a comment says which test holds it; whoever takes it out, takes it out here."""
    listed = Counter(sentence for group in CLAIMS.get(stem, []) for sentence in group["says"])
    made = claims(PROTOS[stem])
    assert [] == [sentence for sentence in made if sentence not in listed], "list them in claims.toml"
    assert [] == [sentence for sentence in listed if sentence not in made], "nothing says so any more"
    assert [] == [sentence for sentence, times in listed.items() if times > 1]


@by_file
def test_every_listed_claim_is_held_or_says_why_not(stem: str) -> None:
    """The test exists, by its file and its name."""
    for group in CLAIMS.get(stem, []):
        assert group.keys() in ({"by", "says"}, {"unheld", "says"})
        if "by" in group:
            path, _, name = group["by"].partition("::")
            assert re.search(rf"^(async )?def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE), name
        else:
            assert len(group["unheld"].split()) > 2


def test_no_file_is_listed_that_there_is_not() -> None:
    """A renamed proto keeps its claims."""
    assert CLAIMS.keys() <= PROTOS.keys()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("// Never sent.\n", ["Never sent."]),
        ("// Seat by seat. At most\n// 16, cut. Fine.\n", ["At most 16, cut."]),
        ("// First.\n//\n// - an item of 2\n//   lines\n// - another\n", ["an item of 2 lines"]),
        ("  // Twice 1.\n  int32 one = 1;\n  // Twice 1.\n  int32 two = 2;\n", ["Twice 1."]),
        ("int32 one = 1;\n", []),
        ("// Two dice. All at once.\n", ["Two dice."]),
        (
            "// Sent once. None: nothing. Fewer. Fewer than now. Above.\n",
            ["Sent once.", "None: nothing.", "Fewer than now.", "Above."],
        ),
    ],
)
def test_a_claim_is_a_sentence_with_a_number_or_a_bound(text: str, expected: list[str]) -> None:
    """What lies outside comments, and what only describes, is none."""
    assert expected == claims(text)
