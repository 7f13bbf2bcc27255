"""Limits on streams and uploads per address and in total."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final

from starlette.requests import HTTPConnection

STREAMS: Final = 500
"""Most open streams of tables and lobbies per address; a whole school behind one router shares an address."""

UPLOADS: Final = 4
"""Most uploads per address that are being received or judged."""

IN_ALL: Final = {"streams": 10_000, "uploads": 16}
EACH: Final = {"streams": STREAMS, "uploads": UPLOADS}

IPV6_PREFIX: Final = 64
"""Prefix length of one household."""


class TooMany(Exception):
    """The limit for this address, or the total limit, is reached."""


def address_of(request: HTTPConnection) -> str:
    """The address of a browser, or its network for IPv6; uvicorn accepts it from proxies that the page trusts."""
    host = "" if request.client is None else request.client.host
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        mapped = address.ipv4_mapped
        return str(mapped or ip_network((address, IPV6_PREFIX), strict=False).network_address)
    return str(address)


class Holdings:
    """Counts of what each address holds."""

    def __init__(self) -> None:
        self._held: Counter[tuple[str, str]] = Counter()
        self._sums: Counter[str] = Counter()

    @contextmanager
    def hold(self, what: str, address: str) -> Iterator[None]:
        """Count one more for this address within the context; raises TooMany at the limit."""
        if self._held[what, address] >= EACH[what] or self._sums[what] >= IN_ALL[what]:
            raise TooMany
        self._held[what, address] += 1
        self._sums[what] += 1
        try:
            yield
        finally:
            self._held[what, address] -= 1
            self._sums[what] -= 1
            if not self._held[what, address]:
                del self._held[what, address]
