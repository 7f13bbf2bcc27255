"""A page without a service, for tests that need none."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.clients.web.browsing import WebProcess


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a page whose service is away: replays, verification and forms still work."""
    web = WebProcess(tmp_path_factory.mktemp("page"), "127.0.0.1:1")
    deadline = time.monotonic() + 60
    while not web.is_up():
        assert time.monotonic() < deadline, web.said()
        time.sleep(0.05)
    yield web.url
    web.kill()
