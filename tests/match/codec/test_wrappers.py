"""Messages that hold data of any game: listed games have their own fields, others use `Any`; one encoding each."""

from __future__ import annotations

import pytest
from google.protobuf.any_pb2 import Any as Other
from google.protobuf.message import Message

from rollbook.match.codec.wrappers import OTHER, content, list_games, unwrap, wrap
from rollbook.v1 import games_pb2
from rollbook.v1.cant_stop_pb2 import CantStopChoice
from rollbook.v1.chance_pb2 import FirstSeat
from rollbook.v1.raffzahn_pb2 import RaffzahnChoice
from rollbook.v1.table_pb2 import Position

WRAPPERS: list[type[Message]] = [
    games_pb2.Options,
    games_pb2.Choice,
    games_pb2.Outcome,
    games_pb2.HiddenOutcome,
    games_pb2.View,
    games_pb2.LegalChoices,
]
URL = "type.googleapis.com/rollbook.v1.FirstSeat"


@pytest.mark.parametrize("wrapper", WRAPPERS, ids=lambda wrapper: wrapper.DESCRIPTOR.name)
def test_a_listed_game_has_one_name_and_one_number_everywhere(wrapper: type[Message]) -> None:
    """A reader that knows one of these messages knows all of them."""
    numbers = {field.name: field.number for field in games_pb2.Options.DESCRIPTOR.fields}
    assert {field.name: field.number for field in wrapper.DESCRIPTOR.fields}.items() <= numbers.items()
    assert ["game"] == [oneof.name for oneof in wrapper.DESCRIPTOR.oneofs]
    for name in list_games(wrapper):
        held = wrapper.DESCRIPTOR.fields_by_name[name].message_type
        assert held is not None
        assert f"rollbook.v1.{name.title().replace('_', '')}" == held.full_name.removesuffix(
            {"HiddenOutcome": "Hidden"}.get(wrapper.DESCRIPTOR.name, wrapper.DESCRIPTOR.name)
        )


@pytest.mark.parametrize("message", [CantStopChoice(roll=CantStopChoice.Roll()), CantStopChoice()])
def test_a_listed_game_travels_in_its_field(message: CantStopChoice) -> None:
    """An empty message still names its game."""
    sent = games_pb2.Choice.FromString(wrap(games_pb2.Choice(), message).SerializeToString())
    assert (message, None) == (unwrap(sent, CantStopChoice), unwrap(sent, RaffzahnChoice))
    assert "cant_stop" == content(sent) == sent.WhichOneof("game")


def test_another_game_travels_as_any_with_its_full_name() -> None:
    """`games.proto` does not list such a game."""
    wrapped = wrap(games_pb2.Choice(), FirstSeat(seat=3))
    assert URL == wrapped.other.type_url
    sent = games_pb2.Choice.FromString(wrapped.SerializeToString())
    assert (FirstSeat(seat=3), None) == (unwrap(sent, FirstSeat), unwrap(sent, CantStopChoice))
    assert "rollbook.v1.FirstSeat" == content(sent)


@pytest.mark.parametrize(
    ("url", "value"),
    [
        ("rollbook.v1.FirstSeat", b"\x08\x03"),
        ("/rollbook.v1.FirstSeat", b"\x08\x03"),
        ("https://type.googleapis.com/rollbook.v1.FirstSeat", b"\x08\x03"),
        ("type.example.com/rollbook.v1.FirstSeat", b"\x08\x03"),
        (URL + "s", b"\x08\x03"),
        (URL, b"\x08"),
        (URL, b"\x08\x83\x00"),
        (URL, b"\x08\x00"),
        (URL, b"\x08\x01\x08\x03"),
    ],
    ids=["bare", "slash", "scheme", "host", "name", "cut", "long varint", "default", "twice"],
)
def test_what_is_not_canonical_is_not_read(url: str, value: bytes) -> None:
    """Each content has one encoding, or one match could have two logs."""
    assert unwrap(games_pb2.Choice(other=Other(type_url=url, value=value)), FirstSeat) is None


def test_a_listed_game_is_not_read_from_other() -> None:
    """Otherwise a listed game would have two encodings."""
    packed = Other()
    packed.Pack(CantStopChoice(roll=CantStopChoice.Roll()))
    assert unwrap(games_pb2.Choice(other=packed), CantStopChoice) is None


def test_nothing_is_nothing() -> None:
    """An empty wrapper has neither content nor message."""
    assert content(games_pb2.View()) is None
    assert unwrap(games_pb2.View(), Position) is None
    assert OTHER not in list_games(games_pb2.View)
