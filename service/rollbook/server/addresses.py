"""The address of a caller: that of the peer, or the one that a trusted proxy or a gateway reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

import structlog

from rollbook import GATEWAY

Network: TypeAlias = IPv4Network | IPv6Network
Address: TypeAlias = IPv4Address | IPv6Address

FORWARDED: Final = "x-forwarded-for"
"""Metadata key with the addresses that the call has passed; the most recent one is rightmost."""

IPV6_PREFIX: Final = 64
"""One household gets a /64; all addresses in it count as one caller."""

_BANNABLE: Final = {4: (8, 32), 6: (32, IPV6_PREFIX)}
"""Prefix lengths of networks that can be banned, by IP version: the widest and the narrowest."""


MOST_REMEMBERED: Final = 4_096
"""Cache size: peers whose address has been parsed."""

MOST_LOGGED: Final = 100
"""Each process logs at most this many distinct values of x-forwarded-for in which it finds no address."""

LONGEST_LOGGED: Final = 100

_logger = structlog.get_logger()


class Addresses:
    """Determines callers' addresses, as the keys by which limits and bans distinguish callers."""

    def __init__(
        self, trusted: Sequence[Network] = (), is_gateway: Callable[[str], bool] = lambda _token: False
    ) -> None:
        """Trust proxies in these networks, and callers whose token satisfies `is_gateway`."""
        self._trusted = tuple(trusted)
        self._is_gateway = is_gateway
        self._logged: set[str] = set()

    def of(self, context: Any) -> str:
        """The caller's address: an IPv4 address, the /64 of an IPv6 address, or the peer as gRPC gives it.

        A proxy appends the address that called it to x-forwarded-for, so the addresses are read from the right. The
        first one that is not a trusted proxy is the caller. Reading stops at an unreadable address. A gateway's header
        is trusted from any address.
        """
        peer = context.peer()
        caller = _address_of(peer)
        if caller is None:
            return str(peer)
        if self._trusts(caller) or self._comes_by_gateway(context):
            for hop in reversed(_hops(context)):
                named = _read_hop(hop)
                if named is None:
                    self._log_unreadable(hop, caller)
                    break
                caller = named
                if not self._trusts(caller):
                    break
        return _limit_key(caller)

    def _comes_by_gateway(self, context: Any) -> bool:
        sent = [value for key, value in context.invocation_metadata() or () if key == GATEWAY]
        return len(sent) == 1 and isinstance(sent[0], str) and self._is_gateway(sent[0].removeprefix("Bearer "))

    def _log_unreadable(self, hop: str, proxy: Address) -> None:
        """Log each distinct value once, at most `MOST_LOGGED` values: a proxy that sends one such value sends many."""
        shown = ascii(hop)[:LONGEST_LOGGED]
        if shown not in self._logged and len(self._logged) < MOST_LOGGED:
            self._logged.add(shown)
            _logger.warning("x-forwarded-for has no address", value=shown, proxy=str(proxy))

    def _trusts(self, address: Address) -> bool:
        return any(address in network for network in self._trusted)


def read_network(text: str) -> Network:
    """Parse a network or a single address; raises ValueError for anything else.

    >>> read_network("10.0.0.0/8"), read_network("::1")
    (IPv4Network('10.0.0.0/8'), IPv6Network('::1/128'))
    """
    return ip_network(text)


def bannable_network(text: str) -> str:
    """The network that an operator bans, in canonical spelling; raises ValueError, with the cause, for anything else.

    >>> bannable_network("192.0.2.7"), bannable_network("2001:db8::7"), bannable_network("10.0.0.0/8")
    ('192.0.2.7', '2001:db8::/64', '10.0.0.0/8')
    """
    address = _read(text)
    if address is not None:
        return _limit_key(address)
    network = ip_network(text)
    widest, narrowest = _BANNABLE[network.version]
    if not widest <= network.prefixlen <= narrowest:
        raise ValueError(f"an IPv{network.version} network to ban is a /{widest} to /{narrowest}")
    return _name(network)


def is_single(network: str) -> bool:
    """Whether limits count this network, as `bannable_network` writes it, as one address.

    >>> is_single("192.0.2.7"), is_single("2001:db8::/64"), is_single("10.0.0.0/8")
    (True, True, False)
    """
    found = ip_network(network)
    return found.prefixlen == _BANNABLE[found.version][1]


def bannable_networks_around(key: str) -> Iterator[str]:
    """Every bannable network that contains the caller `key`, which is a return value of `Addresses.of`.

    >>> list(bannable_networks_around("192.0.2.7"))[:2], list(bannable_networks_around("unix:"))
    (['192.0.0.0/8', '192.0.0.0/9'], [])
    """
    with suppress(ValueError):
        network = ip_network(key)
        for prefix in range(_BANNABLE[network.version][0], network.prefixlen + 1):
            yield _name(network.supernet(new_prefix=prefix))


@lru_cache(MOST_REMEMBERED)
def _address_of(peer: str) -> Address | None:
    family, _, rest = peer.partition(":")
    if family not in {"ipv4", "ipv6"}:
        return None
    return _read(unquote(rest.rpartition(":")[0]).strip("[]").partition("%")[0])


def _hops(context: Any) -> list[str]:
    sent = [value for key, value in context.invocation_metadata() or () if key == FORWARDED]
    return [hop.strip() for value in sent if isinstance(value, str) for hop in value.split(",")]


def _read_hop(text: str) -> Address | None:
    """Parse an address as proxies write it: plain, in brackets, or followed by a port; None if it cannot be parsed."""
    host, colon, port = text.rpartition(":")
    has_port = colon and port.isascii() and port.isdecimal()
    return _read(text.strip("[]")) or (_read(host.strip("[]")) if has_port else None)


def _read(text: str) -> Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


@lru_cache(MOST_REMEMBERED)
def _limit_key(address: Address) -> str:
    if isinstance(address, IPv6Address):
        return str(ip_network((address, IPV6_PREFIX), strict=False))
    return str(address)


def _name(network: Network) -> str:
    """A single IPv4 address is written without its prefix length, as in the keys of limits."""
    return str(network.network_address if network.prefixlen == network.max_prefixlen else network)
