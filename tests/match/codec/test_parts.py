"""Hand-written encodings equal those of protobuf."""

from __future__ import annotations

import pytest
from google.protobuf.unknown_fields import UnknownFieldSet

from rollbook.match.codec.messages import LONGEST_REMEMBERED, read_choice, write_choice
from rollbook.match.codec.parts import MOST_REMEMBERED, Remembered, length_delimited
from rollbook.rules.cant_stop.moves import Roll
from rollbook.rules.catalogue import find
from rollbook.v1.games_pb2 import Choice
from rollbook.v1.table_pb2 import ProjectedEvent


@pytest.mark.parametrize("size", [1, 2, 127, 128, 129, 16_383, 16_384, 16_385, 2_097_151, 2_097_152])
def test_a_field_is_as_protobuf_writes_it(size: int) -> None:
    """The sizes include those at which the length takes one more byte."""
    content = b"e" * size
    assert ProjectedEvent(event=content).SerializeToString() == length_delimited(1, content)


@pytest.mark.parametrize("number", [15, 16, 17, 2_047, 2_048])
def test_a_field_of_a_high_number_is_read_by_protobuf(number: int) -> None:
    """The fifth listed game has a field number from 17 on, with a tag of two bytes."""
    content = b"e" * 200
    unknown = UnknownFieldSet(ProjectedEvent.FromString(length_delimited(number, content)))
    assert (1, number, content) == (len(unknown), unknown[0].field_number, unknown[0].data)


def test_what_is_remembered_is_made_once_and_is_not_more_than_so_much() -> None:
    """A service that runs for years sees every possible value, so the cache has a limit."""
    made: list[int] = []

    def make(value: int) -> bytes:
        made.append(value)
        return b"%d" % value

    remembered = Remembered(make)
    assert (b"7", b"7", [7]) == (remembered[7], remembered[7], made)
    for value in range(2 * MOST_REMEMBERED):
        assert b"%d" % value == remembered[value]
        assert len(remembered) <= MOST_REMEMBERED


@pytest.mark.parametrize("more", [0, 1, LONGEST_REMEMBERED, 10_000])
def test_a_choice_is_the_same_however_much_comes_with_it(more: int) -> None:
    """Unknown fields are ignored, and long messages are not cached."""
    game = find("cant_stop")
    data = write_choice(game, Roll()).SerializeToString()
    unknown = length_delimited(9, b"." * more)
    for _ in range(2):
        assert Roll() == read_choice(game, Choice.FromString(data + unknown))
