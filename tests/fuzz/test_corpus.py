"""Inputs that the fuzzer found interesting run in the normal suite."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.targets import LARGEST_INPUT, TARGETS

CORPUS = Path(__file__).parent / "corpus"
LARGEST_CORPUS_BYTES = 1 << 20


@pytest.mark.parametrize("target", TARGETS)
def test_every_input_of_the_corpus_ends_in_good_order(target: str) -> None:
    """Each gives a refusal or a verdict; any other exception is a bug that the fuzzer found before."""
    inputs = sorted((CORPUS / target).iterdir())
    assert inputs
    for kept in inputs:
        TARGETS[target](kept.read_bytes())


def test_the_corpus_stays_small() -> None:
    """Every run of the suite reads it, and every clone contains it."""
    sizes = [kept.stat().st_size for target in TARGETS for kept in (CORPUS / target).iterdir()]
    assert max(sizes) <= LARGEST_INPUT
    assert sum(sizes) <= LARGEST_CORPUS_BYTES
