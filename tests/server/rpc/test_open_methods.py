"""Health and reflection need no token, and are limited by address."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any, Final

import grpc
import pytest
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2
from grpc_reflection.v1alpha.reflection_pb2_grpc import ServerReflectionStub

from rollbook.server.rpc.errors import DETAILS
from tests.server.serving import Service, health, started

AT_ONCE: Final = 6
STREAMS: Final = 3
CHECK: Final[Any] = health_pb2.HealthCheckRequest
LIST: Final[Any] = health_pb2.HealthListRequest  # type: ignore[attr-defined]  # its types are older
STUB: Final[Any] = ServerReflectionStub
REFLECT: Final[Any] = reflection_pb2.ServerReflectionRequest


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that lets an address make few calls at once and hardly any later."""
    data = str(tmp_path_factory.mktemp("data") / "data")
    words = ["serve", "--data", data, "--listen", "127.0.0.1:0", "--web", "off", "--durability", "relaxed"]
    limits = {"STRANGERS_AT_ONCE": AT_ONCE, "STRANGERS_PER_SECOND": 0.001, "WATCHES_PER_SUBJECT": STREAMS}
    env = {f"ROLLBOOK_LIMITS_{name}": str(value) for name, value in limits.items()}
    command = [sys.executable, "-m", "rollbook", *words, "--trust-proxy", "127.0.0.1/32"]
    with started(command, env) as one:
        assert one.address
        yield one


def at(address: str) -> dict[str, Any]:
    """How a call arrives from this address, by a proxy."""
    return {"metadata": (("x-forwarded-for", address),), "timeout": 20}


def reason(refused: Any) -> str:
    """The name of the refusal."""
    (details,) = [value for key, value in refused.trailing_metadata() if key == DETAILS]
    (name,) = [each for each in ("RATE_LIMITED", "TOO_MANY_WATCHES") if each.encode() in details]
    return name


@pytest.mark.parametrize(
    ("number", "call"),
    [
        (1, lambda channel, how: health(channel).Check(CHECK(), **how)),
        (2, lambda channel, how: health(channel).List(LIST(), **how)),
        (3, lambda channel, how: list(STUB(channel).ServerReflectionInfo(iter([]), **how))),
    ],
)
def test_calls_of_health_and_reflection_are_limited_by_address(
    service: Service, number: int, call: Callable[[grpc.Channel, dict[str, Any]], object]
) -> None:
    """Another address is served, and so is a supervisor on the machine, without end."""
    attacker, honest = f"203.0.113.{number}", f"198.51.100.{number}"
    with service.channel() as channel:
        for _ in range(AT_ONCE):
            call(channel, at(attacker))
        with pytest.raises(grpc.RpcError) as refused:
            call(channel, at(attacker))
        assert "RATE_LIMITED" == reason(refused.value)
        call(channel, at(honest))
        for _ in range(2 * AT_ONCE):
            call(channel, {"timeout": 20})


def test_each_request_on_a_stream_of_reflection_counts(service: Service) -> None:
    """A stranger cannot ask without end on one stream."""
    with service.channel() as channel:
        asked = repeat(REFLECT(list_services=""), 2 * AT_ONCE)
        answers = STUB(channel).ServerReflectionInfo(asked, **at("203.0.113.9"))
        got = []
        with pytest.raises(grpc.RpcError) as refused:
            got.extend(answers)
        assert "RATE_LIMITED" == reason(refused.value)
        # The beginning of the stream counts as well.
        assert len(got) <= AT_ONCE - 1


def test_an_address_holds_only_some_streams(service: Service) -> None:
    """The open ones go on, and one that ends makes room for another."""
    with service.channel() as channel:
        streams = [health(channel).Watch(CHECK(), **at("203.0.113.10")) for _ in range(STREAMS)]
        for stream in streams:
            stream.next()
        with pytest.raises(grpc.RpcError) as refused:
            health(channel).Watch(CHECK(), **at("203.0.113.10")).next()
        assert "TOO_MANY_WATCHES" == reason(refused.value)
        health(channel).Watch(CHECK(), **at("203.0.113.11")).next()
