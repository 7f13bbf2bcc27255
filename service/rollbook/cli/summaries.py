"""One-line summaries of commands, read from their source files without importing them."""

from __future__ import annotations

import ast
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path


def summary(command: EntryPoint) -> str:
    """The first line of the docstring of a command, or of the help of an App; empty if its source cannot be read.

    >>> summary(EntryPoint("games", "rollbook.cli.commands.games:games", "rollbook.commands"))
    'List the games with their seats and options.'
    """
    try:
        spec = find_spec(command.module)
        source = b"" if spec is None or spec.origin is None else Path(spec.origin).read_bytes()
        module = ast.parse(source)
    except (ImportError, OSError, SyntaxError, ValueError):
        return ""
    for node in module.body:
        match node:
            case ast.FunctionDef(name=name) if name == command.attr:
                return (ast.get_docstring(node) or "").partition("\n")[0]
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(keywords=given)) if name == command.attr:
                texts = (each.value for each in given if each.arg == "help")
                return "".join(str(text.value) for text in texts if isinstance(text, ast.Constant)).partition("\n")[0]
    return ""
