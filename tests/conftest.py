"""What all tests rely on."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.failures import Failures

# Whatever was started in the background of a script ignores Ctrl-C, and so do all processes that it starts; those that
# the tests start have to hear it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Services that tests start have no page, unless a test is about it.
os.environ["ROLLBOOK_WEB"] = "off"


def pytest_configure(config: pytest.Config) -> None:
    """Write down failures where the gate asks for them; the workers report theirs to the process that writes."""
    file = os.environ.get("GATE_FAILURES")
    if file and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Failures(Path(file)))
