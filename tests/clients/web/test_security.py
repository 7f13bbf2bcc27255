"""Strange hosts, half-sent requests, and the headers of every response."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from rollbook_clients.web import connections, server
from rollbook_clients.web.hosts import Hosts
from rollbook_clients.web.policy import HEADERS
from rollbook_clients.web.visit import PageOptions
from tests.clients.web.browsing import Person, Reader, chromium, needs_chromium, served_page

NOWHERE = "127.0.0.1:1"
HALF_SENT = 300


@asynccontextmanager
async def listening(hosts: Hosts) -> AsyncIterator[tuple[str, int]]:
    """Serve a page without a service in this process; yields its address."""
    listener = server.listening("127.0.0.1:0")
    done = asyncio.Event()
    task = asyncio.create_task(server.serve(PageOptions(NOWHERE, hosts=hosts), listener, _wait(done)))
    try:
        yield listener.getsockname()
    finally:
        done.set()
        await task


async def _wait(done: asyncio.Event) -> None:
    await done.wait()


async def ask(address: tuple[str, int], host: str, path: str = "/replays", more: str = "") -> str:
    """Send a request with this `Host` header; returns the whole response."""
    reader, writer = await asyncio.open_connection(*address)
    with closing(writer):
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n".encode())
        return (await reader.read()).decode()


def test_other_hosts_are_refused() -> None:
    """Addresses and loopback names are allowed, other names only if they are given; the first is in invitations."""

    async def scenario() -> None:
        async with listening(Hosts(("Games.example", "other.example:8443"), is_secure=True)) as address:
            for host in ("127.0.0.1", "10.1.2.3:80", "[::1]:8080", "localhost:99", "games.example", "other.example:1"):
                response = await ask(address, host)
                assert response.startswith("HTTP/1.1 200 "), host
                assert "strict-transport-security: max-age=31536000\r\n" in response
            for host in (
                "evil.example",
                "games.example.evil.example",
                "localhost.evil.example",
                "127.0.0.1.evil.example",
            ):
                for path in ("/replays", "/stream", "/s/0/page.css", "/nowhere"):
                    response = await ask(address, host, path, "Accept-Language: de\r\n")
                    assert response.startswith("HTTP/1.1 421 "), host
                    assert "Diese Seite gibt es unter diesem Namen nicht." in response
        async with listening(Hosts()) as address:
            assert (await ask(address, "games.example")).startswith("HTTP/1.1 421 ")
            assert "strict-transport-security" not in await ask(address, "localhost")

    asyncio.run(scenario())


def test_every_response_has_the_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages, files, refusals, unexpected failures and answers to what is no HTTP."""

    async def fail(*_: object) -> None:
        raise ArithmeticError

    monkeypatch.setattr("rollbook_clients.web.static_files.StaticFiles._redirect", fail)

    async def scenario() -> None:
        async with listening(Hosts()) as address:
            answers = [await ask(address, "localhost", path) for path in ("/replays", "/s/0/page.css", "/nowhere", "/")]
            answers += [await ask(address, "evil.example"), await ask(address, "localhost", "/static/any")]
            answers.append(await ask(address, "localhost", "/ /"))
            assert ["200", "200", "404", "503", "421", "500", "400"] == [response.split(" ")[1] for response in answers]
            for response in answers:
                head = response.lower()
                assert "content-security-policy: default-src 'none'; script-src 'self'" in head
                assert all(f"{name}: {value}\r\n" in head for name, value in HEADERS.items())
                assert "permissions-policy: camera=(), microphone=(), geolocation=(), payment=(), usb=()\r\n" in head

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n",
        b"GET /replays HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HT",
        b"POST /replays HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\na",
    ],
    ids=["nothing", "half a header", "half a second header", "a slow body"],
)
def test_half_sent_requests_are_closed(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """All 300 connections are closed by the page, and other requests are answered until then."""
    assert connections.HEADER_SECONDS == connections.BODY_SECONDS * 2 == 10
    monkeypatch.setattr(connections, "HEADER_SECONDS", 1.0)
    monkeypatch.setattr(connections, "BODY_SECONDS", 1.0)

    async def until_closed(address: tuple[str, int]) -> None:
        reader, writer = await asyncio.open_connection(*address)
        with closing(writer):
            writer.write(sent)
            try:
                await reader.read()
            except ConnectionError:
                return

    async def scenario() -> None:
        async with listening(Hosts()) as address:
            waiting = [asyncio.create_task(until_closed(address)) for _ in range(HALF_SENT)]
            served = 0
            while not all(task.done() for task in waiting):
                assert (await ask(address, "localhost")).startswith("HTTP/1.1 200 ")
                served += 1
            assert served
            await asyncio.gather(*waiting)

    asyncio.run(scenario())


def test_a_steady_body_and_an_open_stream_are_not_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body that is fast enough is read to its end, although it takes longer than one check of its rate."""
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.3)
    monkeypatch.setattr(connections, "BODY_SECONDS", 0.3)

    async def scenario() -> None:
        async with listening(Hosts()) as address:
            reader, writer = await asyncio.open_connection(*address)
            with closing(writer):
                body = b"form_token=" + b"0" * 8_000
                writer.write(b"POST /language HTTP/1.1\r\nHost: localhost\r\n")
                writer.write(b"Content-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n")
                writer.write(f"Content-Length: {len(body)}\r\n\r\n".encode())
                for start in range(0, len(body), 800):
                    writer.write(body[start : start + 800])
                    await asyncio.sleep(0.1)
                assert (await reader.read()).startswith(b"HTTP/1.1 403 ")

    asyncio.run(scenario())


@needs_chromium
def test_an_invited_browser_has_an_empty_console(tmp_path: Path) -> None:
    """From the link to the seat no request fails; a wrong code is refused, and a visitor without one can enter it."""

    async def scenario() -> None:
        async with served_page(tmp_path) as (_, web), chromium() as browser:
            anna, ben = await Person.arrive(browser), await Person.arrive(browser)
            await anna.goto(f"{web.url}/open?game=cant_stop")
            await anna.page.fill("input[name=name]", "Anna")
            await anna.page.check("input[name=private]")
            await anna.page.click("button.main")
            await anna.page.wait_for_selector("#invitation")
            link = await anna.page.input_value("#invitation")
            messages: list[str] = []
            ben.page.on("console", lambda message: messages.append(message.text))
            await ben.goto(link)
            await ben.page.wait_for_selector("#join")
            await ben.page.fill("#join input[name=name]", "Ben")
            await ben.page.click("#join button")
            await ben.page.wait_for_selector("#player-1")
            await ben.page.wait_for_selector("#choose, #status")
            assert [] == messages
            path = link.removeprefix(web.url).partition("#")[0]
            stranger = Reader(web.url)
            landing = await asyncio.to_thread(stranger.get, path)
            assert (200, True) == (landing.status, "You need an invitation" in landing.text)
            wrong = await asyncio.to_thread(stranger.post, f"{path}/enter", {"code": "a" * 24})
            assert (404, True) == (wrong.status, 'id="enter"' in wrong.text)

    asyncio.run(scenario())


def test_sockets_of_other_families_are_listened_on() -> None:
    """A page on IPv6 has an address in brackets, which it allows as a host."""
    listener = server.listening("[::1]:0")
    with listener:
        assert listener.family is socket.AF_INET6
        assert Hosts().allow(server.address_of(listener).removeprefix("http://").rstrip("/"))
