"""TLS in front of a server that is built without it, as stunnel does it, and certificates for that."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

_CHUNK: Final = 65_536


@dataclass(frozen=True)
class Certificate:
    """A certificate and its key, in files."""

    certificate: Path
    key: Path
    issued: Any
    signs: Any


def certificate(folder: Path, name: str, by: Certificate | None = None, address: str = "127.0.0.1") -> Certificate:
    """A certificate for an address, by an authority; without one it is an authority of its own."""
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    issued = (
        x509.CertificateBuilder()
        .subject_name(who)
        .issuer_name(who if by is None else by.issued.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=by is None, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]), critical=False)
        .sign(key if by is None else by.signs, hashes.SHA256())
    )
    made = Certificate(folder / f"{name}.pem", folder / f"{name}.key", issued, key)
    made.certificate.write_bytes(issued.public_bytes(Encoding.PEM))
    made.key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return made


@contextmanager
def terminated(port: int, shown: Certificate, clients: Certificate | None = None) -> Iterator[int]:
    """A port that speaks TLS for a plain one; with an authority for clients, they have to show certificates of it."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(shown.certificate, shown.key)
    if clients is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(clients.certificate)
    terminator = _Terminator(port, context)
    thread = threading.Thread(target=terminator.run, daemon=True)
    thread.start()
    terminator.ready.wait(20)
    try:
        yield terminator.port
    finally:
        terminator.end()
        thread.join(20)


class _Terminator:
    def __init__(self, behind: int, context: ssl.SSLContext) -> None:
        self.port = 0
        self.ready = threading.Event()
        self._behind = behind
        self._context = context

    def run(self) -> None:
        asyncio.run(self._serve())

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)

    async def _serve(self) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, ssl=self._context)
        self.port = server.sockets[0].getsockname()[1]
        self.ready.set()
        await self._ended.wait()
        server.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind_reader, behind_writer = await asyncio.open_connection("127.0.0.1", self._behind)
        try:
            await asyncio.gather(_copy(reader, behind_writer), _copy(behind_reader, writer))
        finally:
            for side in (writer, behind_writer):
                side.transport.abort()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
