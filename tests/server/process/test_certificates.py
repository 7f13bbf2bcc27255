"""Certificates of a running service: renewed without a restart, measured, and refused when they have expired."""

from __future__ import annotations

import os
import pty
import signal
import ssl
import subprocess
import sys
import urllib.error
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import grpc
import pytest
from cryptography import x509

from tests.ports import free_port
from tests.server.health.test_metrics import scrape
from tests.server.process.test_page_process import title
from tests.server.process.test_running import refused
from tests.server.serving import PROGRAM, READY_SECONDS, Service, call, service, started, until
from tests.storage.terminating import Certificate, certificate

IN_A_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Runs a command in a session whose terminal is standard input."""

METRIC = "rollbook_tls_not_after_seconds"


class Renewed:
    """The paths that a service was given, and certificates of one authority that take their place."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.authority = certificate(folder, "authority", days=400)
        self.pair = [folder / "in-use.pem", folder / "in-use.key"]
        self.flags = ["--tls-cert", str(self.pair[0]), "--tls-key", str(self.pair[1])]

    def put(self, name: str, days: float) -> Certificate:
        """Make a certificate, and put it in the place of the one in use, as programs that renew them do."""
        made = certificate(self.folder, name, self.authority, days=days)
        for made_file, used in zip((made.certificate, made.key), self.pair, strict=True):
            made_file.replace(used)
        return made

    def channel(self, one: Service) -> grpc.Channel:
        """A new connection, for which the certificate is verified."""
        trusted = grpc.ssl_channel_credentials(self.authority.certificate.read_bytes())
        return grpc.secure_channel(one.address, trusted, options=[("grpc.use_local_subchannel_pool", 1)])


def shows(one: Service) -> x509.Certificate:
    """The certificate that a new connection receives."""
    host, _, port = one.address.rpartition(":")
    return x509.load_pem_x509_certificate(ssl.get_server_certificate((host, int(port))).encode())


def has(one: Service, made: Certificate) -> bool:
    """Whether new connections receive this certificate."""
    return bool(made.issued == shows(one))


def ends(metrics: str) -> float | None:
    """The metric of the certificate's end."""
    found = [line for line in scrape(metrics).splitlines() if line.startswith(f"{METRIC} ")]
    return float(found[0].split()[1]) if found else None


def heading(page: str) -> str:
    """The heading of the page; empty while the page does not reach the service."""
    try:
        return title(page)
    except urllib.error.HTTPError:
        return ""


@pytest.mark.parametrize("workers", [(), ("--workers", "2")], ids=["one process", "workers"])
def test_a_renewed_certificate_is_used_without_a_restart(tmp_path: Path, workers: Sequence[str]) -> None:
    """New connections get the new certificate in every worker; a call on an old connection goes on."""
    files = Renewed(tmp_path)
    first = files.put("first", 20)
    metrics = f"127.0.0.1:{free_port()}"
    with service(tmp_path / "data", *files.flags, "--metrics", metrics, *workers) as one:
        with files.channel(one) as before:
            assert 1 == call(before, "Write")
            assert first.issued == shows(one)
            assert first.issued.not_valid_after_utc.timestamp() == ends(metrics)
            second = files.put("second", 90)
            # With workers, connections are distributed: all of many have to see the new certificate.
            until(lambda: all(second.issued == shows(one) for _ in range(10)), one)
            until(lambda: second.issued.not_valid_after_utc.timestamp() == ends(metrics), one)
            assert 2 == call(before, "Write")
        with files.channel(one) as after:
            assert 3 == call(after, "Write")
        one.process.terminate()
        assert 0 == one.ended()


def test_a_renewed_pair_that_cannot_be_used_is_refused_and_the_earlier_one_stays(tmp_path: Path) -> None:
    """An expired certificate, a key of another one, and a missing file change nothing, and the log names the file."""
    files = Renewed(tmp_path)
    first = files.put("first", 20)
    metrics = f"127.0.0.1:{free_port()}"
    with service(tmp_path / "data", *files.flags, "--metrics", metrics) as one:
        assert first.issued == shows(one)
        files.put("expired", -1)
        assert "expired" in one.line("the renewed certificate is refused")["why"]
        files.pair[1].unlink()
        until(lambda: any("No such file" in str(line.get("why")) for line in one.lines), one)
        assert first.issued == shows(one)
        assert first.issued.not_valid_after_utc.timestamp() == ends(metrics)
        refusals = [line for line in scrape(metrics).splitlines() if 'loop_failures_total{loop="certificates"}' in line]
        assert 2 <= float(refusals[0].split()[-1])
        third = files.put("third", 30)
        until(lambda: third.issued == shows(one), one)


@pytest.mark.parametrize("workers", [(), ("--workers", "2")], ids=["one process", "workers"])
def test_an_expired_certificate_is_refused_at_the_start(tmp_path: Path, workers: Sequence[str]) -> None:
    """The message names the file and the time."""
    files = Renewed(tmp_path)
    expired = files.put("expired", -1)
    done = refused("--data", str(tmp_path / "data"), *files.flags, "--listen", "127.0.0.1:0", *workers)
    assert 1 == done.returncode
    end = expired.issued.not_valid_after_utc.isoformat()
    assert f"{files.pair[0]}: the certificate expired at {end}; renew it" in done.stderr
    assert 1 == done.stderr.count("expired at")


@pytest.mark.parametrize("workers", [(), ("--workers", "2")], ids=["one process", "workers"])
def test_sighup_reads_the_files_and_ends_nothing(tmp_path: Path, workers: Sequence[str]) -> None:
    """Also without TLS the service goes on; before, SIGHUP ended it without a drain."""
    files = Renewed(tmp_path)
    files.put("first", 20)
    for flags in (files.flags, []):
        with service(tmp_path / f"data-{len(flags)}", *flags, *workers) as one:
            assert one.address
            one.process.send_signal(signal.SIGHUP)
            if flags:
                second = files.put("second", 40)
                one.process.send_signal(signal.SIGHUP)
                until(partial(has, one, second), one)
            else:
                assert 1 == one.status()
            one.process.terminate()
            assert 0 == one.ended()


def test_closing_the_terminal_of_a_service_ends_it_with_a_drain(tmp_path: Path) -> None:
    """SIGHUP still ends a service whose terminal is gone: a laptop's demo does not stay behind."""
    master, slave = pty.openpty()
    words = [sys.executable, "-c", IN_A_TERMINAL, *PROGRAM, "--data", str(tmp_path), "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(words, stdin=slave, stderr=subprocess.PIPE, text=True, encoding="utf-8")
    os.close(slave)
    one = Service(process)
    try:
        assert one.address
        os.close(master)
        assert 0 == one.ended(READY_SECONDS)
        assert "drained" == one.line_after_end("ended")["how"]
    finally:
        process.kill()
        process.wait()
        one.hang_up()


def test_page_and_house_trust_a_renewed_certificate(tmp_path: Path) -> None:
    """They are clients that trust the service's certificate alone: both start again, and call it as before."""
    made = certificate(tmp_path, "own", days=20)
    words = [sys.executable, "-m", "rollbook", "serve", "--listen", "127.0.0.1:0", "--data", str(tmp_path / "data")]
    flags = ["--tls-cert", str(made.certificate), "--tls-key", str(made.key), "--web", "127.0.0.1:0", "--demo"]
    with started([*words, *flags]) as one:
        page = str(one.line("the page is at")["page"])
        until(lambda: "Take a seat" == heading(page), one)
        again = certificate(tmp_path, "own", days=30)
        one.line("the certificate is renewed")
        until(lambda: again.issued == shows(one), one)
        one.line("the house has ended")
        one.line("the page has ended")
        until(lambda: "Take a seat" == heading(page), one)
