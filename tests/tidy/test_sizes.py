"""Modules stay so small that one can be read in one go."""

from __future__ import annotations

import ast
from typing import Final

from tests.tidy.test_names import ROOT, modules

MOST_LINES: Final = 400
EXCUSE: Final = f"more than {MOST_LINES} lines"
"""Stands in the docstring of a module that has more, in the sentence that says why."""


def measured() -> dict[str, tuple[int, bool]]:
    """For every module how many lines it has, and whether its docstring says why these are so many."""
    found = {}
    for module in modules():
        text = (ROOT / module).read_text(encoding="utf-8")
        found[str(module)] = len(text.splitlines()), EXCUSE in (ast.get_docstring(ast.parse(text)) or "")
    return found


def test_a_module_is_one_idea_and_has_at_most_400_lines() -> None:
    """What is longer has a second idea in it, or says at its top why it has not."""
    long = {module: lines for module, (lines, says_why) in measured().items() if lines > MOST_LINES and not says_why}
    assert {} == long


def test_only_long_modules_say_why_they_are_long() -> None:
    """An excuse that is not needed any more invites to use it."""
    assert [] == [module for module, (lines, says_why) in measured().items() if says_why and lines <= MOST_LINES]
