"""Bytes that are no message: a refusal with details, one short log line, and a limit per address."""

from __future__ import annotations

import re
import socket
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor
from google.rpc.status_pb2 import Status
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

from rollbook.server.rpc.errors import DETAILS
from rollbook.v1 import feed_pb2, identity_pb2, match_pb2, replay_pb2
from rollbook.v1.identity_pb2_grpc import IdentityServiceStub
from rollbook.v1.refusals_pb2 import REFUSAL_REASON_REQUEST_MALFORMED, RefusalDetail
from tests.server.serving import Service, started, until

METHODS: list[MethodDescriptor] = [
    method
    for file in (match_pb2, feed_pb2, replay_pb2, identity_pb2, health_pb2, reflection_pb2)
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
]

PAYLOADS = {
    "a field of number 0": b"\x00",
    "cut": b"\x0a\x05ab",
    "a wire type that there is none of": b"\x0f",
    "a group that never ends": b"\x0b\x0b\x0b",
    "a text that is not UTF-8": b"\x0a\x02\xff\xff",
}


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that accepts thousands of malformed requests before the rate limit."""
    data = str(tmp_path_factory.mktemp("data"))
    words = ["serve", "--data", data, "--listen", "127.0.0.1:0", "--durability", "relaxed", "--log-level", "info"]
    with started([sys.executable, "-m", "rollbook", *words]) as service:
        yield service


def called(channel: grpc.Channel, method: MethodDescriptor, payload: bytes, metadata: Any) -> grpc.RpcError:
    """Send these bytes to a method; return the error."""
    kind = f"{'stream' if method.client_streaming else 'unary'}_{'stream' if method.server_streaming else 'unary'}"
    service = method.containing_service
    assert service is not None
    stub = getattr(channel, kind)(f"/{service.full_name}/{method.name}")
    sent = iter([payload]) if method.client_streaming else payload
    with pytest.raises(grpc.RpcError) as caught:
        answered(stub, sent, metadata)
    return caught.value


def answered(stub: Any, sent: Any, metadata: Any) -> None:
    """Wait for the first answer."""
    answer = stub(sent, timeout=20, metadata=metadata)
    if hasattr(answer, "__next__"):
        next(answer)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.full_name)
def test_what_is_no_message_is_refused_with_details(one: Service, method: MethodDescriptor) -> None:
    """Every method refuses the bytes, even with a token, and so do health and reflection."""
    with one.channel() as channel:
        token = IdentityServiceStub(channel).SignIn(identity_pb2.SignInRequest(name="Anna"), timeout=20).token
        bearer = (("authorization", f"Bearer {token}"),)
        for name, payload in PAYLOADS.items():
            is_text = method.input_type.fields and method.input_type.fields[0].type == 9
            if name == "a text that is not UTF-8" and not is_text:
                continue
            failure = called(channel, method, payload, bearer)
            assert (name, grpc.StatusCode.INVALID_ARGUMENT) == (name, failure.code())
            metadata: Any = failure.trailing_metadata()
            (details,) = [value for key, value in metadata if key == DETAILS]
            detail = RefusalDetail()
            assert Status.FromString(details).details[1].Unpack(detail)
            assert REFUSAL_REASON_REQUEST_MALFORMED == detail.reason
    assert not [line for line in one.lines if "exception" in line or line["level"] == "error"]


def test_a_flood_of_them_is_bounded_by_address_and_writes_no_lines(tmp_path: Path) -> None:
    """Requests beyond the limit are counted and refused without a log line."""
    data = str(tmp_path)
    words = ["serve", "--data", data, "--listen", "127.0.0.1:0", "--durability", "relaxed", "--log-level", "info"]
    with started([sys.executable, "-m", "rollbook", *words]) as service, service.channel() as channel:
        sign_in: Any = channel.unary_unary("/rollbook.v1.IdentityService/SignIn")
        codes: list[grpc.StatusCode] = []
        while len(codes) < 1_200 or grpc.StatusCode.RESOURCE_EXHAUSTED not in codes:
            codes += [call.code() for call in [sign_in.future(b"\x00", timeout=60) for _ in range(100)]]
        few = codes.count(grpc.StatusCode.INVALID_ARGUMENT)
        assert {grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.RESOURCE_EXHAUSTED} == set(codes)
        service.process.terminate()
        assert 0 == service.ended()
        said = [line for line in service.lines if line["event"] in {"malformed request", "call"}]
        assert few == len(said)
        assert max(len(line) for line in service.said if "malformed request" in line) < 250


def test_methods_that_there_are_none_of_write_no_lines(one: Service) -> None:
    """Calls of unknown methods are counted but not logged, because their number is not limited."""
    with one.channel() as channel:
        for invented in range(20):
            call: Any = channel.unary_unary(f"/rollbook.v1.MatchService/Invented{invented}")
            with pytest.raises(grpc.RpcError) as caught:
                call(b"", timeout=20)
            assert grpc.StatusCode.UNIMPLEMENTED == caught.value.code()
    assert [] == [line for line in one.said if "Invented" in line]


NO_TEXT = {"authorization": b"Bearer \xff\xfe", "x-forwarded-for": b"\xff", "x-anything": b"\xfe"}


def test_metadata_that_is_no_text_writes_no_lines(one: Service) -> None:
    """The call is answered like any other."""
    said = len(one.said)
    assert "0" == status_of_raw_call(one, b"/rollbook.v1.MatchService/ListGames", NO_TEXT)
    until(lambda: [line for line in one.said[said:] if "ListGames" in line], one)
    assert [] == [line for line in one.said[said:] if "ListGames" not in line]


def test_a_method_whose_name_is_no_text_ends_no_service(one: Service) -> None:
    """The method is unknown, the log has no line, and the service answers the next call."""
    said = len(one.said)
    for name in (b"/\xff/\xfe", b"\xff", b"/rollbook.v1.MatchService/\xc3", b"/", b"/a" * 60):
        assert str(grpc.StatusCode.UNIMPLEMENTED.value[0]) == status_of_raw_call(one, name)
    assert [] == one.said[said:]
    assert health_pb2.HealthCheckResponse.SERVING == one.status()


DATA, HEADERS, SETTINGS = 0, 1, 4
END_STREAM, END_HEADERS = 1, 4


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """A frame of HTTP/2."""
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def literal(name: bytes, value: bytes) -> bytes:
    """A short uncompressed header of HTTP/2."""
    return bytes([0, len(name)]) + name + bytes([len(value)]) + value


def status_of_raw_call(service: Service, method: bytes, metadata: Mapping[str, bytes] = MappingProxyType({})) -> str:
    """The status of a call written byte by byte, because client libraries do not send such calls."""
    host, port = service.address.rsplit(":", 1)
    headers = {
        ":method": b"POST",
        ":scheme": b"http",
        ":path": method,
        ":authority": b"rollbook",
        "content-type": b"application/grpc",
        "te": b"trailers",
        **metadata,
    }
    sent = b"".join(literal(name.encode(), value) for name, value in headers.items())
    with socket.create_connection((host, int(port)), timeout=20) as stranger:
        stranger.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, b""))
        stranger.sendall(frame(HEADERS, END_HEADERS, 1, sent) + frame(DATA, END_STREAM, 1, bytes(5)))
        heard = b""
        while (found := re.search(rb"grpc-status[\x01\x02](\d+)", heard)) is None:
            part = stranger.recv(65_536)
            assert part, "the service hung up"
            heard += part
    return found[1].decode()
