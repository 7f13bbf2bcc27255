"""Every sentence of the protos' comments with a number or a bound names a test of it.

`claims.toml` lists the sentences by file, and `claims_GAME.toml` those of a game: groups of sentences (`says`) with
their test (`by`), or the reason why they have none (`unheld`).
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
    """Return the sentences of a proto's comments with a number or a bound, each once, in order."""
    sentences = [sentence for comment in _comments(text) for sentence in END_OF_SENTENCE.split(comment)]
    return list(dict.fromkeys(sentence for sentence in sentences if CLAIM.search(sentence)))


def _comments(text: str) -> Iterator[str]:
    """Yield every paragraph and every list item of the comments as one line."""
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
    """An author who adds or removes a bound in a comment updates the list."""
    listed = Counter(sentence for group in CLAIMS.get(stem, []) for sentence in group["says"])
    made = claims(PROTOS[stem])
    assert [] == [sentence for sentence in made if sentence not in listed], "list them in claims.toml"
    assert [] == [sentence for sentence in listed if sentence not in made], "nothing says so any more"
    assert [] == [sentence for sentence, times in listed.items() if times > 1]


@by_file
def test_every_listed_claim_is_held_or_says_why_not(stem: str) -> None:
    """The named test exists in its file."""
    for group in CLAIMS.get(stem, []):
        assert group.keys() in ({"by", "says"}, {"unheld", "says"})
        if "by" in group:
            path, _, name = group["by"].partition("::")
            assert re.search(rf"^(async )?def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE), name
        else:
            assert len(group["unheld"].split()) > 2


def test_no_file_is_listed_that_there_is_not() -> None:
    """A renamed proto keeps its list."""
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
    """Text outside comments, and sentences without a bound, are ignored."""
    assert expected == claims(text)
