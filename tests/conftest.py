"""Setup for all tests."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.failures import Failures

# A process started in the background of a script ignores Ctrl-C, and so do its children; processes that tests start
# have to receive it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Services of tests have no page, except in tests of the page.
os.environ["ROLLBOOK_WEB"] = "off"


def pytest_configure(config: pytest.Config) -> None:
    """Record failures if the gate asks for them; the main process writes those of all workers."""
    file = os.environ.get("GATE_FAILURES")
    if file and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Failures(Path(file)))
