"""The options of every command that calls a service."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter

from rollbook import DEFAULT_ADDRESS
from rollbook.cli.exits import Exit, Failed


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceOptions:
    """Which service, and who calls it.

    Parameters
    ----------
    service
        host:port of the service. Default: 127.0.0.1:50051.
    token
        Your token, better given by its variable. Without one you are a guest.
    tls_ca
        The certificates to trust, PEM, for a service with TLS.
    """

    service: Annotated[str, Parameter(env_var="ROLLBOOK_SERVICE")] = DEFAULT_ADDRESS
    token: Annotated[str, Parameter(env_var="ROLLBOOK_TOKEN")] = ""
    tls_ca: Path | None = None

    @property
    def authorities(self) -> bytes | None:
        """The certificates to trust; None for a service without TLS; raises Failed if they cannot be read."""
        return read_certificates(self.tls_ca)


LOCAL_SERVICE: Final = ServiceOptions()
"""The default address of `rollbook serve`."""


def read_certificates(file: Path | None) -> bytes | None:
    """Read the file of --tls-ca; raises Failed if it cannot be read."""
    try:
        return None if file is None else file.expanduser().read_bytes()
    except OSError as wrong:
        raise Failed(Exit.UNREADABLE, f"{file}: {wrong.strerror}") from None
