"""The page in a process of its own, and browsers on it: the system's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Final

import pytest
from playwright.async_api import Browser, Page, async_playwright
from playwright.async_api import Error as BrowserError

from tests.server.test_whole_service import free_port

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
"""A busy machine takes its time; whatever is waited for is a condition."""


class WebProcess:
    """`rollbook web` on a port that stays the same, however often it is killed."""

    def __init__(self, folder: Path, service: str) -> None:
        self._folder = folder
        self._service = service
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = self.start()

    def start(self) -> subprocess.Popen[bytes]:
        """Start it."""
        words = ["web", "--listen", f"127.0.0.1:{self.port}", "--service", self._service]
        with (self._folder / "web.log").open("ab") as said:
            return subprocess.Popen(
                [sys.executable, "-m", "rollbook", *words], stdout=said, stderr=said, env=os.environ
            )

    def said(self) -> str:
        """What it has printed."""
        return (self._folder / "web.log").read_text(encoding="utf-8")

    def kill(self) -> None:
        """End it without a word."""
        self.process.kill()
        self.process.wait()


@asynccontextmanager
async def page_of(folder: Path, service: str) -> AsyncIterator[WebProcess]:
    """The page of a service, ended in the end."""
    web = WebProcess(folder, service)
    try:
        yield web
    finally:
        web.kill()


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """A browser that nothing else uses."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield browser
        finally:
            await browser.close()


class Person:
    """Somebody with a browser of their own, and what went wrong in it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on(
            "console",
            lambda message: self.errors.append(message.text) if "Content Security Policy" in message.text else None,
        )

    @classmethod
    async def arrive(cls, browser: Browser, *, language: str = "en", width: int = 1280, height: int = 800) -> Person:
        """With nothing kept from before."""
        context = await browser.new_context(viewport={"width": width, "height": height}, locale=language)
        context.set_default_timeout(WAIT_MS)
        return cls(await context.new_page())

    async def goto(self, url: str) -> None:
        """Open an address, as often as it takes until somebody answers."""
        for attempt in range(200):
            try:
                await self.page.goto(url)
            except BrowserError:
                if attempt == 199:
                    raise
                await self.page.wait_for_timeout(100)
            else:
                return

    @property
    async def position(self) -> int:
        """The event that the table shows."""
        return int(await self.page.locator("#table").get_attribute("data-position") or 0)

    async def is_over(self) -> bool:
        """Whether the page says that the match has ended."""
        return await self.page.locator("#after").count() > 0

    async def choose(self, random: Random) -> bool:
        """Choose something that is on offer, if anything is, and wait until it has happened."""
        page = self.page
        if not await page.locator("#choose").count():
            return False
        before = await self.position
        picks = page.locator("#pieces input")
        if count := await picks.count():
            await picks.nth(random.randrange(count)).click()
            await page.wait_for_selector("#choices-list button")
        await page.evaluate("for (const each of document.querySelectorAll('#choices-list details')) each.open = true")
        buttons = page.locator("#choices-list button")
        await buttons.nth(random.randrange(await buttons.count())).click()
        moved_on = "before => Number(document.getElementById('table').dataset.position) > before"
        await page.wait_for_function(moved_on, arg=before)
        return True
