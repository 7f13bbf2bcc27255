"""Parses the output of `--json` and checks that the command's help explains every field."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any


def objects(command: Callable[..., int], output: str) -> list[dict[str, Any]]:
    """Return the printed objects, one per line; the help of the flag `--json` must name every field."""
    found = [json.loads(line) for line in output.splitlines()]
    explained = re.findall(r"\w+", (command.__doc__ or "").partition("    as_json\n")[2])
    assert {name for each in found for name in each} <= set(explained)
    return found
