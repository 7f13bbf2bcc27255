"""Output of commands for programs: one JSON object a line."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

from cyclopts import Parameter

AsJson: TypeAlias = Annotated[bool, Parameter(name="--json", negative="")]
"""The flag `--json` of a command."""


def print_json(facts: Mapping[str, Any]) -> None:
    """Print one object and flush."""
    print(json.dumps(facts, ensure_ascii=False), flush=True)
