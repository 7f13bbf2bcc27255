"""The URLs of stores."""

from __future__ import annotations

import pytest

from rollbook.storage.redis.address import Kind, parse


@pytest.mark.parametrize(
    ("url", "kind", "hosts", "told"),
    [
        ("redis://db", Kind.SERVER, (("db", 6379),), "redis://db:6379"),
        ("redis://me:p%40ss@db:7000/3", Kind.SERVER, (("db", 7000),), "redis://db:7000"),
        ("rediss://:pass@[::1]:7000", Kind.SERVER, (("::1", 7000),), "rediss://[::1]:7000"),
        ("unix:///run/store.sock", Kind.SERVER, (), "unix:///run/store.sock"),
        (
            "redis+sentinel://me:pass@one,two:7,[::1]/main/2",
            Kind.SENTINEL,
            (("one", 26379), ("two", 7), ("::1", 26379)),
            "redis+sentinel://one:26379,two:7,[::1]:26379/main",
        ),
        ("redis+cluster://one,two:7", Kind.CLUSTER, (("one", 6379), ("two", 7)), "redis+cluster://one:6379,two:7"),
        ("rediss+cluster://:pass@one", Kind.CLUSTER, (("one", 6379),), "rediss+cluster://one:6379"),
    ],
)
def test_every_kind_of_store_has_its_url(url: str, kind: Kind, hosts: tuple[tuple[str, int], ...], told: str) -> None:
    """The printed address never contains a password."""
    address = parse(url)
    assert kind is address.kind
    assert hosts == address.hosts
    assert told == str(address)
    assert url.startswith("rediss") == address.tls


def test_credentials_are_decoded() -> None:
    """A password may hold any character, percent-encoded."""
    options = parse("redis://me:p%40s%2Fs%25@db:7000/3").options
    assert {"username": "me", "password": "p@s/s%", "db": 3} == options


def test_sentinels_have_credentials_of_their_own() -> None:
    """Credentials before the host are those of the data servers."""
    address = parse("rediss+sentinel://:data@one/main?sentinel_password=guard&ssl_ca_certs=/ca.pem")
    assert {"password": "data", "ssl_ca_certs": "/ca.pem"} == address.options
    assert {"password": "guard", "ssl": True, "ssl_ca_certs": "/ca.pem"} == address.sentinel_options
    assert "main" == address.service


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("localhost:6379", "is given as a URL"),
        ("", "is given as a URL"),
        ("http://db", "http:// is not known"),
        ("redis+http://db", "is not known"),
        ("redis://", "no host and port"),
        ("redis://db:port", "no host and port"),
        ("redis://one,two", "names one host"),
        ("redis://db/zero", "a database is a number"),
        ("redis+sentinel://one", "name of the service"),
        ("redis+cluster://one/1", "only database 0"),
        ("unix://", "needs the path"),
        ("redis://db?protocol=3", "takes no protocol"),
        ("redis://db?socket_timeout=1&decode_responses=1", "takes no decode_responses, socket_timeout"),
        ("redis://db?sentinel_password=x", "takes no sentinel_password"),
    ],
)
def test_a_wrong_url_says_what_is_wrong(url: str, reason: str) -> None:
    """Options that would override the log's own settings are refused too."""
    with pytest.raises(ValueError, match=reason):
        parse(url)
