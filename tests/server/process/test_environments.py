"""Programs that a service starts inherit only the credentials that they need."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from rollbook import processes
from rollbook.storage.embedded.server import EmbeddedServer, find_server
from tests.cli.test_serve import ANY_PORT, SERVE
from tests.server.serving import Service, started, until
from tests.storage.archive.conftest import BUCKET, s3_environment, s3_running
from tests.storage.servers import running

PASSWORD = "the-word-of-the-store"  # noqa: S105 - of this test alone
PROGRAMS = {"rollbook.cli.worker", "page", "house"}


def environments(service: Service) -> dict[str, dict[str, str]]:
    """The environments of the processes below a service, by the last word of their command."""
    found = {}
    with suppress(psutil.NoSuchProcess):
        for process in psutil.Process(service.process.pid).children(recursive=True):
            # A process that has just started or ended has no command line.
            if words := process.cmdline():
                found[words[-1]] = process.environ()
    return found


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Service]:
    """A service with every helper program, over a store with a password and an archive in S3."""
    words = [*SERVE, "--data", str(tmp_path / "data"), "--listen", ANY_PORT, "--web", ANY_PORT, "--workers", "2"]
    words += ["--demo", "--demo-seconds", "0.01", "--archive-after", "0", "--archive", f"s3://{BUCKET}/there"]
    secrets = {"AWS_SECRET_ACCESS_KEY": PASSWORD, "ROLLBOOK_TOKEN": PASSWORD}
    with running(find_server(), tmp_path / "store", {"requirepass": PASSWORD}) as store, s3_running() as address:
        secrets["ROLLBOOK_REDIS"] = f"redis://:{PASSWORD}@127.0.0.1:{store.port}"
        with started(words, s3_environment(address) | secrets) as service:
            yield service


@pytest.mark.skipif(sys.platform != "linux", reason="workers are for Linux")
def test_only_the_programs_that_need_a_credential_inherit_it(served: Service) -> None:
    """The page and the bots get none; workers get those of the archive and use them."""
    until(lambda: environments(served).keys() == PROGRAMS, served)
    until(lambda: any(line["event"] == "archived" for line in served.lines), served)
    for program, environment in environments(served).items():
        secret = {name for name, value in environment.items() if PASSWORD in value}
        assert secret == ({"AWS_SECRET_ACCESS_KEY"} if program == "rollbook.cli.worker" else set()), program
        assert not {name for name in environment if name.startswith("ROLLBOOK_")}, program


@pytest.mark.asyncio
async def test_the_server_of_a_store_inherits_no_credential(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server overwrites its environment as others see it, so a script records it first."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", PASSWORD)
    noting = tmp_path / "noting"
    noting.write_text(f'#!/bin/sh\nenv > {tmp_path}/noted\nexec {find_server()} "$@"\n', encoding="utf-8")
    noting.chmod(0o700)
    server = await EmbeddedServer.start(tmp_path / "data", server=noting)
    await server.stop()
    noted = (tmp_path / "noted").read_text(encoding="utf-8")
    assert "PATH=" in noted
    assert PASSWORD not in noted


def test_a_program_finds_what_it_needs_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program gets path, language, time zone, temporary folder, and variables with certain prefixes."""
    wanted = {"LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo", "TMPDIR": "/tmp", "PYTHONPATH": "/nowhere"}  # noqa: S108
    for name, value in (wanted | {"AWS_REGION": "here", "AWSOME": "no", "OTHER": "no"}).items():
        monkeypatch.setenv(name, value)
    found = processes.environment()
    assert wanted.items() <= found.items()
    assert os.environ["PATH"] == found["PATH"]
    assert not {"AWS_REGION", "AWSOME", "OTHER"} & found.keys()
    assert "here" == processes.environment("AWS_")["AWS_REGION"]
    assert "AWSOME" not in processes.environment("AWS_")


@pytest.mark.asyncio
async def test_a_program_gets_no_other_variables_unless_they_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables are never inherited by default."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", PASSWORD)
    async with processes.running(["env"], stderr=subprocess.DEVNULL) as child:
        said = (await child.stdout.read()).decode()
    assert "PATH=" in said
    assert PASSWORD not in said
