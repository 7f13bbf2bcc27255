"""Properties of all services, calls and refusal reasons that clients rely on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor, MethodDescriptor

from rollbook.match.codec.stubs import stubs_of
from rollbook.match.codec.wrappers import OTHER
from rollbook.rules.catalogue import rulesets
from rollbook.rules.game import Game
from rollbook.rules.refusals import AgainstRule, Reason
from rollbook.rules.wuerfelzoo.turn_choices import PlayOffer, TurnChoices
from rollbook.v1 import games_pb2, match_pb2, refusals_pb2, table_pb2, wuerfelzoo_pb2

ROOT = Path(__file__).resolve().parents[2]
PROTOS = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "proto").rglob("*.proto"))}
SERVICE = ROOT / "service" / "rollbook"
RULES = [path.read_text(encoding="utf-8") for path in sorted((SERVICE / "rules").rglob("*.py"))]

REFUSAL = re.compile(r"((?:  //.*\n)+)  REFUSAL_REASON_(\w+) = [1-9]\d* ")
EXPLAINED = re.compile(r"\S.*[.] Cause: \S.*[.] Client: \S.*[.]")

CODES = {
    "INVALID_ARGUMENT",
    "FAILED_PRECONDITION",
    "ABORTED",
    "NOT_FOUND",
    "PERMISSION_DENIED",
    "UNAUTHENTICATED",
    "RESOURCE_EXHAUSTED",
    "UNAVAILABLE",
    "OUT_OF_RANGE",
    "DATA_LOSS",
}
"""The gRPC codes of refusals; a client can never cause INTERNAL or UNKNOWN."""

CANNOT_BE_READ, NOT_LEGAL_NOW, OF_THE_SERVICE = range(1, 30), range(30, 100), range(100, 1000)
"""The ranges of reason numbers; the first two are those of the rules."""

WRITES = {
    "OpenMatch",
    "PlayNow",
    "TakeSeat",
    "Ready",
    "LeaveSeat",
    "Choose",
    "Resign",
    "AbortMatch",
    "Play",
    "AddBot",
    "FreeSeat",
}
ANSWERS = {"DeclineRematch"}
"""Writes beside the log: no event, so no position and none in the answer."""

READS = {
    "GetReplay",
    "AuditReplay",
    "ListGames",
    "GetMatch",
    "ListMatches",
    "WatchMatch",
    "WatchLobby",
    "SignIn",
    "CreateDeviceCode",
    "GetKeys",
    "ListBans",
    "ListOpened",
    "GetState",
}
"""Calls without lasting effects; SignIn stores no token, and device codes expire."""

ALIKE = {"Ban", "LiftBan", "RevokeToken", "AcceptLoss"}
"""Calls that can be repeated without another effect, and need no request id."""

GAMES = {field.name: field.number for field in games_pb2.Options.DESCRIPTOR.fields if field.name != OTHER}
HIDING = {game.name: GAMES[game.name] for game in rulesets() if stubs_of(game).hidden is not None}

by_file = pytest.mark.parametrize("stem", PROTOS)
by_game = pytest.mark.parametrize("game", rulesets(), ids=lambda game: f"{game.name}-{game.version}")


def _file(stem: str) -> FileDescriptor:
    file: FileDescriptor = import_module(f"rollbook.v1.{stem}_pb2").DESCRIPTOR
    return file


def _calls(stem: str) -> list[MethodDescriptor]:
    return [call for service in _file(stem).services_by_name.values() for call in service.methods]


CALLS = {call.name: call for stem in PROTOS for call in _calls(stem)}


@by_file
def test_both_sides_of_every_service_can_be_imported(stem: str) -> None:
    """The installed gRPC accepts the code of the older generator; only protos with services have such a module."""
    services = list(_file(stem).services_by_name)
    generated = ROOT / "service" / "rollbook" / "v1" / f"{stem}_pb2_grpc.py"
    assert bool(services) == generated.exists()
    for service in services:
        module = import_module(f"rollbook.v1.{stem}_pb2_grpc")
        assert {f"{service}Stub", f"{service}Servicer"} <= vars(module).keys()


@by_file
def test_every_call_has_a_comment_of_its_own(stem: str) -> None:
    """The comment of a call explains what it does; the rest is in its messages."""
    explained = re.findall(r"^  // .*\n  rpc (\w+)\(", PROTOS[stem], re.MULTILINE)
    assert [call.name for call in _calls(stem)] == explained


def test_the_contract_begins_with_the_calls_of_a_whole_match() -> None:
    """Authors of clients find all calls of a match in order there, with every hash."""
    told = re.findall(r"^// - (?:\w+[.])?([A-Z]\w+)[ ,]", PROTOS["match"].partition("\nsyntax")[0], re.MULTILINE)
    match = ["OpenMatch", "TakeSeat", "WatchMatch", "Ready", "Choose"]
    assert ["SignIn", *match, "The", "GetReplay"] == told
    assert {*match, "SignIn", "GetReplay"} <= CALLS.keys()
    assert [] == [stem for stem, text in PROTOS.items() if re.search(r"\bH\(", text)]


def test_every_write_and_no_other_call_has_a_request_id() -> None:
    """A retry is safe only if it can be recognised; a new call has to be added to one of the sets above."""
    request_ids = {name: call.input_type.fields_by_name.get("request_id") for name, call in CALLS.items()}
    assert WRITES | READS | ALIKE | ANSWERS == CALLS.keys()
    assert WRITES | ANSWERS == {name for name, request_id in request_ids.items() if request_id is not None}
    assert {FieldDescriptor.TYPE_STRING} == {request_id.type for request_id in request_ids.values() if request_id}


def test_every_request_id_says_how_long_it_may_be() -> None:
    """Each field has its bounds in its own comment."""
    bounds = re.findall(r"  // (8 to 64 visible ASCII characters)[^\n]*\n  string request_id = 1;", PROTOS["match"])
    assert len(WRITES | ANSWERS) == len(bounds)


def test_what_is_said_in_every_write_stands_in_the_same_place() -> None:
    """One helper of a client fills these fields for all writes."""
    places = {"request_id": {1}, "match_id": {2}, "position": {3}, "seat": {4}}
    after_opening = [CALLS[name].input_type for name in sorted(WRITES - {"OpenMatch", "PlayNow"})]
    for message in after_opening:
        assert {"request_id", "match_id", "position"} <= set(message.fields_by_name)
        assert table_pb2.Position.DESCRIPTOR == message.fields_by_name["position"].message_type
    found = {name: {message.fields_by_name[name].number for message in _with(name, after_opening)} for name in places}
    assert places == found


def _with(name: str, messages: Iterable[Descriptor]) -> list[Descriptor]:
    return [message for message in messages if name in message.fields_by_name]


def test_every_write_answers_with_the_events_it_made() -> None:
    """Clients need range, bytes and signed head to check the events and to continue."""
    for name in sorted(WRITES - {"PlayNow"}):
        assert match_pb2.EventsMade.DESCRIPTOR == CALLS[name].output_type.fields_by_name["made"].message_type
    assert ["first", "last", "events", "head"] == [field.name for field in match_pb2.EventsMade.DESCRIPTOR.fields]


@by_file
def test_a_game_has_the_same_number_in_every_oneof(stem: str) -> None:
    """Every oneof has all games under the same numbers; HiddenOutcome has those that hide something."""
    assert {game.name for game in rulesets()} == GAMES.keys()
    for message in _with_nested(_file(stem).message_types_by_name.values()):
        for oneof in message.oneofs:
            games = {field.name: field.number for field in oneof.fields if field.name in GAMES}
            of_those_that_hide = message.name == "HiddenOutcome"
            assert games in ([HIDING] if of_those_that_hide else [{}, GAMES]), message.full_name


def _with_nested(messages: Iterable[Descriptor]) -> Iterator[Descriptor]:
    for message in messages:
        yield message
        yield from _with_nested(message.nested_types)


@by_game
def test_views_and_choices_of_every_game_travel(game: Game[Any, Any, Any]) -> None:
    """The wrapper messages for views, choices and legal choices have a field for every game."""
    name = game.name.title().replace("_", "")
    own = _file(game.name).message_types_by_name
    listed = games_pb2.LegalChoices.DESCRIPTOR.fields_by_name[game.name].message_type
    assert own[f"{name}View"] == games_pb2.View.DESCRIPTOR.fields_by_name[game.name].message_type
    assert own[f"{name}Choice"] == games_pb2.Choice.DESCRIPTOR.fields_by_name[game.name].message_type
    assert listed is not None
    assert own[f"{name}Choice"] == listed.fields_by_name["choices"].message_type


def test_the_described_choices_of_wuerfelzoo_have_the_fields_of_the_rules() -> None:
    """The message has the fields of the rules' compact description of many choices."""
    turn = wuerfelzoo_pb2.WuerfelzooTurnChoices
    assert [field.name for field in fields(TurnChoices)] == [field.name for field in turn.DESCRIPTOR.fields]
    assert [field.name for field in fields(PlayOffer)] == [field.name for field in turn.PlayOffer.DESCRIPTOR.fields]


def test_the_rules_and_the_contract_have_the_same_reasons() -> None:
    """Every refusal of the rules has a name, and no name is unused."""
    told = {name for name, number in _reasons().items() if number not in OF_THE_SERVICE}
    assert {reason.name for reason in Reason} == told


def test_every_refusal_says_meaning_cause_and_what_to_do() -> None:
    """Clients find all facts about a refusal in one place and form."""
    explained = _explanations()
    assert _reasons().keys() == explained.keys()
    assert {} == {name: text for name, text in explained.items() if not EXPLAINED.fullmatch(text)}


def test_every_reason_has_a_status_code() -> None:
    """A refusal needs a code, and a code outside the list would blame the service."""
    assert {} == {name: _code(name) for name in _reasons() if _code(name) not in CODES}
    assert CODES == {_code(name) for name in _reasons()}


def test_every_reason_is_given_somewhere() -> None:
    """Every reason is used in the code; REFUSAL_REASON_RULE is used by games of other packages."""
    code = "\n".join(
        path.read_text(encoding="utf-8") for path in SERVICE.rglob("*.py") if SERVICE / "v1" not in path.parents
    )
    raised = {
        *re.findall(r"\b(?:Reason|Why)\.([A-Z_]+)\b", code),
        *(f"TOKEN_{name}" for name in re.findall(r"\bTokenReason\.([A-Z_]+)\b", code)),
        *re.findall(r"\bRefusal\(\s*\"([A-Z_]+)\"", code),
        *re.findall(r"_out_of_range\(\"([A-Z_]+)\"", code),
    }
    assert set() == _reasons().keys() - raised


@pytest.mark.parametrize("reason", Reason)
def test_the_code_of_a_reason_is_that_of_how_the_rules_refuse(reason: Reason) -> None:
    """Unreadable moves are INVALID_ARGUMENT, illegal ones FAILED_PRECONDITION."""
    code, numbers = {
        "Invalid": ("INVALID_ARGUMENT", CANNOT_BE_READ),
        "Illegal": ("FAILED_PRECONDITION", NOT_LEGAL_NOW),
    }[_how_refused(reason)]
    assert code == _code(reason.name)
    assert _reasons()[reason.name] in numbers


def _how_refused(reason: Reason) -> str:
    """Return `Invalid` or `Illegal`, as the rules raise it; reasons raised by decoding are `Invalid`."""
    if reason is Reason.RULE:
        return AgainstRule.__mro__[1].__name__
    kinds = {kind for text in RULES for kind in re.findall(rf"(Invalid|Illegal)\(\s*Reason\.{reason.name}\b", text)}
    assert len(kinds) <= 1
    return kinds.pop() if kinds else "Invalid"


def _reasons() -> dict[str, int]:
    prefix = "REFUSAL_REASON_"
    return {name.removeprefix(prefix): number for name, number in refusals_pb2.RefusalReason.items() if number}


def _explanations() -> dict[str, str]:
    """Return the comment of every reason as one line, by name."""
    found = REFUSAL.findall(PROTOS["refusals"])
    return {name: " ".join(line.strip(" /") for line in comment.splitlines()) for comment, name in found}


def _code(name: str) -> str:
    """Return the name of the status code of a reason; empty if the contract has none."""
    value = refusals_pb2.RefusalReason.DESCRIPTOR.values_by_name[f"REFUSAL_REASON_{name}"]
    code: str = value.GetOptions().Extensions[refusals_pb2.status_code]
    return code
