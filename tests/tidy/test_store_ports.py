"""The store's ports: parts of the server name only those that they use, and no class passes many calls on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tests.tidy.test_names import ROOT, modules

MOST_FORWARDED: Final = 5
"""Methods of one class that only call the same method of another object."""

PORT: Final = "service/rollbook/storage/port.py"
WHOLE: Final = "MatchStore"
HOLDERS: Final = {PORT, "service/rollbook/server/given.py"}
"""Modules that may name the whole store."""


def forwards(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a method, after its docstring, only calls the method of the same name of an attribute of `self`."""
    match [statement for statement in method.body if not isinstance(getattr(statement, "value", None), ast.Constant)]:
        case [ast.Return(value=value) | ast.Expr(value=value)]:
            call = value.value if isinstance(value, ast.Await) else value
            target = call.func if isinstance(call, ast.Call) else call
            return (
                isinstance(target, ast.Attribute)
                and target.attr == method.name
                and isinstance(target.value, ast.Attribute)
                and isinstance(target.value.value, ast.Name)
                and target.value.value.id == "self"
            )
    return False


def classes() -> Iterator[tuple[str, ast.ClassDef]]:
    """Every class of the product, with its module, and those of the stores for tests."""
    stores = ("tests/sim/store.py", "tests/storage/memory.py")
    for module in (*map(str, modules()), *stores):
        for node in ast.walk(ast.parse((ROOT / module).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                yield module, node


def test_no_class_passes_many_calls_on() -> None:
    """A class that does has an object behind it that its callers should receive instead."""
    forwarded = {
        f"{module}:{node.name}": [
            method.name
            for method in node.body
            if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and forwards(method)
        ]
        for module, node in classes()
    }
    assert {} == {name: methods for name, methods in forwarded.items() if len(methods) > MOST_FORWARDED}


def test_only_the_composition_names_the_whole_store() -> None:
    """Every other part names the ports that it uses."""
    named = {str(module) for module in modules() if WHOLE in (ROOT / module).read_text(encoding="utf-8")}
    assert HOLDERS == named
