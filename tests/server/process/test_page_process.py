"""The page that `rollbook serve` starts: its address, restarts, its end with the service, and a service without it."""

from __future__ import annotations

import os
import re
import signal
import socket
import struct
import sys
import urllib.error
import urllib.parse
import urllib.request
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
import pytest

from rollbook import DEFAULT_WEB
from tests.cli.test_serve import ANY_PORT, SERVE, done
from tests.ports import free_port
from tests.server.serving import READY_SECONDS, Service, started, until

BROKEN_OFF = (
    b"POST /replays HTTP/1.1\r\nhost: localhost\r\ncontent-type: multipart/form-data; boundary=edge\r\n"
    b"content-length: 100000\r\nexpect: 100-continue\r\n\r\n--edge\r\n"
)
"""The beginning of an upload; the page answers it as soon as it reads it."""

NONSENSE = b"no request\r\n\r\n"

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="workers are for Linux")


def page_process(one: Service) -> psutil.Process | None:
    """The page's process below a service, or None."""
    for child in psutil.Process(one.process.pid).children():
        with suppress(psutil.Error):
            if child.status() != psutil.STATUS_ZOMBIE and child.cmdline()[-1:] == ["page"]:
                return child
    return None


def found(one: Service, *, but: int = 0) -> psutil.Process:
    """Wait for the page's process, other than the process `but`."""
    until(lambda: (page := page_process(one)) is not None and page.pid != but)
    page = page_process(one)
    assert page is not None
    return page


def title(address: str) -> str:
    """The heading of the page; waits until a process answers."""
    with urllib.request.urlopen(address, timeout=READY_SECONDS) as answer:  # noqa: S310 - http
        found = re.search(r"<h1[^>]*>(.*?)</h1>", answer.read().decode())
        return "" if found is None else found[1]


def is_refused(address: str) -> bool:
    """Whether the connection is refused."""
    try:
        title(address)
    except urllib.error.URLError as error:
        return isinstance(error.reason, ConnectionError)
    return False


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=ON_LINUX)])
def test_serve_has_a_page_and_starts_it_again(workers: str, tmp_path: Path) -> None:
    """The address is logged at the start. Browsers wait during a restart; the page ends with the service."""
    words = [*SERVE, "--data", str(tmp_path), "--listen", ANY_PORT, "--web", ANY_PORT, "--workers", workers]
    with started([*words, "--web-host", "games.example", "--web-https"]) as one:
        address = str(one.line("the page is at")["page"])
        assert "Take a seat" == title(address)
        named = urllib.request.Request(address, headers={"host": "games.example"})  # noqa: S310 - http
        with urllib.request.urlopen(named, timeout=READY_SECONDS) as answer:  # noqa: S310 - http
            assert answer.headers["strict-transport-security"]
        strange = urllib.request.Request(address, headers={"host": "evil.example"})  # noqa: S310 - http
        with pytest.raises(urllib.error.HTTPError, match="421"):
            urllib.request.urlopen(strange, timeout=READY_SECONDS)  # noqa: S310 - http
        first = found(one)
        first.kill()
        assert "Take a seat" == title(address)
        second = found(one, but=first.pid)
        one.process.terminate()
        assert 0 == one.ended()
        until(lambda: not second.is_running())
        assert is_refused(address)
        assert '"level": "error"' not in "".join(one.said)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it takes a second")
def test_a_service_that_is_killed_takes_its_page_with_it(tmp_path: Path) -> None:
    """The next service can have the port at once."""
    web = f"127.0.0.1:{free_port()}"
    words = [*SERVE, "--data", str(tmp_path), "--listen", ANY_PORT, "--web", web]
    with started(words) as one:
        assert "Take a seat" == title(str(one.line("the page is at")["page"]))
        page = found(one)
        os.kill(one.process.pid, signal.SIGKILL)
        one.process.wait()
        until(lambda: not page.is_running() or page.status() == psutil.STATUS_ZOMBIE)
    with started(words) as two:
        assert f"http://{web}/" == two.line("the page is at")["page"]
        assert "Take a seat" == title(f"http://{web}/")


def test_a_named_port_that_is_taken_refuses_the_start(tmp_path: Path) -> None:
    """The exit code is 1 and the message has the reason; nothing else has started."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        web = f"127.0.0.1:{other.getsockname()[1]}"
        refused = done("--data", str(tmp_path), "--listen", ANY_PORT, "--web", web)
    assert 1 == refused.returncode
    assert f"rollbook serve: cannot listen on {web} for the page: Address already in use" in refused.stderr


def test_a_default_port_that_is_taken_is_said_and_left_out(tmp_path: Path) -> None:
    """A second service on a machine must not fail because of the default page."""
    host, _, port = DEFAULT_WEB.rpartition(":")
    with ExitStack() as stack:
        with suppress(OSError):
            # If another process has the port, that is as good.
            stack.enter_context(socket.create_server((host, int(port))))
        stack.enter_context(pytest.MonkeyPatch.context()).delenv("ROLLBOOK_WEB")
        with started([*SERVE, "--data", str(tmp_path), "--listen", ANY_PORT]) as one:
            one.line("listening on")
            (said,) = [line for line in one.lines if "there is no page" in line["event"]]
            assert f"there is no page, because {DEFAULT_WEB} cannot be had; --web names another place" == said["event"]
            assert page_process(one) is None


def test_a_page_that_others_can_reach_is_served_behind_tls_only(tmp_path: Path) -> None:
    """Cookies must not travel unencrypted: without `--insecure` the command exits with 64."""
    refused = done("--data", str(tmp_path), "--web", "0.0.0.0:0")
    assert 64 == refused.returncode
    assert "--web: 0.0.0.0 can be reached from other machines, and cookies would travel in the clear" in refused.stderr


def test_browsers_that_hang_up_or_talk_nonsense_leave_no_traceback(tmp_path: Path) -> None:
    """A broken upload is logged as cancelled, and uvicorn's log lines are JSON like all others."""
    words = [*SERVE, "--data", str(tmp_path), "--listen", ANY_PORT, "--web", ANY_PORT]
    with started(words) as one:
        address = str(one.line("the page is at")["page"])
        assert "Take a seat" == title(address)
        where = urllib.parse.urlsplit(address)
        for sent, answer in ((BROKEN_OFF, b"HTTP/1.1 100"), (NONSENSE, b"HTTP/1.1 400")):
            with socket.create_connection((where.hostname, where.port), READY_SECONDS) as browser:
                browser.sendall(sent)
                assert browser.recv(1_000).startswith(answer)
                # Closing the socket sends a reset.
                browser.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        broken_off = one.line("a browser disconnected")
        assert ("/replays", "CANCELLED", "info") == tuple(broken_off[key] for key in ("path", "status", "level"))
        assert "warning" == one.line("Invalid HTTP request")["level"]
        assert "Take a seat" == title(address)
        one.process.terminate()
        assert 0 == one.ended()
        assert [] == [line for line in one.lines if line["level"] == "error" or "exception" in line]
