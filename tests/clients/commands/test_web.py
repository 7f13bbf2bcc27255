"""`rollbook web` as a process."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.clients.web.browsing import Reader, WebProcess
from tests.server.serving import until


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_page_with_exit_code_0(tmp_path: Path, number: signal.Signals) -> None:
    """A supervisor that stops the page sees no failure, even without a service."""
    web = WebProcess(tmp_path, "127.0.0.1:9")
    try:
        until(web.is_up)
        assert Reader(web.url).get("/").status
        web.process.send_signal(number)
        assert 0 == web.process.wait(60)
        assert f"The page is at {web.url}/\n" == web.said()
    finally:
        web.kill()
