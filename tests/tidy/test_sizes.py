"""Modules are short enough to be read in one go."""

from __future__ import annotations

import ast
from typing import Final

from tests.tidy.test_names import ROOT, modules

MOST_LINES: Final = 400
EXCUSE: Final = f"more than {MOST_LINES} lines"
"""A longer module has these words in its docstring, in the sentence with the reason."""


def measured() -> dict[str, tuple[int, bool]]:
    """Return for every module its number of lines, and whether its docstring has the reason."""
    found = {}
    for module in modules():
        text = (ROOT / module).read_text(encoding="utf-8")
        found[str(module)] = len(text.splitlines()), EXCUSE in (ast.get_docstring(ast.parse(text)) or "")
    return found


def test_a_module_is_one_idea_and_has_at_most_400_lines() -> None:
    """A longer module has a second idea in it, or its docstring has the reason why not."""
    long = {module: lines for module, (lines, says_why) in measured().items() if lines > MOST_LINES and not says_why}
    assert {} == long


def test_only_long_modules_say_why_they_are_long() -> None:
    """An outdated excuse would invite more lines."""
    assert [] == [module for module, (lines, says_why) in measured().items() if says_why and lines <= MOST_LINES]
