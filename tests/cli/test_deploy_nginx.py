"""`service/deploy/nginx`: nginx accepts it, and a service behind a real nginx with it can be played and seen."""

from __future__ import annotations

import asyncio
import http.client
import os
import re
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import grpc
import pytest

from rollbook.v1.identity_pb2 import SignInRequest
from rollbook.v1.identity_pb2_grpc import IdentityServiceStub
from rollbook_clients.sdk import connect
from tests.ports import free_port
from tests.server.serving import started, until
from tests.storage.terminating import certificate
from tests.tools import tool

WRITTEN: Final = Path(__file__).parents[2] / "service" / "deploy" / "nginx" / "rollbook.conf"
TEXT: Final = WRITTEN.read_text(encoding="utf-8")
PAGE_NAME: Final = "games.example"
FORGED: Final = "203.0.113.9"


@dataclass
class Proxied:
    """Ports of a running nginx and of what it forwards to, and the certificate that it shows."""

    folder: Path
    tls: int
    plain: int
    rpc: int
    page: int

    @property
    def authority(self) -> Path:
        """The certificate to trust."""
        return self.folder / "authority.pem"

    @property
    def command(self) -> list[str]:
        """Nginx in the foreground with the deployment's configuration."""
        return [tool("nginx"), "-p", str(self.folder), "-e", "stderr", "-c", str(self.folder / "nginx.conf")]

    def get(self, scheme: str = "https") -> http.client.HTTPResponse:
        """Get / as a browser does that asks for the name of the page."""
        line = socket.create_connection(("127.0.0.1", self.tls if scheme == "https" else self.plain), timeout=20)
        if scheme == "https":
            trusting = ssl.create_default_context(cafile=str(self.authority))
            trusting.check_hostname = False  # the test's certificate is for 127.0.0.1
            line = trusting.wrap_socket(line, server_hostname=PAGE_NAME)
        with line:
            line.sendall(f"GET / HTTP/1.1\r\nHost: {PAGE_NAME}\r\nConnection: close\r\n\r\n".encode())
            answer = http.client.HTTPResponse(line)
            answer.begin()
            answer.read()
            return answer


@pytest.fixture
def proxied(tmp_path: Path) -> Proxied:
    """The written configuration with ports and certificates of the test."""
    one = Proxied(tmp_path, *(free_port() for _ in range(4)))
    shown = certificate(tmp_path, "shown", certificate(tmp_path, "authority"))
    text = re.sub(r"\n *listen \[::\].*", "", TEXT)
    text = text.replace("listen 443", f"listen 127.0.0.1:{one.tls}").replace(
        "listen 80", f"listen 127.0.0.1:{one.plain}"
    )
    text = text.replace("127.0.0.1:50051", f"127.0.0.1:{one.rpc}").replace("127.0.0.1:8080", f"127.0.0.1:{one.page}")
    text = re.sub(r"/etc/ssl/rollbook/\w+\.pem", str(shown.certificate), text)
    text = re.sub(r"/etc/ssl/rollbook/\w+\.key", str(shown.key), text)
    (tmp_path / "rollbook.conf").write_text(text, encoding="utf-8")
    # Workers of another user could not enter the test's folder.
    user = "user root;" if os.geteuid() == 0 else ""
    paths = "".join(
        f"{kind}_temp_path {tmp_path}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (tmp_path / "nginx.conf").write_text(
        f"daemon off; {user} worker_processes 1; pid {tmp_path}/nginx.pid; events {{}}\n"
        f"http {{ access_log off; {paths} include {tmp_path}/rollbook.conf; }}\n",
        encoding="utf-8",
    )
    return one


@contextmanager
def nginx(proxied: Proxied) -> Iterator[None]:
    """Run nginx until the end of the block."""
    with subprocess.Popen(proxied.command) as process:
        try:
            until(lambda: accepts(proxied.tls))
            yield
        finally:
            process.terminate()
            process.wait()


def accepts(port: int) -> bool:
    """Whether the port can be connected to."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_nginx_accepts_the_configuration(proxied: Proxied) -> None:
    """Not even a warning."""
    done = subprocess.run([*proxied.command, "-t"], capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stderr
    assert "warn" not in done.stderr


def sign_in(channel: grpc.Channel) -> str:
    """Sign in as a guest whose client claims to call from the forged address."""
    sent = (("x-forwarded-for", FORGED),)
    return IdentityServiceStub(channel).SignIn(SignInRequest(name="Anna"), timeout=20, metadata=sent).token


async def play(proxied: Proxied) -> str:
    """Open a match through nginx, play until it is our turn, resign, and follow the feed to its end."""
    at, trusted = f"127.0.0.1:{proxied.tls}", proxied.authority.read_bytes()
    async with connect(at, name="Anna", authorities=trusted) as table:
        match = await table.open("cant_stop", seats=2)
        await match.join()
        await match.add_bot()
        await match.ready()
        resigned = False
        async for moment in match.play():
            if moment.legal and not resigned:
                await match.resign()
                resigned = True
    assert resigned
    return match.id


@pytest.mark.skipif(sys.platform != "linux", reason="nginx as Debian packages it")
def test_a_service_behind_nginx_is_played_and_seen_and_knows_who_calls(proxied: Proxied, tmp_path: Path) -> None:
    """Feeds reach players at once, the page answers by https only, and callers cannot choose their address."""
    tool("nginx")
    data = tmp_path / "data"
    flags = ["--trust-proxy", "127.0.0.1", "--web-host", PAGE_NAME, "--web", f"127.0.0.1:{proxied.page}"]
    rollbook = [sys.executable, "-m", "rollbook"]
    serve = [*rollbook, "serve", "--data", str(data), "--listen", f"127.0.0.1:{proxied.rpc}", *flags]
    with started(serve) as one, nginx(proxied):
        assert one.address
        assert asyncio.run(play(proxied))
        until(lambda: 200 == proxied.get().status, one)
        # The page sees that the browser came by https.
        assert "Secure" in str(proxied.get().getheader("set-cookie"))
        moved = proxied.get("http")
        assert (301, f"https://{PAGE_NAME}/") == (moved.status, moved.getheader("location"))
        key = [*rollbook, "token", "--key", str(data / "token.key"), "--subject", "olga", "--role", "operator"]
        token = subprocess.check_output(key, text=True, stderr=subprocess.DEVNULL).strip()
        ban = ["admin", "ban", "--address", FORGED, "--for", "10m", "--service", one.address, "--token", token]
        subprocess.run([*rollbook, *ban], check=True, stdout=subprocess.DEVNULL)
        with grpc.insecure_channel(one.address) as channel:
            with pytest.raises(grpc.RpcError) as refused:
                until(lambda: sign_in(channel) == "", one)
            assert grpc.StatusCode.PERMISSION_DENIED == refused.value.code()
        trusted = grpc.ssl_channel_credentials(proxied.authority.read_bytes())
        with grpc.secure_channel(f"127.0.0.1:{proxied.tls}", trusted) as channel:
            assert sign_in(channel)
