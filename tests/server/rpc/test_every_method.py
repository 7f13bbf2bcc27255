"""Every method that reflection lists answers every request with a result or a refusal."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import grpc
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, MethodDescriptorProto
from google.protobuf.message import Message
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2
from grpc_reflection.v1alpha.reflection_pb2_grpc import ServerReflectionStub

from rollbook.match.chain import entropy_commitment
from rollbook.v1 import admin_pb2, feed_pb2, identity_pb2, match_pb2, replay_pb2
from rollbook.v1.cant_stop_pb2 import CantStopOptions
from rollbook.v1.games_pb2 import Options
from rollbook.v1.identity_pb2_grpc import IdentityServiceStub
from rollbook.v1.match_pb2_grpc import MatchServiceStub
from rollbook.v1.replay_pb2_grpc import ReplayServiceStub
from rollbook.v1.table_pb2 import Position
from tests.server.rpc.talking import entropy, some_choice
from tests.server.serving import Service, health, started

BROKEN: Final = {grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN, grpc.StatusCode.UNIMPLEMENTED}
GARBAGE: Final = {
    "cut": b"\x0a\x05ab",
    "unknown fields": b"\xf8\x7f\x07" * 100,
    "numbers as large as they can be": b"".join(bytes([field << 3]) + b"\xff" * 9 + b"\x01" for field in range(1, 16)),
    "empty messages": b"".join(bytes([field << 3 | 2, 0]) for field in range(1, 16)),
}
LIST: Final[Any] = health_pb2.HealthListRequest  # type: ignore[attr-defined]  # its types are older
REFLECT: Final[Any] = reflection_pb2.ServerReflectionRequest
CANT_STOP: Final = Options(cant_stop=CantStopOptions())
LAST_FRAME: Final = 4
"""Number of messages to read from an answer that may be endless."""


@dataclass(frozen=True)
class Prepared:
    """A service with tokens by role and a match in every state, for valid requests."""

    service: Service
    tokens: Mapping[str, str]
    open: str
    seated: str
    closing: bytes
    running: str
    awaited: Any
    ended: str
    rematch: str
    file: bytes


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prepared]:
    """Create a match in each state: open, seated, running, ended."""
    data = str(tmp_path_factory.mktemp("data") / "data")
    words = ["serve", "--data", data, "--listen", "127.0.0.1:0", "--web", "off", "--durability", "relaxed"]
    with started([sys.executable, "-m", "rollbook", *words]) as service, service.channel() as channel:
        identity, matches = IdentityServiceStub(channel), MatchServiceStub(channel)
        players = [identity.SignIn(identity_pb2.SignInRequest(name=name), timeout=20).token for name in ("Anna", "Tom")]
        keys = ["--key", f"{data}/token.key", "--subject", "judy", "--role", "operator"]
        minted = [sys.executable, "-m", "rollbook", "token", *keys]
        operator = subprocess.run(minted, check=True, capture_output=True, text=True).stdout.strip()

        def call(method: str, token: str, **fields: Any) -> Any:
            kind = getattr(match_pb2, f"{method}Request")
            fields = {"request_id": f"{method}-{token[-8:]}-{fields.get('match_id', '')}", **fields}
            fields = {name: value for name, value in fields.items() if name in kind.DESCRIPTOR.fields_by_name}
            return getattr(matches, method)(kind(**fields), metadata=bearer(token), timeout=20)

        def opened(number: int) -> str:
            request_id, seats = f"open-match-{number}", 2 if number else 4
            match = call("OpenMatch", players[0], seats=seats, options={"cant_stop": {}}, request_id=request_id)
            return str(match.match_id)

        ids = [opened(number) for number in range(5)]
        for match_id in (*ids[1:3], ids[4]):
            for seat, token in enumerate(players):
                commitment = entropy_commitment(entropy(seat))
                taken = call("TakeSeat", token, match_id=match_id, entropy_commitment=commitment)
            closing = taken.made.head.link
            if match_id != ids[1]:
                for seat, token in enumerate(players):
                    call("Ready", token, match_id=match_id, closing_link=closing, entropy=entropy(seat))
            else:
                seated_link = closing
        call("Resign", players[1], match_id=ids[4])
        rematch = call("OpenMatch", players[0], rematch_of=ids[4], request_id="open-the-rematch").match_id
        # Bots sit down only where a person sits.
        guest = identity.SignIn(identity_pb2.SignInRequest(name="Carla"), timeout=20).token
        call("TakeSeat", guest, match_id=ids[0], seat=2)
        call("AbortMatch", players[0], match_id=ids[3])
        look = call("GetMatch", players[0], match_id=ids[2])
        awaited = call("GetMatch", players[look.summary.awaited_seat], match_id=ids[2])
        request = replay_pb2.GetReplayRequest(match_id=ids[3])
        file = b"".join(
            part.part for part in ReplayServiceStub(channel).GetReplay(request, metadata=bearer(players[0]), timeout=20)
        )
        tokens = {"no token": "", "opener": players[0], "other player": players[1], "operator": operator}
        yield Prepared(service, tokens, ids[0], ids[1], seated_link, ids[2], awaited, ids[3], rematch, file)


def bearer(token: str) -> Any:
    """The metadata with the token, or none."""
    return (("authorization", f"Bearer {token}"),) if token else ()


def valid(at: Prepared) -> dict[str, list[Message]]:
    """Valid requests for each method; for a stream of requests all of them."""
    head = at.awaited.head
    choice = some_choice(at.awaited.legal)
    position = Position(sequence=head.sequence, link=head.link)
    played: dict[str, Any] = {"match_id": at.running, "choice": choice, "position": position}
    by_service: dict[str, dict[str, list[Message]]] = {
        "rollbook.v1.MatchService": {
            "ListGames": [match_pb2.ListGamesRequest()],
            "OpenMatch": [match_pb2.OpenMatchRequest(request_id="open-one-more", seats=2, options=CANT_STOP)],
            "PlayNow": [match_pb2.PlayNowRequest(request_id="play-now-1", game="cant_stop")],
            "TakeSeat": [match_pb2.TakeSeatRequest(request_id="take-a-seat", match_id=at.open)],
            "AddBot": [match_pb2.AddBotRequest(request_id="add-a-bot", match_id=at.open, seat=3)],
            "DeclineRematch": [match_pb2.DeclineRematchRequest(request_id="decline-it", match_id=at.rematch)],
            "FreeSeat": [match_pb2.FreeSeatRequest(request_id="free-a-seat", match_id=at.open, seat=3)],
            "LeaveSeat": [match_pb2.LeaveSeatRequest(request_id="leave-seat", match_id=at.open)],
            "Ready": [
                match_pb2.ReadyRequest(
                    request_id="get-ready", match_id=at.seated, closing_link=at.closing, entropy=entropy(0)
                )
            ],
            "GetMatch": [match_pb2.GetMatchRequest(match_id=at.running)],
            "ListMatches": [match_pb2.ListMatchesRequest(page_size=200)],
            "Choose": [match_pb2.ChooseRequest(request_id="choose-it", **played)],
            "Play": [match_pb2.PlayRequest(request_id="play-it-on", **played)],
            "Resign": [match_pb2.ResignRequest(request_id="resign-it", match_id=at.running)],
            "AbortMatch": [match_pb2.AbortMatchRequest(request_id="abort-it", match_id=at.open)],
        },
        "rollbook.v1.FeedService": {
            "WatchMatch": [feed_pb2.WatchMatchRequest(match_id=at.ended)],
            "WatchLobby": [feed_pb2.WatchLobbyRequest()],
        },
        "rollbook.v1.ReplayService": {
            "GetReplay": [replay_pb2.GetReplayRequest(match_id=at.ended)],
            "AuditReplay": [replay_pb2.AuditReplayRequest(part=at.file)],
        },
        "rollbook.v1.IdentityService": {
            "SignIn": [identity_pb2.SignInRequest(name="Anna")],
            "CreateDeviceCode": [identity_pb2.CreateDeviceCodeRequest()],
            "GetKeys": [identity_pb2.GetKeysRequest()],
        },
        "rollbook.v1.AdminService": {
            "Ban": [admin_pb2.BanRequest(target=admin_pb2.BanTarget(address="192.0.2.1"), seconds=60)],
            "RevokeToken": [admin_pb2.RevokeTokenRequest(jti="a-token")],
            "AcceptLoss": [admin_pb2.AcceptLossRequest()],
            "LiftBan": [admin_pb2.LiftBanRequest(ban_id="none")],
            "ListBans": [admin_pb2.ListBansRequest()],
            "ListOpened": [
                admin_pb2.ListOpenedRequest(
                    target=admin_pb2.BanTarget(subject=admin_pb2.BanTarget.Subject(sub="anna"))
                ),
                admin_pb2.ListOpenedRequest(target=admin_pb2.BanTarget(address="192.0.2.7")),
            ],
            "GetState": [admin_pb2.GetStateRequest()],
        },
        health_pb2.DESCRIPTOR.services_by_name["Health"].full_name: {
            "Check": [health_pb2.HealthCheckRequest()],
            "List": [LIST()],
            "Watch": [health_pb2.HealthCheckRequest(service="none")],
        },
        reflection_pb2.DESCRIPTOR.services_by_name["ServerReflection"].full_name: {
            "ServerReflectionInfo": [
                REFLECT(**{field: wanted})
                for field in (
                    "file_by_filename",
                    "file_containing_symbol",
                    "all_extension_numbers_of_type",
                    "list_services",
                )
                for wanted in ("rollbook/v1/match.proto", "rollbook.v1.Event", "", "\0", "ä")
            ],
        },
    }
    return {
        f"/{service}/{method}": requests
        for service, methods in by_service.items()
        for method, requests in methods.items()
    }


def listed(channel: grpc.Channel) -> dict[str, MethodDescriptorProto]:
    """Every method by its path, from reflection alone."""
    stub: Any = ServerReflectionStub(channel)

    def ask(**what: str) -> Any:
        request = REFLECT(**what)
        return next(iter(stub.ServerReflectionInfo(iter([request]), timeout=20)))

    names = [service.name for service in ask(list_services="").list_services_response.service]
    return {
        f"/{file.package}.{service.name}/{method.name}": method
        for name in names
        for data in ask(file_containing_symbol=name).file_descriptor_response.file_descriptor_proto
        for file in [FileDescriptorProto.FromString(data)]
        for service in file.service
        for method in service.method
        if f"{file.package}.{service.name}" in names
    }


def outcome(
    channel: grpc.Channel, path: str, method: MethodDescriptorProto, sent: list[bytes], token: str
) -> grpc.StatusCode:
    """The final status of a call, or OK once an endless answer has begun."""
    kind = f"{'stream' if method.client_streaming else 'unary'}_{'stream' if method.server_streaming else 'unary'}"
    call: Any = getattr(channel, kind)(path)
    try:
        answer = call(iter(sent) if method.client_streaming else sent[0], metadata=bearer(token), timeout=20)
        if method.server_streaming:
            lasts = path.endswith(("/WatchLobby", "/Watch"))
            for number, _ in enumerate(answer):
                if lasts or number == LAST_FRAME:
                    break
            answer.cancel()
    except grpc.RpcError as error:
        return error.code()
    return grpc.StatusCode.OK


def test_no_method_answers_internal_or_unknown(prepared: Prepared) -> None:
    """For empty, invalid and valid requests; at least one token is allowed the valid one. The log has no traceback."""
    service = prepared.service
    requests, accepted = valid(prepared), set[str]()
    with service.channel() as channel:
        methods = listed(channel)
        assert methods.keys() == requests.keys(), "each method needs a valid request in this file"
        for path, method in methods.items():
            sent = [request.SerializeToString() for request in requests[path]]
            payloads = {"empty": [b""], **{name: [data] for name, data in GARBAGE.items()}, "valid": sent}
            for (role, token), (name, payload) in product(prepared.tokens.items(), payloads.items()):
                if role in {"other player", "operator"} and name != "valid":
                    continue
                code = outcome(channel, path, method, payload, token)
                assert code not in BROKEN, f"{path} answers {code} to the request of {role}: {name}"
                if name == "valid" and code is grpc.StatusCode.OK:
                    accepted.add(path)
    assert accepted == methods.keys()
    assert [] == [line for line in service.lines if "exception" in line or line["level"] == "error"]
    assert [] == [line for line in service.said if "Traceback" in line]


def test_health_lists_the_status_of_every_service(prepared: Prepared) -> None:
    """Each name that Check accepts, with the same status."""
    with prepared.service.channel() as channel:
        statuses = health(channel).List(LIST(), timeout=20).statuses
        assert {"", "rollbook.v1.MatchService", "rollbook.v1.FeedService", "rollbook.archive"} <= statuses.keys()
        for name, status in statuses.items():
            assert status == health(channel).Check(health_pb2.HealthCheckRequest(service=name), timeout=20)
