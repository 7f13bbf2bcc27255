"""The service's certificate and key: checked at the start, and read again when the files change or on SIGHUP.

A renewed pair that cannot be used is refused and logged, and the service keeps the pair that it has.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import structlog
from cryptography import x509

from rollbook.identity.service_keys import KeyFileUnreadable
from rollbook.server.configuration.settings import Tls
from rollbook.server.loops import BackgroundLoop
from rollbook.server.process.ports import NotListening

LOOK_SECONDS: Final = 1.0
"""How often the files are compared with those that were read."""

LOOP: Final = "certificates"

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate chain with its private key."""

    certificates: bytes
    key: bytes
    not_after: float
    """When the service's own certificate expires, in Unix seconds."""


def read_pair(tls: Tls) -> KeyPair:
    """Read and check the files; raises NotListening if they cannot be used, KeyFileUnreadable if they cannot be read.

    gRPC itself would notice a wrong pair only at the first call.
    """
    try:
        key, certificates = tls.key.read_bytes(), tls.certificate.read_bytes()
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(tls.certificate, tls.key, password="")
    except ssl.SSLError as failure:
        raise NotListening(
            f"{tls.certificate} and {tls.key} are not a certificate and its unencrypted key in PEM ({failure.reason})"
        ) from failure
    except OSError as failure:
        raise KeyFileUnreadable(f"{failure.filename}: {failure.strerror}") from failure
    not_after = x509.load_pem_x509_certificates(certificates)[0].not_valid_after_utc.timestamp()
    if not_after <= time.time():
        raise NotListening(f"{tls.certificate}: the certificate expired at {_date(not_after)}; renew it")
    return KeyPair(certificates, key, not_after)


class Certificates:
    """The pair that the service uses, renewed while it runs."""

    def __init__(self, tls: Tls, renewed: Callable[[KeyPair], None], failed: Callable[[str], None]) -> None:
        """Read the files, with the exceptions of `read_pair`.

        `renewed` is called with every later pair, `failed` with the loop's name for every pair that is refused.
        """
        self._tls = tls
        self._renewed = renewed
        self._failed = failed
        self._stamp = self._look()
        self.pair = read_pair(tls)
        self.loop = BackgroundLoop(LOOP, self._compare, failed, LOOK_SECONDS)

    def read_again(self) -> None:
        """Read the files, and use them if they are a valid pair."""
        self._stamp = self._look()
        try:
            pair = read_pair(self._tls)
        except (NotListening, KeyFileUnreadable) as refused:
            self._failed(LOOP)
            _log.error("the renewed certificate is refused, and the earlier one stays in use", why=str(refused))
            return
        if (pair.certificates, pair.key) == (self.pair.certificates, self.pair.key):
            return
        self.pair = pair
        _log.info("the certificate is renewed", not_after=_date(pair.not_after))
        self._renewed(pair)

    async def _compare(self) -> None:
        if self._stamp != self._look():
            self.read_again()

    def _look(self) -> list[Any]:
        """Inode, size and time of change of both files; None for a file that is missing."""
        return [_stamp(path) for path in (self._tls.certificate, self._tls.key)]


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
