"""Clients that disconnect during a call: this is no fault of the service, so its log has no error and no traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import wrappers_pb2

from tests.server.serving import DIARY, Service, call, service, until

TIMES = 12
"""In each repetition either gRPC fails to write, or it first notices that the client is gone."""


@contextmanager
def blameless(data: Path) -> Iterator[Service]:
    """A service that must end cleanly, without errors or tracebacks in its log."""
    with service(data) as one:
        yield one
        with one.channel() as channel:
            assert call(channel, "Write", "one more")
        one.process.terminate()
        assert 0 == one.ended()
        assert [] == [line for line in one.lines if line["level"] in {"warning", "error"} or "exception" in line]


def cancelled(one: Service, method: str, event: str = "call") -> int:
    """How often the service has logged at level info that a client cancelled."""
    return logged(one, method, "CANCELLED", event)


def logged(one: Service, method: str, status: str, event: str = "call") -> int:
    """How often the service has logged this at level info."""
    wanted = (f"/{DIARY}/{method}", event, status, "info")
    keys = ("method", "event", "status", "level")
    return sum(wanted == tuple(line.get(key) for key in keys) for line in one.lines)


def give_up(channel: grpc.Channel, method: str) -> None:
    """Call, and cancel when the first bytes of an answer have come; the rest stays unread."""
    # Such a client reads message by message, also where there is only one.
    ask: Any = channel.unary_stream(f"/{DIARY}/{method}", wrappers_pb2.StringValue.SerializeToString)
    answers = ask(wrappers_pb2.StringValue(), timeout=60)
    answers.initial_metadata()
    answers.cancel()


@pytest.mark.parametrize("method", ["Flood", "Follow"])
def test_a_client_that_leaves_a_stream_is_logged_as_cancelled(method: str, tmp_path: Path) -> None:
    """While gRPC writes, or while the service waits for something to write."""
    with blameless(tmp_path) as one, one.channel() as channel:
        for _ in range(TIMES):
            give_up(channel, method)
        until(lambda: cancelled(one, method) == TIMES, one)


def test_a_client_that_does_not_wait_for_its_answer_is_logged_as_cancelled(tmp_path: Path) -> None:
    """The service has answered, and gRPC is writing the answer."""
    with blameless(tmp_path) as one, one.channel() as channel:

        def is_logged() -> bool:
            give_up(channel, "Large")
            return cancelled(one, "Large", "a client disconnected") > 0

        until(is_logged, one)


def test_a_client_that_leaves_a_conversation_is_logged_as_cancelled(tmp_path: Path) -> None:
    """The connection ends while the service waits for the next request."""
    with blameless(tmp_path) as one:
        for _ in range(TIMES):
            with one.channel() as channel:
                talk: Any = channel.stream_stream(
                    f"/{DIARY}/Chat",
                    request_serializer=wrappers_pb2.StringValue.SerializeToString,
                    response_deserializer=wrappers_pb2.Int64Value.FromString,
                )
                answers = talk(iter(lambda: wrappers_pb2.StringValue(value="again"), None))
                assert next(answers).value
        # If gRPC reports the end of the requests before it cancels the call, the handler ends regularly.
        until(lambda: cancelled(one, "Chat") + logged(one, "Chat", "OK") == TIMES, one)
