"""Draw random sentences for readers to rate: `python -m tests.tidy.sample_sentences --seed 1`.

A sentence is clear if a reader who has not seen the code can say at once what does what to what. The goal is that at
least 55 of the 60 sentences are clear, and that every other one is clear at the second reading.
"""

from __future__ import annotations

import argparse
import random
import textwrap
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from tests.tidy import prose
from tests.tidy.prose import Paragraph
from tests.tidy.test_names import modules

SENTENCES_OF_A_KIND = 12


def main() -> None:
    """Print the same sentences for the same seed and tree."""
    parser = argparse.ArgumentParser(prog="python -m tests.tidy.sample_sentences", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True, help="another seed draws other sentences")
    parser.add_argument("--places", action="store_true", help="also print file and line of each")
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    number = 0
    for kind, found in kinds().items():
        print(f"## {kind}\n")
        for paragraph, sentence in chance.sample(found, SENTENCES_OF_A_KIND):
            number += 1
            place = f" ({paragraph.path}:{paragraph.number})" if asked.places else ""
            print(textwrap.fill(f"{number}. {sentence}{place}", 120, subsequent_indent="   "))
        print()


def kinds() -> dict[str, list[tuple[Paragraph, str]]]:
    """Return all sentences by kind, each with its paragraph."""
    manuals = map(Path, ("service/OPERATIONS.md", "replays/FORMAT.md"))
    records = [path for path in prose.files("service/decisions", ".md") if path.name != "README.md"]
    return {
        "Docstrings of the product": sentences(map(prose.docstrings, modules())),
        "Comments of the product": sentences(map(prose.comments, modules())),
        "ARCHITECTURE and decisions": sentences(map(prose.document, [Path("service/ARCHITECTURE.md"), *records])),
        "OPERATIONS and FORMAT": sentences(map(prose.document, manuals)),
        "Docstrings of tests": sentences(map(prose.docstrings, prose.files("tests", ".py"))),
    }


def sentences(texts: Iterable[Iterator[prose.Line]]) -> list[tuple[Paragraph, str]]:
    """Return the sentences of some texts, each with its paragraph."""
    found = chain.from_iterable(map(prose.paragraphs, texts))
    return [(paragraph, sentence) for paragraph in found for sentence in paragraph.sentences]


if __name__ == "__main__":
    main()
