"""Words of the rules as numbers of enums: `star` is RAFFZAHN_FACE_STAR."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def numbers_of(enum: Any) -> dict[str, int]:
    """The number of every word of an enum, by its descriptor; the value 0 is no word."""
    prefix = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
    return {value.name.removeprefix(prefix).lower(): value.number for value in enum.values if value.number}


@cache
def words_of(enum: Any) -> dict[int, str]:
    """The word of every number of an enum but 0."""
    return {number: word for word, number in numbers_of(enum).items()}
