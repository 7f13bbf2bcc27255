"""A TLS terminator, like stunnel, for a server built without TLS, and certificates for it."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import subprocess
import sys
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

ROOT: Final = Path(__file__).parents[2]
_CHUNK: Final = 65_536


@dataclass(frozen=True)
class Certificate:
    """The files of a certificate and its key."""

    certificate: Path
    key: Path
    issued: Any
    signs: Any


def certificate(
    folder: Path, name: str, by: Certificate | None = None, address: str = "127.0.0.1", *, days: float = 1
) -> Certificate:
    """Create a certificate for an address, signed by an authority; without one it is an authority itself.

    It is valid for `days` from now; negative: it expired so long ago.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    issued = (
        x509.CertificateBuilder()
        .subject_name(who)
        .issuer_name(who if by is None else by.issued.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=100))
        .not_valid_after(now + timedelta(days=days))
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
    """Yield a port that forwards TLS to a plain port; with `clients` it requires their certificates."""
    words = [
        str(port),
        str(shown.certificate),
        str(shown.key),
        *([] if clients is None else [str(clients.certificate)]),
    ]
    command = [sys.executable, "-m", "tests.storage.terminating", *words]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.kill()


async def _serve(behind: int, context: ssl.SSLContext) -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind_reader, behind_writer = await asyncio.open_connection("127.0.0.1", behind)
        await asyncio.gather(_copy(reader, behind_writer), _copy(behind_reader, writer))

    async with await asyncio.start_server(connected, "127.0.0.1", 0, ssl=context) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


def main(behind: str, certificate: str, key: str, clients: str = "") -> None:
    """Forward to a port until killed; print the own port."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    if clients:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(clients)
    asyncio.run(_serve(int(behind), context))


if __name__ == "__main__":
    main(*sys.argv[1:])
