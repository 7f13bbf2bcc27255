"""The output of `--json`, and whether the help of the command explains it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any


def objects(command: Callable[..., int], output: str) -> list[dict[str, Any]]:
    """The objects that a command printed, one a line; the text of its flag `--json` names every field."""
    found = [json.loads(line) for line in output.splitlines()]
    explained = re.findall(r"\w+", (command.__doc__ or "").partition("    as_json\n")[2])
    assert {name for each in found for name in each} <= set(explained)
    return found
