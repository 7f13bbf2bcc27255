"""The command that draws sentences for readers."""

from __future__ import annotations

import re

from tests.scripts import run_script
from tests.tidy.sample_sentences import SENTENCES_OF_A_KIND, kinds


def test_a_sample_has_as_many_sentences_of_each_kind_and_follows_from_the_seed() -> None:
    """Sentences are numbered; another seed draws others, and `--places` adds file and line."""
    words = ("tests.tidy.sample_sentences", "--seed")
    one = run_script(*words, "1", "--places")
    numbers = [int(number) for number in re.findall(r"^(\d+)\. ", one, re.MULTILINE)]
    assert [*range(1, SENTENCES_OF_A_KIND * len(kinds()) + 1)] == numbers
    assert len(numbers) <= len(re.findall(r"\.(?:py|md):\d+\)", re.sub(r"\s+", " ", one)))
    assert one == run_script(*words, "1", "--places") != run_script(*words, "2", "--places")
