"""Putting something around what handles a call, whichever of gRPC's four kinds it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import grpc

_KINDS: Final[dict[tuple[bool, bool], tuple[str, Callable[..., Any]]]] = {
    (False, False): ("unary_unary", grpc.unary_unary_rpc_method_handler),
    (False, True): ("unary_stream", grpc.unary_stream_rpc_method_handler),
    (True, False): ("stream_unary", grpc.stream_unary_rpc_method_handler),
    (True, True): ("stream_stream", grpc.stream_stream_rpc_method_handler),
}


def rewrapped(handler: Any, around: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Any:
    """The same handler with something around its behaviour, which has to keep its shape: gRPC looks at that."""
    attribute, make = _KINDS[bool(handler.request_streaming), bool(handler.response_streaming)]
    return make(
        around(getattr(handler, attribute)),
        request_deserializer=handler.request_deserializer,
        response_serializer=handler.response_serializer,
    )
