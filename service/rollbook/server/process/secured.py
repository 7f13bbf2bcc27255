"""TLS for a gRPC server whose certificate is renewed while it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import grpc

from rollbook.server.configuration.settings import Tls
from rollbook.server.health.metrics import Metrics
from rollbook.server.process.certificates import Certificates, KeyPair


class Secured:
    """gRPC's view of the certificate: every new connection gets the pair that is in use."""

    def __init__(self, tls: Tls, metrics: Metrics) -> None:
        """Read the files; raises the exceptions of `read_pair`."""
        self.certificates = Certificates(tls, self._renew, metrics.loop_failed)
        self._metrics = metrics
        metrics.certificate_ends(self.certificates.pair.not_after)
        self.clients: Sequence[Callable[[bytes], None]] = ()
        """Called with every renewed certificate: the service's own clients have to trust it."""
        self._news: grpc.ServerCertificateConfiguration | None = None
        """The renewed pair until gRPC fetches it."""

    def credentials(self) -> grpc.ServerCredentials:
        """Credentials that follow the files."""
        first = _configuration(self.certificates.pair)
        # The stubs lack that the callback may return None.
        return grpc.dynamic_ssl_server_credentials(first, self._fetch)  # type: ignore[arg-type]

    def _renew(self, pair: KeyPair) -> None:
        self._news = _configuration(pair)
        self._metrics.certificate_ends(pair.not_after)
        for renew in self.clients:
            renew(pair.certificates)

    def _fetch(self) -> grpc.ServerCertificateConfiguration | None:
        """Called by gRPC before every handshake, on any thread; None: the configuration has not changed."""
        news, self._news = self._news, None
        return news


def _configuration(pair: KeyPair) -> grpc.ServerCertificateConfiguration:
    return grpc.ssl_server_certificate_configuration([(pair.key, pair.certificates)])
