"""Putting something around what handles a call, whichever of gRPC's four kinds it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import grpc

_KINDS: Final[dict[tuple[bool, bool], tuple[str, Callable[..., Any]]]] = {
    (False, False): ("unary_unary", grpc.unary_unary_rpc_method_handler),
    (False, True): ("unary_stream", grpc.unary_stream_rpc_method_handler),
    (True, False): ("stream_unary", grpc.stream_unary_rpc_method_handler),
    (True, True): ("stream_stream", grpc.stream_stream_rpc_method_handler),
}


Around = Callable[[str, Callable[..., Any]], Callable[..., Any]]
"""What to put around the behaviour of a method, which has to keep its shape: gRPC looks at that."""


class Rewrapped:
    """Handlers with something around their behaviour, made once for each method that the server has."""

    def __init__(self, around: Around) -> None:
        """Put this around them."""
        self._around = around
        self._known: dict[str, tuple[Any, Any]] = {}

    def of(self, method: str, handler: Any) -> Any:
        """The handler of this method, rewrapped."""
        known = self._known.get(method)
        if known is None or known[0] is not handler:
            known = self._known[method] = handler, _rewrapped(handler, partial(self._around, method))
        return known[1]


def _rewrapped(handler: Any, around: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Any:
    attribute, make = _KINDS[bool(handler.request_streaming), bool(handler.response_streaming)]
    return make(
        around(getattr(handler, attribute)),
        request_deserializer=handler.request_deserializer,
        response_serializer=handler.response_serializer,
    )
