"""The examples in the SDK's documentation do what they say, against a real service."""

from __future__ import annotations

import ast
import asyncio
import textwrap
from collections.abc import Coroutine, Iterator
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from tests.clients.sdk.tables import service

MODULES = ("rollbook_clients.sdk", "rollbook_clients.sdk.table", "rollbook_clients.sdk.sync")


def examples() -> Iterator[tuple[str, str]]:
    """Every indented block of code in the modules' documentation, with the name of its module."""
    for name in MODULES:
        text = import_module(name).__doc__ or ""
        block: list[str] = []
        for line in [*text.splitlines(), "end"]:
            if line.startswith("    ") or (block and not line):
                block.append(line)
            elif block:
                yield name, textwrap.dedent("\n".join(block)).strip()
                block = []


def run(code: str) -> None:
    """Run an example as the asyncio console would."""
    compiled = compile(code, "example", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    function: Any = FunctionType(compiled, {})
    result = function()
    if isinstance(result, Coroutine):
        asyncio.run(asyncio.wait_for(result, 60))


def test_every_example_in_the_documentation_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Documentation that is not run is wrong before long."""
    found = list(examples())
    assert 4 == len(found)
    with service(tmp_path) as one:
        for _, code in found:
            assert "localhost:50051" in code
            run(code.replace("localhost:50051", one.address))
    said = capsys.readouterr().out
    assert "chosen" in said
    assert "places: " in said
    assert "NOT_STARTED" in said or "NOT_SEATED" in said
    assert "Raffzahn 2 to" in said or "Raffzahn 3 to" in said
    assert "I sit on seat 0" in said
