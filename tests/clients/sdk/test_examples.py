"""The examples in the SDK's documentation work against a real service."""

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

from rollbook_clients.sdk import connect
from tests.clients.sdk.tables import service

README = Path(__file__).parents[3] / "README.md"
MODULES = ("rollbook_clients.sdk", "rollbook_clients.sdk.table", "rollbook_clients.sdk.sync")


def examples() -> Iterator[tuple[str, str]]:
    """Yield every indented code block of the modules' documentation with the name of its module."""
    for name in MODULES:
        text = import_module(name).__doc__ or ""
        block: list[str] = []
        for line in [*text.splitlines(), "end"]:
            if line.startswith("    ") or (block and not line):
                block.append(line)
            elif block:
                code = textwrap.dedent("\n".join(block)).strip()
                if "import" in code:
                    yield name, code
                block = []


def begun(code: str) -> Any:
    """Run an example as the asyncio console would; returns its awaitable, or None."""
    compiled = compile(code, "example", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    function: Any = FunctionType(compiled, {})
    return function()


def run(code: str) -> None:
    """Run an example to its end."""
    result = begun(code)
    if isinstance(result, Coroutine):
        asyncio.run(asyncio.wait_for(result, 60))


def test_every_example_in_the_documentation_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All examples run in order against one service."""
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


def test_the_example_of_the_readme_plays_a_match_to_its_end(tmp_path: Path) -> None:
    """The README's first example plays against a bot of the house."""
    _, _, rest = README.read_text(encoding="utf-8").partition("```python\n")
    code, _, _ = rest.partition("```")
    with service(tmp_path) as one:
        run(code.replace("localhost:50051", one.address))

        async def played() -> None:
            async with connect(one.address) as somebody:
                (match,) = [summary async for summary in somebody.matches(player="Anna")]
            assert [("Anna", False), ("Uno", True)] == [(seat.name, seat.is_house) for seat in match.seats]
            assert [1, 2] == sorted(match.places.places)

        asyncio.run(asyncio.wait_for(played(), 60))
