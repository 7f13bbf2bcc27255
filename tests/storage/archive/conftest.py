"""Archives for tests: a folder, and a bucket of a real S3 server in a separate process."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError

import pytest

from rollbook.storage.archive.marker import open_archive
from rollbook.storage.archive.port import Archive
from tests.ports import free_port

READY_SECONDS = 60.0
POLL_SECONDS = 0.05
BUCKET = "matches"


@contextmanager
def s3_running() -> Iterator[str]:
    """Start an S3 server with one empty bucket; yield its address."""
    beside = Path(sys.executable).with_name("moto_server")
    binary = str(beside) if beside.exists() else shutil.which("moto_server")
    assert binary is not None
    address = f"http://127.0.0.1:{(port := free_port())}"
    words = [binary, "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + READY_SECONDS
        while True:
            try:
                make = urllib.request.Request(f"{address}/{BUCKET}", method="PUT")  # noqa: S310 - of ours
                urllib.request.urlopen(make, timeout=READY_SECONDS).close()  # noqa: S310 - of ours
                break
            except (URLError, OSError):
                assert process.poll() is None, "the S3 server ended"
                assert time.monotonic() < deadline, "the S3 server does not get ready"
                time.sleep(POLL_SECONDS)
        yield address
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    """One server for the whole run."""
    with s3_running() as address:
        yield address


def s3_environment(address: str) -> dict[str, str]:
    """The variables with which an S3 client finds this server."""
    return {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "somebody",
        "AWS_SECRET_ACCESS_KEY": "something",
        "AWS_REGION": "us-east-1",
    }


@pytest.fixture
def s3_place(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A fresh prefix in the bucket, with the environment to reach it."""
    for name, value in s3_environment(s3_server).items():
        monkeypatch.setenv(name, value)
    return f"s3://{BUCKET}/{uuid.uuid4().hex}"


@pytest.fixture(params=["folder", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Run the test with each kind of place in turn."""
    return str(tmp_path / "archive") if request.param == "folder" else str(request.getfixturevalue("s3_place"))


@pytest.fixture
def archive(place: str) -> Archive:
    """An archive at this place."""
    return open_archive(place)
