"""The generated code is up to date, every declaration has a comment, and names equal those of the games."""

from __future__ import annotations

import re
from dataclasses import fields
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message

from rollbook.match.codec.messages import COUNT, hiding
from rollbook.match.codec.stubs import stubs_of
from rollbook.rules.allie_gator.moves import SPECIALS
from rollbook.rules.catalogue import rulesets
from rollbook.rules.game import Game, Watcher
from rollbook.rules.raffzahn.moves import BLUE, YELLOW
from rollbook.rules.wuerfelzoo.moves import FACES
from rollbook.v1 import allie_gator_pb2, cant_stop_pb2, chance_pb2, events_pb2, games_pb2, raffzahn_pb2, wuerfelzoo_pb2

ROOT = Path(__file__).resolve().parents[2]
STUBS = ROOT / "service" / "rollbook" / "v1"
PROTOS = {path.relative_to(ROOT / "proto").as_posix(): path for path in sorted((ROOT / "proto").rglob("*.proto"))}

ONCE = re.compile(r"(reserved|syntax|package|import) ")
FIRST_OF_ENUM = re.compile(r"enum (\w+) \{\n(?:\s*//.*\n)*\s*(\w+) = (-?\d+);")

by_game = pytest.mark.parametrize("game", rulesets(), ids=lambda game: f"{game.name}-{game.version}")
by_proto = pytest.mark.parametrize("name", PROTOS)


def test_the_stubs_were_generated_from_these_protos() -> None:
    """The digests stored with the stubs are those of the current protos."""
    expected = "".join(f"{sha256(path.read_bytes()).hexdigest()}  {name}\n" for name, path in PROTOS.items())
    actual = (STUBS / "PROTO_DIGESTS").read_text(encoding="utf-8")
    assert expected == actual, "the protos have changed: run .ci/stubs and commit what it writes"


@by_proto
def test_everything_declared_has_a_comment(name: str) -> None:
    """Readers who see only the proto need meaning and unit of every field."""
    bare = []
    before = ""
    for number, line in enumerate(PROTOS[name].read_text(encoding="utf-8").splitlines(), start=1):
        code = line.strip()
        is_declaration = bool(code) and not code.startswith(("//", "}")) and not ONCE.match(code)
        if is_declaration and "//" not in code and not before.startswith("//"):
            bare.append(f"{name}:{number}: {code}")
        before = code
    assert [] == bare


@by_proto
def test_every_enum_begins_with_unspecified(name: str) -> None:
    """0 is the value of an unset field, so it never means a value."""
    text = PROTOS[name].read_text(encoding="utf-8")
    expected = [(enum, f"{_screaming(enum)}_UNSPECIFIED", "0") for enum in re.findall(r"enum (\w+)", text)]
    assert expected == FIRST_OF_ENUM.findall(text)


def _screaming(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()


@by_proto
def test_every_stub_can_be_imported(name: str) -> None:
    """The installed protobuf accepts the code of the older generator, without a warning."""
    module = import_module(name.removesuffix(".proto").replace("/", ".") + "_pb2")
    assert name == module.DESCRIPTOR.name


@by_game
def test_choices_and_outcomes_have_the_fields_of_the_rules(game: Game[Any, Any, Any]) -> None:
    """A field has the same name in plain form, rules and bytes; only hidden cards are not in the bytes."""
    for moves, message in ((game.choices, _message(game, "Choice")), (game.outcomes, _message(game, "Outcome"))):
        kinds = message.DESCRIPTOR.oneofs_by_name["kind"].fields
        assert set(moves) == {kind.name for kind in kinds}
        for kind in kinds:
            named = [field.name for field in fields(moves[kind.name])]
            assert kind.message_type is not None
            written = [field.name for field in kind.message_type.fields]
            if moves is game.outcomes and (hidden := _hidden_field(game, kind.name)) is not None:
                assert stubs_of(game).hidden is not None
                named = [name for name in named if name != hidden] + [name for name in written if name == COUNT]
            assert named == written


@by_game
def test_options_and_view_have_the_fields_of_the_rules(game: Game[Any, Any, Any]) -> None:
    """Options and views have the same fields in the rules and in messages."""
    view: Any = game.view(game.start({}, game.seats[0]), Watcher.PUBLIC)
    assert [option.name for option in game.options] == _field_names(_message(game, "Options"))
    assert [field.name for field in fields(type(view))] == _field_names(_message(game, "View"))


def _hidden_field(game: Game[Any, Any, Any], outcome: str) -> str | None:
    kind: Any = game.outcomes[outcome]
    return hiding(game, kind)


def _message(game: Game[Any, Any, Any], suffix: str) -> type[Message]:
    module = import_module(f"rollbook.v1.{game.name}_pb2")
    message: type[Message] = getattr(module, game.name.title().replace("_", "") + suffix)
    return message


def _field_names(message: type[Message]) -> list[str]:
    return [field.name for field in message.DESCRIPTOR.fields]


def test_faces_and_special_cards_are_all_there() -> None:
    """Every face and special card has a value of the enum, and every value has one."""
    faces = {face.upper() for faces in (YELLOW, BLUE) for face in faces}
    animals = {face.upper() for die in FACES for face in die}
    specials = {name.upper(): number for number, name in SPECIALS.items()}
    assert faces == _values(raffzahn_pb2.RaffzahnFace, "RAFFZAHN_FACE_").keys()
    assert animals == _values(wuerfelzoo_pb2.WuerfelzooFace, "WUERFELZOO_FACE_").keys()
    assert specials == _values(allie_gator_pb2.AllieGatorSpecial, "ALLIE_GATOR_SPECIAL_")


def _values(enum: Any, prefix: str) -> dict[str, int]:
    return {name.removeprefix(prefix): number for name, number in enum.items() if number}


def _happened(**outcome: Any) -> events_pb2.Event:
    return _event(happened=events_pb2.Happened(outcome=games_pb2.Outcome(**outcome)))


def _chosen(**choice: Any) -> events_pb2.Event:
    return _event(
        seat=0, request=bytes(16), chosen=events_pb2.Chosen(charged_ms=12_345, choice=games_pb2.Choice(**choice))
    )


def _event(**content: Any) -> events_pb2.Event:
    return events_pb2.Event(sequence=9_999, time_ms=1_800_000_000_000, previous=bytes(range(32)), **content)


CANT_STOP_EVENTS = [
    _happened(cant_stop=cant_stop_pb2.CantStopOutcome(roll=cant_stop_pb2.CantStopOutcome.Roll(dice=[3, 4, 1, 1]))),
    _chosen(cant_stop=cant_stop_pb2.CantStopChoice(advance=cant_stop_pb2.CantStopChoice.Advance(columns=[6, 6]))),
    _chosen(cant_stop=cant_stop_pb2.CantStopChoice(stop=cant_stop_pb2.CantStopChoice.Stop())),
]
RAFFZAHN_EVENTS = [
    _happened(
        raffzahn=raffzahn_pb2.RaffzahnOutcome(
            roll=raffzahn_pb2.RaffzahnOutcome.Roll(
                dice=[
                    raffzahn_pb2.RAFFZAHN_FACE_30,
                    raffzahn_pb2.RAFFZAHN_FACE_STAR,
                    raffzahn_pb2.RAFFZAHN_FACE_5,
                ],
            ),
        ),
    ),
    _chosen(raffzahn=raffzahn_pb2.RaffzahnChoice(roll=raffzahn_pb2.RaffzahnChoice.Roll(dice=[0, 2], announce=34))),
    # A field named like a Python keyword can be set only this way.
    _chosen(raffzahn=raffzahn_pb2.RaffzahnChoice(**{"pass": raffzahn_pb2.RaffzahnChoice.Pass()})),  # type: ignore[arg-type]
]
WUERFELZOO_EVENTS = [
    _happened(
        wuerfelzoo=wuerfelzoo_pb2.WuerfelzooOutcome(
            roll=wuerfelzoo_pb2.WuerfelzooOutcome.Roll(
                dice=[0, 29],
                faces=[wuerfelzoo_pb2.WUERFELZOO_FACE_ELEPHANT, wuerfelzoo_pb2.WUERFELZOO_FACE_X2],
            ),
        ),
    ),
    _chosen(wuerfelzoo=wuerfelzoo_pb2.WuerfelzooChoice(worm=wuerfelzoo_pb2.WuerfelzooChoice.Worm(own=0, target=4))),
]
ALLIE_GATOR_EVENTS = [
    _happened(allie_gator=allie_gator_pb2.AllieGatorOutcome(draw=allie_gator_pb2.AllieGatorOutcome.Draw(count=5))),
    _happened(allie_gator=allie_gator_pb2.AllieGatorOutcome(steal=allie_gator_pb2.AllieGatorOutcome.Steal())),
    _chosen(allie_gator=allie_gator_pb2.AllieGatorChoice(steal=allie_gator_pb2.AllieGatorChoice.Steal(target=0))),
    _chosen(allie_gator=allie_gator_pb2.AllieGatorChoice(snap=allie_gator_pb2.AllieGatorChoice.Snap())),
]
EVENTS_OF_ALL = [
    _event(
        opened=events_pb2.Opened(
            envelope=2,
            game="cant_stop",
            options=games_pb2.Options(cant_stop=cant_stop_pb2.CantStopOptions(hasty=False)),
            open_seconds=3_600,
            idle_seconds=1_209_600,
        )
    ),
    _event(
        happened=events_pb2.Happened(
            outcome=games_pb2.Outcome(allie_gator=allie_gator_pb2.AllieGatorOutcome(first_seat=chance_pb2.FirstSeat()))
        )
    ),
    _event(seat=0, timed_out=events_pb2.TimedOut(not_before_ms=1, charged_ms=2)),
    _event(sealed=events_pb2.Sealed(places=events_pb2.Sealed.Places(places=[2, 1]), secret=bytes(32))),
    _event(
        sealed=events_pb2.Sealed(
            aborted=events_pb2.Sealed.Aborted(reason=events_pb2.ABORT_REASON_NOT_READY, seats=[0, 2]),
        ),
    ),
]
EVENTS = [*CANT_STOP_EVENTS, *RAFFZAHN_EVENTS, *WUERFELZOO_EVENTS, *ALLIE_GATOR_EVENTS, *EVENTS_OF_ALL]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.WhichOneof("body"))
def test_events_come_back_from_their_bytes(event: events_pb2.Event) -> None:
    """Decoded messages equal the encoded ones, including empty messages and meaningful zeros."""
    assert event == events_pb2.Event.FromString(event.SerializeToString())


def test_what_lies_beside_an_event_comes_back_from_its_bytes() -> None:
    """Hidden cards keep the order in which they were drawn."""
    hidden = games_pb2.HiddenOutcome(allie_gator=allie_gator_pb2.AllieGatorHidden(cards=[70, 71, 1]))
    beside = events_pb2.Private(hidden=hidden)
    assert beside == events_pb2.Private.FromString(beside.SerializeToString())


@pytest.mark.parametrize("event", CANT_STOP_EVENTS, ids=lambda event: event.WhichOneof("body"))
def test_an_event_of_cant_stop_is_small(event: events_pb2.Event) -> None:
    """Redis keeps running matches in memory, at most 160 bytes an event with all overhead."""
    assert len(event.SerializeToString()) <= 96
