"""Programs that the gate installs and a developer's machine may lack."""

from __future__ import annotations

import os
import shutil

import pytest


def tool(name: str) -> str:
    """The program's path; without it the test is skipped, but fails in the gate, which installs it."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if found is None:
        assert os.environ.get("CI") != "true", f"the gate has to install {name}"
        pytest.skip(f"there is no {name} here")
    return found
