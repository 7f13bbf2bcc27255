"""Addresses of callers: only trusted proxies and gateways may name another address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from structlog.testing import capture_logs

from rollbook import GATEWAY
from rollbook.server.addresses import (
    LONGEST_LOGGED,
    MOST_LOGGED,
    Addresses,
    bannable_network,
    bannable_networks_around,
    read_network,
)


class Context:
    """A call from this peer, with its forwarding headers."""

    def __init__(self, peer: str, *forwarded: str | bytes, gateway: Sequence[str] = ()) -> None:
        """Keep the values."""
        self._peer = peer
        self._forwarded = forwarded
        self._gateway = gateway

    def peer(self) -> str:
        """The peer as gRPC names it."""
        return self._peer

    def invocation_metadata(self) -> Any:
        """The metadata as gRPC returns it."""
        named = [("x-forwarded-for", value) for value in self._forwarded]
        return (*named, *((GATEWAY, token) for token in self._gateway))


@pytest.mark.parametrize(
    ("peer", "address"),
    [
        ("ipv4:127.0.0.1:4711", "127.0.0.1"),
        ("ipv6:%5B2001:db8:1:2:3:4:5:6%5D:4711", "2001:db8:1:2::/64"),
        ("ipv6:[2001:db8:1:2:ffff::1]:4711", "2001:db8:1:2::/64"),
        ("ipv6:%5B::ffff:192.0.2.1%5D:4711", "192.0.2.1"),
        ("ipv6:%5Bfe80::1%25eth0%5D:4711", "fe80::/64"),
        ("unix:", "unix:"),
        ("unix:/run/rollbook", "unix:/run/rollbook"),
    ],
)
def test_a_peer_is_its_address_and_a_household_one(peer: str, address: str) -> None:
    """Ports are ignored, and so is everything after the first 64 bits of an IPv6 address."""
    assert address == Addresses().of(Context(peer))


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ((), "10.0.0.1"),
        (("192.0.2.7",), "192.0.2.7"),
        (("192.0.2.8, 192.0.2.7",), "192.0.2.7"),
        (("192.0.2.7, 10.0.0.2",), "192.0.2.7"),
        (("192.0.2.8", "192.0.2.7,10.0.0.2"), "192.0.2.7"),
        (("10.0.0.3, 10.0.0.2",), "10.0.0.3"),
        (("192.0.2.7, rubbish",), "10.0.0.1"),
        (("rubbish, 192.0.2.7",), "192.0.2.7"),
        (("192.0.2.7, rubbish, 10.0.0.2",), "10.0.0.2"),
        (("",), "10.0.0.1"),
        ((b"192.0.2.7",), "10.0.0.1"),
        (("2001:db8::1",), "2001:db8::/64"),
        (("203.0.113.7:4711",), "203.0.113.7"),
        (("203.0.113.7:4711, 10.0.0.2:80",), "203.0.113.7"),
        (("::ffff:203.0.113.7",), "203.0.113.7"),
        (("::ffff:203.0.113.7:4711",), "203.0.113.7"),
        (("[::ffff:203.0.113.7]:4711, ::ffff:10.0.0.2",), "203.0.113.7"),
        (("::ffff:cb00:7107",), "203.0.113.7"),
        (("[2001:db8::1]:4711",), "2001:db8::/64"),
        (("[2001:db8::1]",), "2001:db8::/64"),
        (("fe80::1%eth0",), "fe80::/64"),
        (("203.0.113.7:port",), "10.0.0.1"),
        (("203.0.113.7:",), "10.0.0.1"),
    ],
)
def test_a_trusted_proxy_says_who_called_it(forwarded: tuple[str | bytes, ...], address: str) -> None:
    """The rightmost hop that is no trusted proxy counts; a caller can only forge hops to its left."""
    addresses = Addresses([read_network("10.0.0.0/8")])
    assert address == addresses.of(Context("ipv4:10.0.0.1:4711", *forwarded))


def test_nobody_else_is_believed() -> None:
    """Otherwise a caller could choose a new address, and with it a new limit, for every call."""
    for addresses in (Addresses(), Addresses([read_network("10.0.0.0/8")])):
        assert "192.0.2.1" == addresses.of(Context("ipv4:192.0.2.1:4711", "192.0.2.7"))


@pytest.mark.parametrize(
    ("tokens", "address"),
    [(("Bearer good",), "192.0.2.7"), (("Bearer bad",), "127.0.0.1"), (("Bearer good", "Bearer good"), "127.0.0.1")],
)
def test_a_gateway_says_for_whom_it_calls(tokens: Sequence[str], address: str) -> None:
    """A token of the role `gateway` is needed; the guests of a page are then counted by their own addresses."""
    addresses = Addresses(is_gateway=lambda token: token.startswith("good"))
    assert address == addresses.of(Context("ipv4:127.0.0.1:4711", "192.0.2.7", gateway=tokens))


@pytest.mark.parametrize(
    ("banned", "peer", "is_inside"),
    [
        ("10.0.0.0/8", "ipv4:10.255.0.1:4711", True),
        ("10.0.0.0/8", "ipv4:11.0.0.1:4711", False),
        ("10.0.0.0/8", "ipv6:%5B::ffff:10.0.0.1%5D:4711", True),
        ("192.0.2.7/32", "ipv4:192.0.2.7:4711", True),
        ("192.0.2.6/31", "ipv4:192.0.2.8:4711", False),
        ("2001:db8::/32", "ipv6:%5B2001:db8:ffff::1%5D:4711", True),
        ("2001:db8::/32", "ipv6:%5B2001:db9::1%5D:4711", False),
        ("2001:db8::/64", "ipv6:%5B2001:db8::1%5D:4711", True),
        ("2001:db8::7", "ipv6:%5B2001:db8::1%5D:4711", True),
        ("10.0.0.0/8", "unix:", False),
    ],
)
def test_a_network_that_is_banned_holds_the_callers_in_it(banned: str, peer: str, is_inside: bool) -> None:
    """A ban holds for the exact network, even where limits count a whole IPv6 household as one caller."""
    caller = Addresses().of(Context(peer))
    assert is_inside == (bannable_network(banned) in bannable_networks_around(caller))


def test_a_value_that_is_no_address_is_logged_once_and_not_without_end() -> None:
    """Operators see what a proxy sends; a proxy that sends a different value with every call cannot fill the disk."""
    addresses = Addresses([read_network("10.0.0.0/8")])
    with capture_logs() as logged:
        for value in ["a host", "a host", "\x1b" * 1_000, *(f"port-{number}" for number in range(1_000))]:
            assert "10.0.0.1" == addresses.of(Context("ipv4:10.0.0.1:4711", f"192.0.2.7, {value}"))
    first, second, *_ = logged
    assert ("warning", "'a host'", "10.0.0.1") == (first["log_level"], first["value"], first["proxy"])
    assert second["value"].isprintable()
    assert len(second["value"]) <= LONGEST_LOGGED
    assert MOST_LOGGED == len(logged)


def test_a_value_that_is_not_read_is_not_logged() -> None:
    """Any client can send such a value; a trusted proxy appends the caller's address after it."""
    with capture_logs() as logged:
        Addresses().of(Context("ipv4:192.0.2.1:4711", "a host"))
        Addresses([read_network("10.0.0.0/8")]).of(Context("ipv4:10.0.0.1:4711", "a host, 192.0.2.7"))
    assert [] == logged
