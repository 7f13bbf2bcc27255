"""Runs the page in its own process and browsers on it: the system's Chromium, driven by Playwright."""

from __future__ import annotations

import asyncio
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from http.cookiejar import CookieJar
from pathlib import Path
from random import Random
from typing import Final
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest
from playwright.async_api import Browser, BrowserContext, Page, async_playwright
from playwright.async_api import Error as BrowserError

from tests.ports import free_port
from tests.server.test_whole_service import Serving

CHROMIUM: Final = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

FLAGS: Final = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WAIT_MS: Final = 60_000
"""Longest wait for a condition, in ms, for busy machines."""

ENLARGED: Final = "(times) => { document.documentElement.style.fontSize = `${112.5 * times}%`; }"
"""Script that enlarges the letters by a factor."""

LOST: Final = "lost:"
WATCHED: Final = """addEventListener("DOMContentLoaded", () => {
  const live = document.getElementById("live");
  if (!live) return;
  const kept = ["title", "table", "board", "side", "log"].map((id) => document.getElementById(id)).filter(Boolean);
  let had = "";
  const look = () => {
    const focused = document.activeElement;
    if (had && focused === document.body) console.error(`lost: the focus of ${had}`);
    had = focused === document.body ? "" : focused.outerHTML.slice(0, 100);
    for (const each of kept) if (!each.isConnected) console.error(`lost: ${each.id}`);
  };
  // What was hidden loses the focus when it is painted.
  new MutationObserver(() => { look(); requestAnimationFrame(() => setTimeout(look)); })
    .observe(live, { childList: true, subtree: true, attributes: true });
  addEventListener("focusin", look);
});"""
"""Script that records each redraw of the table after which the focus is lost or a kept element was replaced."""


def answers(address: str) -> bool:
    """Whether a server listens at the address."""
    host, _, port = address.rpartition(":")
    with suppress(OSError), socket.create_connection((host, int(port)), 5):
        return True
    return False


class WebProcess:
    """`rollbook web` on a port that stays the same over restarts."""

    def __init__(self, folder: Path, service: str) -> None:
        self._folder = folder
        self._service = service
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = self.start()

    def start(self) -> subprocess.Popen[bytes]:
        """Start the process."""
        words = ["web", "--listen", f"127.0.0.1:{self.port}", "--service", self._service]
        with (self._folder / "web.log").open("ab") as said:
            return subprocess.Popen([sys.executable, "-m", "rollbook", *words], stdout=said, stderr=said)

    def is_up(self) -> bool:
        """Whether the page answers."""
        return answers(f"127.0.0.1:{self.port}")

    def said(self) -> str:
        """The output so far."""
        return (self._folder / "web.log").read_text(encoding="utf-8")

    def kill(self) -> None:
        """Kill the process without warning."""
        self.process.kill()
        self.process.wait()


@asynccontextmanager
async def page_of(folder: Path, service: str) -> AsyncIterator[WebProcess]:
    """Serve the page of a service; ends it afterwards."""
    web = WebProcess(folder, service)
    try:
        while not (web.is_up() and answers(service)):
            assert web.process.poll() is None, web.said()
            await asyncio.sleep(0.05)
        yield web
    finally:
        web.kill()


@asynccontextmanager
async def served_page(folder: Path) -> AsyncIterator[tuple[Serving, WebProcess]]:
    """Serve a service and its page; ends both afterwards."""
    service = Serving(folder / "data")
    try:
        async with page_of(folder, service.address) as web:
            yield service, web
    finally:
        service.end()


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """Start a browser for one test."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield browser
        finally:
            await browser.close()


@dataclass(frozen=True)
class Answer:
    """An answer of the page."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()

    @property
    def content(self) -> bytes:
        """The body without form tokens, names of states and times of messages, which always differ."""
        return re.sub(rb'\b[0-9a-f]{128}\b|\b[0-9a-f]{8}\.\d+\b|"now_ms":\d+', b"", self.body)


def _first_message(stream: Iterable[bytes]) -> bytes:
    """The stream up to the end of its first message."""
    body, message = b"", b""
    for line in stream:
        message += line
        if line == b"\n":
            body, message, is_beat = body + message, b"", message.startswith(b"event: beat")
            if not is_beat:
                break
    return body


class Reader:
    """A browser without scripts, with its own cookies; keeps every answer byte for byte."""

    def __init__(self, url: str, language: str = "en") -> None:
        self._url = url
        self._language = language
        self._opener = build_opener(HTTPCookieProcessor(CookieJar()))

    def get(self, path: str, accept: str = "text/html") -> Answer:
        """Get a path; returns the answer with any status."""
        return self._sent(path, None, self._headers(accept))

    def post(self, path: str, fields: Mapping[str, str], accept: str = "text/html", token: str | None = None) -> Answer:
        """Send a form with its token, or with another one."""
        sent = urlencode({**fields, "form_token": self.form_token() if token is None else token}).encode()
        return self._sent(path, sent, self._headers(accept))

    def upload(self, path: str, name: str, data: bytes) -> Answer:
        """Send a form with a file."""
        edge = "edge-of-a-part"
        token = f'--{edge}\r\ncontent-disposition: form-data; name="form_token"\r\n\r\n{self.form_token()}\r\n'
        head = f'--{edge}\r\ncontent-disposition: form-data; name="{name}"; filename="a.rollbook"\r\n\r\n'
        body = token.encode() + head.encode() + data + f"\r\n--{edge}--\r\n".encode()
        headers = {**self._headers("text/html"), "content-type": f"multipart/form-data; boundary={edge}"}
        return self._sent(path, body, headers)

    def form_token(self) -> str:
        """The token in the forms of this browser."""
        return self.get("/replays").text.partition('name="form-token" content="')[2].partition('"')[0]

    def _headers(self, accept: str) -> dict[str, str]:
        return {"accept": accept, "accept-language": self._language}

    def _sent(self, path: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        request = Request(self._url + path, body, dict(headers))  # noqa: S310 - http
        try:
            with self._opener.open(request, timeout=60) as answer:
                is_stream = answer.headers["content-type"].startswith("text/event-stream")
                body = _first_message(answer) if is_stream else answer.read()
                return Answer(answer.status, dict(answer.headers), body)
        except HTTPError as refused:
            with refused:
                return Answer(refused.code, dict(refused.headers), refused.read())


STEADY: Final = """() => {
  const { position, goesOn } = document.getElementById("table").dataset;
  return !goesOn && document.documentElement.dataset.steady === position;
}"""
"""The table has been there long enough for presses to count, and does not wait for chance to go on with the turn."""


class Person:
    """A person with their own browser; records its errors."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on(
            "console",
            lambda message: (
                self.errors.append(message.text)
                if "Content Security Policy" in message.text or message.text.startswith(LOST)
                else None
            ),
        )

    @classmethod
    async def arrive(cls, browser: Browser, *, language: str = "en", width: int = 1280, height: int = 800) -> Person:
        """Open a browser without any stored data."""
        return await cls.within(await browser.new_context(viewport={"width": width, "height": height}, locale=language))

    @classmethod
    async def within(cls, context: BrowserContext) -> Person:
        """Open a page in a browser context with its own settings."""
        context.set_default_timeout(WAIT_MS)
        await context.add_init_script(WATCHED)
        return cls(await context.new_page())

    async def goto(self, url: str) -> None:
        """Open an address; repeats until a server answers."""
        for attempt in range(200):
            try:
                await self.page.goto(url)
            except BrowserError:
                if attempt == 199:
                    raise
                await self.page.wait_for_timeout(100)
            else:
                return

    async def upload(self, url: str, file: Path) -> str:
        """Upload a replay file; returns the address of its replay."""
        await self.goto(f"{url}/replays")
        await self.page.set_input_files("input[name=file]", file)
        await self.page.click("form.drop button")
        await self.page.wait_for_selector("#replay")
        return self.page.url.partition("?")[0]

    @property
    async def position(self) -> int:
        """The event number that the table shows."""
        return int(await self.page.locator("#table").get_attribute("data-position") or 0)

    async def is_over(self) -> bool:
        """Whether the page shows the end of the match."""
        return await self.page.locator("#after").count() > 0

    async def is_asked(self) -> bool:
        """Whether there are choices; waits until presses count, as chance may end the turn meanwhile."""
        if not await self.page.locator("#choose").count():
            return False
        await self.page.wait_for_function(STEADY)
        return await self.page.locator("#choose").count() > 0

    async def choose(self, random: Random) -> bool:
        """Choose a random offered action, if there is one, and wait until it has happened."""
        page = self.page
        if not await self.is_asked():
            return False
        before = await self.position
        if count := await page.locator("#pieces input").count():
            name = await page.locator("#pieces input").nth(random.randrange(count)).get_attribute("data-thing")
            await page.locator(f"#things #{name}").click()
            await page.wait_for_selector("#choices-list:not([aria-busy]) button:visible")
        await page.evaluate("for (const each of document.querySelectorAll('#choices-list details')) each.open = true")
        buttons = page.locator("#choices-list button:visible")
        await buttons.nth(random.randrange(await buttons.count())).click()
        moved_on = "before => Number(document.getElementById('table').dataset.position) > before"
        await page.wait_for_function(moved_on, arg=before)
        return True
