"""Where calls come from: the address of the peer, or the one that a trusted proxy or a gateway names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

import structlog

from rollbook import GATEWAY

Network: TypeAlias = IPv4Network | IPv6Network
Address: TypeAlias = IPv4Address | IPv6Address

FORWARDED: Final = "x-forwarded-for"
"""In the metadata of a call: the hops that it has made, the last of them at the right."""

IPV6_PREFIX: Final = 64
"""What one household has; every address of it is as good as another."""

_BANNABLE: Final = {4: (8, 32), 6: (32, IPV6_PREFIX)}
"""By IP version the prefix lengths of networks that can be banned: the widest and the narrowest."""


MOST_LOGGED: Final = 100
"""Values of x-forwarded-for that no address can be read from, each of which a process logs once."""

LONGEST_LOGGED: Final = 100

_logger = structlog.get_logger()


class Addresses:
    """Tells the addresses of callers, as far as that tells callers apart."""

    def __init__(
        self, trusted: Sequence[Network] = (), is_gateway: Callable[[str], bool] = lambda _token: False
    ) -> None:
        """Believe what proxies in these networks say, and whoever has a token of which this holds."""
        self._trusted = tuple(trusted)
        self._is_gateway = is_gateway
        self._logged: set[str] = set()

    def of(self, context: Any) -> str:
        """Where a call comes from: an IPv4 address, the /64 of an IPv6 address, or what gRPC says of the peer.

        A proxy names who called it behind whoever it was told of, so the hops are read from the right; the first that
        is no trusted proxy is the caller. What is no address is not believed, nor what stands before it. A gateway is
        believed wherever it calls from.
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
        """Log a value once, and no more when there are too many: a proxy that sends such a value sends many."""
        shown = ascii(hop)[:LONGEST_LOGGED]
        if shown not in self._logged and len(self._logged) < MOST_LOGGED:
            self._logged.add(shown)
            _logger.warning("x-forwarded-for has no address", value=shown, proxy=str(proxy))

    def _trusts(self, address: Address) -> bool:
        return any(address in network for network in self._trusted)


def read_network(text: str) -> Network:
    """A network, or one address; ValueError for anything else.

    >>> read_network("10.0.0.0/8"), read_network("::1")
    (IPv4Network('10.0.0.0/8'), IPv6Network('::1/128'))
    """
    return ip_network(text)


def bannable_network(text: str) -> str:
    """The network that an operator bans, in its one spelling; raises ValueError, with the cause, for anything else.

    A single IPv6 address means its /64.

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


def bannable_networks_around(key: str) -> Iterator[str]:
    """Every network that can be banned and contains a caller, who is given as `Addresses.of` returns it.

    >>> list(bannable_networks_around("192.0.2.7"))[:2], list(bannable_networks_around("unix:"))
    (['192.0.0.0/8', '192.0.0.0/9'], [])
    """
    with suppress(ValueError):
        network = ip_network(key)
        for prefix in range(_BANNABLE[network.version][0], network.prefixlen + 1):
            yield _name(network.supernet(new_prefix=prefix))


def _address_of(peer: str) -> Address | None:
    family, _, rest = peer.partition(":")
    if family not in {"ipv4", "ipv6"}:
        return None
    return _read(unquote(rest.rpartition(":")[0]).strip("[]").partition("%")[0])


def _hops(context: Any) -> list[str]:
    sent = [value for key, value in context.invocation_metadata() or () if key == FORWARDED]
    return [hop.strip() for value in sent if isinstance(value, str) for hop in value.split(",")]


def _read_hop(text: str) -> Address | None:
    """An address as proxies write it: plain, in brackets, or with a port behind it."""
    host, colon, port = text.rpartition(":")
    has_port = colon and port.isascii() and port.isdecimal()
    return _read(text.strip("[]")) or (_read(host.strip("[]")) if has_port else None)


def _read(text: str) -> Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _limit_key(address: Address) -> str:
    if isinstance(address, IPv6Address):
        return str(ip_network((address, IPV6_PREFIX), strict=False))
    return str(address)


def _name(network: Network) -> str:
    """One IPv4 address is named without its prefix length, as limits name it."""
    return str(network.network_address if network.prefixlen == network.max_prefixlen else network)
