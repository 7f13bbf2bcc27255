"""How much one address may hold of the page at a time, so that nobody takes all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final

from starlette.requests import HTTPConnection

STREAMS: Final = 100
"""Tables and lobbies that are looked at from one address: a club behind one router is one."""

UPLOADS: Final = 4
"""Files on their way from one address, or being judged."""

IN_ALL: Final = {"streams": 10_000, "uploads": 16}
EACH: Final = {"streams": STREAMS, "uploads": UPLOADS}

IPV6_PREFIX: Final = 64
"""What one household has."""


class TooMany(Exception):
    """One more is not to be had now."""


def address_of(request: HTTPConnection) -> str:
    """Where a browser is, as far as that tells browsers apart; a proxy on this machine is believed when it says so."""
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
    """What is held by whom."""

    def __init__(self) -> None:
        """Begin with nothing held."""
        self._held: Counter[tuple[str, str]] = Counter()
        self._sums: Counter[str] = Counter()

    @contextmanager
    def hold(self, what: str, address: str) -> Iterator[None]:
        """Hold one more of it meanwhile; TooMany."""
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
