"""What the fuzzer found worth keeping, read again by the normal suite."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.targets import LARGEST_INPUT, TARGETS

CORPUS = Path(__file__).parent / "corpus"
LARGEST_CORPUS_BYTES = 1 << 20


@pytest.mark.parametrize("target", TARGETS)
def test_every_input_of_the_corpus_ends_in_good_order(target: str) -> None:
    """A refusal or a verdict; whatever is raised besides is a fault that the fuzzer has found once."""
    inputs = sorted((CORPUS / target).iterdir())
    assert inputs
    for kept in inputs:
        TARGETS[target](kept.read_bytes())


def test_the_corpus_stays_small() -> None:
    """It is read at every run of the suite, and by whoever clones the repository."""
    sizes = [kept.stat().st_size for target in TARGETS for kept in (CORPUS / target).iterdir()]
    assert max(sizes) <= LARGEST_INPUT
    assert sum(sizes) <= LARGEST_CORPUS_BYTES
