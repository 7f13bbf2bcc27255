"""Stores over TLS, with passwords and users: `rediss://` to a real server behind a TLS terminator.

The embedded server is built without TLS, so a terminator runs in front of it.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from rollbook.match.chain import Entry
from rollbook.server.configuration.settings import SettingRefused, Settings
from rollbook.storage.embedded.server import find_server
from rollbook.storage.port import Appended, LobbyEntry, StoreUnavailable
from rollbook.storage.redis.log import RedisLog
from tests.server.serving import call, service
from tests.storage.servers import Server, running
from tests.storage.terminating import Certificate, certificate, terminated
from tests.storage.waiting import wait

PASSWORD = "p@ss/w%rd ü"  # noqa: S105 - for an hour
AS_DEFAULT = f":{quote(PASSWORD, safe='')}@"


pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
"""redis-py leaves parts of a refused TLS connection to the garbage collector, which warns."""


@pytest.fixture(autouse=True)
def _swept() -> Iterator[None]:
    """Collect the remains here instead of in another test."""
    yield
    gc.collect()


@dataclass(frozen=True)
class Secured:
    """A server with a password, and its certificates."""

    server: Server
    folder: Path
    authority: Certificate
    shown: Certificate

    def url(self, port: int, who: str = AS_DEFAULT, **query: object) -> str:
        """The `rediss://` URL with these credentials and options."""
        options = "&".join(f"{name}={quote(str(value), safe='')}" for name, value in query.items())
        return f"rediss://{who}127.0.0.1:{port}?{options}"


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """One server for all tests of this module."""
    folder = tmp_path_factory.mktemp("tls")
    authority = certificate(folder, "authority")
    with running(find_server(), folder / "server", {"requirepass": PASSWORD}) as server:
        yield Secured(server, folder, authority, certificate(folder, "store", authority))


async def works(url: str) -> None:
    """Append, read, wait for and list a match, over several connections."""
    log = await RedisLog.connect(url)
    try:
        match_id = "m"
        head = await log.head(match_id)
        waiting = asyncio.ensure_future(wait(log, {match_id: head}, 20))
        entry = Entry(b"e" * 100_000, b"p")
        assert Appended(head + 1) == await log.append(match_id, head, [entry], lobby=LobbyEntry(b"open"))
        assert {match_id: [entry]} == await waiting
        assert [entry] == await log.read(match_id, head)
        assert b"open" == await log.summary(match_id)
        await asyncio.gather(*[log.head(match_id) for _ in range(50)])
    finally:
        await log.close()


def refused(url: str) -> str:
    """Connect, which must be refused; return the message, which must not contain the password."""

    async def connect() -> None:
        log = await RedisLog.connect(url, append_seconds=3)
        await log.close()

    with pytest.raises(StoreUnavailable) as caught:
        asyncio.run(connect())
    told = str(caught.value)
    assert PASSWORD not in told
    assert quote(PASSWORD, safe="") not in told
    return told


def test_a_store_over_tls_is_checked_against_the_authority_that_is_named(secured: Secured) -> None:
    """Appends, reads and blocking reads all use TLS."""
    with terminated(secured.server.port, secured.shown) as port:
        asyncio.run(works(secured.url(port, ssl_ca_certs=secured.authority.certificate)))


def test_a_store_that_another_authority_vouches_for_is_refused(secured: Secured) -> None:
    """Without a named authority too, because the system does not trust it.

    Only an explicit option disables the check.
    """
    other = certificate(secured.folder, "other")
    with terminated(secured.server.port, secured.shown) as port:
        assert "certificate verify failed" in refused(secured.url(port, ssl_ca_certs=other.certificate))
        assert "certificate verify failed" in refused(secured.url(port))
        asyncio.run(works(secured.url(port, ssl_cert_reqs="none", ssl_check_hostname=False)))


def test_a_store_that_shows_the_certificate_of_another_address_is_refused(secured: Secured) -> None:
    """Another certificate of the same authority is not the store's."""
    elsewhere = certificate(secured.folder, "elsewhere", secured.authority, "10.0.0.1")
    with terminated(secured.server.port, elsewhere) as port:
        told = refused(secured.url(port, ssl_ca_certs=secured.authority.certificate))
        assert "certificate is not valid for '127.0.0.1'" in told
        asyncio.run(works(secured.url(port, ssl_ca_certs=secured.authority.certificate, ssl_check_hostname=False)))


def test_a_store_may_ask_for_the_services_own_certificate(secured: Secured) -> None:
    """Connections without it, or with another client's certificate, are refused."""
    ours = certificate(secured.folder, "service", secured.authority)
    stranger = certificate(secured.folder, "stranger")
    with terminated(secured.server.port, secured.shown, clients=secured.authority) as port:
        known: dict[str, Any] = {"ssl_ca_certs": secured.authority.certificate}
        asyncio.run(works(secured.url(port, **known, ssl_certfile=ours.certificate, ssl_keyfile=ours.key)))
        assert refused(secured.url(port, **known))
        assert refused(secured.url(port, **known, ssl_certfile=stranger.certificate, ssl_keyfile=stranger.key))


def test_plain_text_and_tls_do_not_meet(secured: Secured) -> None:
    """Both sides report the mismatch instead of hanging."""
    with terminated(secured.server.port, secured.shown) as port:
        assert refused(f"redis://{AS_DEFAULT}127.0.0.1:{port}")
    assert refused(secured.url(secured.server.port, ssl_ca_certs=secured.authority.certificate))


def test_the_files_for_a_store_over_tls_are_flags(secured: Secured, tmp_path: Path) -> None:
    """A store that asks for certificates accepts the service; flags that do not go together are refused."""
    ours = certificate(secured.folder, "by-flags", secured.authority)
    flags = ["--redis-ca", str(secured.authority.certificate), "--redis-cert", str(ours.certificate)]
    flags += ["--redis-key", str(ours.key)]
    with terminated(secured.server.port, secured.shown, clients=secured.authority) as port:
        url = secured.url(port).rstrip("?")
        with service(tmp_path / "data", "--redis", url, *flags) as one, one.channel() as channel:
            assert 0 < call(channel, "Write", "word")
    with secured.server.client(PASSWORD) as client:
        # Another service of this module has other keys.
        client.flushall()
    data = tmp_path / "data"
    refused_flags: list[tuple[dict[str, Any], str]] = [
        ({"redis": "redis://127.0.0.1:1", "redis_ca": ours.certificate}, "begins with rediss"),
        ({"redis": url, "redis_cert": ours.certificate}, "are given together"),
        ({"redis": f"{url}?ssl_ca_certs=a", "redis_ca": ours.certificate}, "is in the URL"),
    ]
    for given, why in refused_flags:
        with pytest.raises(SettingRefused, match=why):
            Settings.read(data=data, **given)


def test_users_and_passwords_are_those_of_the_store(secured: Secured) -> None:
    """Valid credentials work; wrong ones, and users with too few rights, are refused at the start."""
    known: dict[str, Any] = {"ssl_ca_certs": secured.authority.certificate}
    with terminated(secured.server.port, secured.shown) as port, secured.server.client(PASSWORD) as client:
        client.execute_command(
            "ACL", "SETUSER", "service", "on", ">geheim", "~*", "+@all", "-@dangerous", "+config|get"
        )
        client.execute_command(
            "ACL", "SETUSER", "reader", "on", ">geheim", "~*", "+@read", "+@connection", "+config|get"
        )
        asyncio.run(works(secured.url(port, "service:geheim@", **known)))
        told = refused(secured.url(port, "service:wrong@", **known))
        assert "invalid username-password pair" in told
        assert "wrong@" not in told
        assert "permission" in refused(secured.url(port, "reader:geheim@", **known)).lower()
        assert "Authentication required" in refused(secured.url(port, "", **known))


def test_a_service_keeps_its_matches_in_a_store_over_tls(secured: Secured, tmp_path: Path) -> None:
    """`--redis rediss://…` works, and the log does not contain the password."""
    with terminated(secured.server.port, secured.shown) as port:
        url = secured.url(port, ssl_ca_certs=secured.authority.certificate)
        with service(tmp_path / "data", "--redis", url) as one, one.channel() as channel:
            assert f"rediss://127.0.0.1:{port}" == one.line("listening")["store"]
            assert call(channel, "Write", "word") == call(channel, "Read")
            one.process.terminate()
            assert 0 == one.ended()
            said = "".join(one.said)
            assert PASSWORD not in said
            assert AS_DEFAULT not in said
