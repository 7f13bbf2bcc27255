"""The names under which browsers may reach the page.

A stranger's site whose name is made to point to the page's address could otherwise act as the page in a browser that
can reach it. Addresses and loopback names cannot be redirected like this, so they are always allowed.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address

from starlette.datastructures import URL


@dataclass(frozen=True, slots=True)
class Hosts:
    """The names of the page, and the scheme of its addresses."""

    names: tuple[str, ...] = ()
    is_secure: bool = False
    """Whether browsers reach the page by https."""

    def allow(self, host: str) -> bool:
        """Whether a request may have this `Host` header; only HTTP/1.0 has none.

        >>> hosts = Hosts(("Games.example:8443",))
        >>> [hosts.allow(host) for host in ("games.example", "10.0.0.7:80", "[::1]:80", "localhost:80", "evil.example")]
        [True, True, True, True, False]
        """
        name = _name(host)
        if not name or name == "localhost" or name.endswith(".localhost"):
            return True
        try:
            ip_address(name)
        except ValueError:
            return name in map(_name, self.names)
        return True

    def address(self, seen: URL) -> str:
        """An address of the page for others: at the first name if there is one, else at the request's own host."""
        if self.is_secure:
            seen = seen.replace(scheme="https")
        return str(seen.replace(netloc=self.names[0]) if self.names else seen)


def _name(host: str) -> str:
    """The name or address in a `Host` header, without port."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].removesuffix(".")
