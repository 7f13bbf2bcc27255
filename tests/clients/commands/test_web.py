"""`rollbook web` as a process."""

from __future__ import annotations

import http.client
import signal
import subprocess
import sys

import pytest


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_page_with_exit_code_0(number: signal.Signals) -> None:
    """A supervisor that stops it sees no failure; it needs no service for that."""
    words = ["-m", "rollbook", "web", "--listen", "127.0.0.1:0", "--service", "127.0.0.1:9"]
    with subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as page:
        assert page.stdout is not None
        try:
            address = page.stdout.readline().removeprefix("The page is at http://").rstrip("/\n")
            connection = http.client.HTTPConnection(address, timeout=60)
            connection.request("GET", "/")
            assert connection.getresponse().status
            connection.close()
            page.send_signal(number)
            _, errors = page.communicate(timeout=60)
        finally:
            page.kill()
        assert (0, "") == (page.returncode, errors)
