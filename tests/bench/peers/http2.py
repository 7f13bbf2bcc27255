"""gRPC over a bare socket, as cheap as possible in Python, so that the load costs less than the server.

A gRPC client in Python takes about as long to read a message as a server to write it. Here a message is a few slices of
the bytes of one `recv`. Headers are sent uncompressed, and received ones are read only when a stream ends. A stream has
one short request under way, which fits HTTP/2's smallest initial window; the window of the connection is awaited.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Final, TypeAlias

Heard: TypeAlias = Callable[[bytes], None]
"""Called with every message of a stream."""
Ended: TypeAlias = Callable[[str], None]
"""Called with the status of an ended stream."""

_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_LARGEST_WINDOW: Final = 2**31 - 1
_FIRST_WINDOW: Final = 65_535
_READ_AT_ONCE: Final = 2**18

_DATA: Final = 0
_HEADERS: Final = 1
_RST_STREAM: Final = 3
_SETTINGS: Final = 4
_PING: Final = 6
_GOAWAY: Final = 7
_WINDOW_UPDATE: Final = 8
_ACK: Final = 1
_END_STREAM: Final = 1
_END_HEADERS: Final = 4

_SETTING_TABLE_SIZE: Final = 1
_SETTING_WINDOW: Final = 4


class StreamEnded(Exception):
    """A stream or connection ended unexpectedly; the message is its status."""


def _was_to_last(why: str) -> None:
    raise StreamEnded(why)


class Connection:
    """A connection; its owner calls `receive` when the socket is readable."""

    def __init__(self, host: str, port: int) -> None:
        """Connect, and grant the server the largest windows."""
        self._socket = socket.create_connection((host, port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._authority = f"{host}:{port}".encode()
        self._rest = b""
        self._streams: dict[int, _Stream] = {}
        self._next = 1
        self._read = 0
        self._room = _FIRST_WINDOW
        settings = _setting(_SETTING_TABLE_SIZE, 0) + _setting(_SETTING_WINDOW, _LARGEST_WINDOW)
        window = (_LARGEST_WINDOW - _FIRST_WINDOW).to_bytes(4, "big")
        self._socket.sendall(_PREFACE + _frame(_SETTINGS, 0, 0, settings) + _frame(_WINDOW_UPDATE, 0, 0, window))

    def fileno(self) -> int:
        """The socket's number, for a selector."""
        return self._socket.fileno()

    def close(self) -> None:
        """End all streams."""
        self._socket.close()

    def open(self, path: str, token: str, heard: Heard, ended: Ended = _was_to_last) -> int:
        """Begin a call; returns the number of its stream."""
        number, self._next = self._next, self._next + 2
        self._streams[number] = _Stream(heard, ended)
        # Indexed are `:method: POST` and `:scheme: http`; 4 and 1 mean `:path` and `:authority`.
        headers = [b"\x83\x86", b"\x04", _text(path.encode()), b"\x01", _text(self._authority)]
        for name, value in (("content-type", "application/grpc"), ("te", "trailers"), ("authorization", token)):
            if value:
                headers += [b"\x00", _text(name.encode()), _text(value.encode())]
        self._socket.sendall(_frame(_HEADERS, _END_HEADERS, number, b"".join(headers)))
        return number

    def send(self, number: int, message: bytes, *, last: bool = False) -> None:
        """Send a message on a stream."""
        size = len(message)
        self._room -= size + 5
        while self._room < 0:
            self.receive()
        self._socket.sendall(
            b"%b\x00%c%b\x00%b%b"
            % (
                (size + 5).to_bytes(3, "big"),
                _END_STREAM if last else 0,
                number.to_bytes(4, "big"),
                size.to_bytes(4, "big"),
                message,
            )
        )

    def receive(self) -> None:
        """Read the available bytes, and pass each message to its stream."""
        received = self._socket.recv(_READ_AT_ONCE)
        if not received:
            raise StreamEnded("the server closed the connection")
        self._read += len(received)
        data = self._rest + received if self._rest else received
        at, end, number_of = 0, len(data), int.from_bytes
        while end - at >= 9:
            size = number_of(data[at : at + 3], "big")
            after = at + 9 + size
            if after > end:
                break
            stream = number_of(data[at + 5 : at + 9], "big")
            if data[at + 3] == _DATA:
                self._streams[stream].take(data[at + 9 : after])
            else:
                self._other(data[at + 3], data[at + 4], stream, data[at + 9 : after])
            at = after
        self._rest = data[at:]
        if self._read > _LARGEST_WINDOW // 2:
            self._socket.sendall(_frame(_WINDOW_UPDATE, 0, 0, self._read.to_bytes(4, "big")))
            self._read = 0

    def _other(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if kind == _SETTINGS and not flags & _ACK:
            self._socket.sendall(_frame(_SETTINGS, _ACK, 0, b""))
        elif kind == _PING and not flags & _ACK:
            self._socket.sendall(_frame(_PING, _ACK, 0, payload))
        elif kind == _WINDOW_UPDATE and not stream:
            self._room += int.from_bytes(payload, "big")
        elif kind == _GOAWAY:
            _was_to_last(f"the server goes away: {payload!r}")
        elif kind == _RST_STREAM or (kind == _HEADERS and flags & _END_STREAM):
            how = f"reset: {int.from_bytes(payload, 'big')}" if kind == _RST_STREAM else f"ended: {payload!r}"
            self._streams[stream].ended(how)


class _Stream:
    """Assembles the messages of a stream from any pieces."""

    __slots__ = ("_heard", "_rest", "ended")

    def __init__(self, heard: Heard, ended: Ended) -> None:
        self._heard = heard
        self.ended = ended
        self._rest = b""

    def take(self, data: bytes) -> None:
        if self._rest:
            data = self._rest + data
        at, end = 0, len(data)
        while end - at >= 5:
            after = at + 5 + int.from_bytes(data[at + 1 : at + 5], "big")
            if after > end:
                break
            self._heard(data[at + 5 : after])
            at = after
        self._rest = data[at:]


def _frame(kind: int, flags: int, number: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + number.to_bytes(4, "big") + payload


def _setting(number: int, value: int) -> bytes:
    return number.to_bytes(2, "big") + value.to_bytes(4, "big")


def _text(value: bytes) -> bytes:
    """Encode a string as uncompressed HPACK."""
    if len(value) < 127:
        return bytes((len(value),)) + value
    length, rest = bytearray((127,)), len(value) - 127
    while rest >= 128:
        length.append(rest % 128 + 128)
        rest //= 128
    length.append(rest)
    return bytes(length) + value
