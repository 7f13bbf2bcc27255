"""The single changes that can be made to a module, found in its syntax tree and made in its text.

A change replaces a few bytes and leaves the rest of the file unchanged, so that line numbers stay. Changes of messages,
docstrings, log lines, annotations or the layout of classes are left out: tests need not notice them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

COMPARISONS: Final[Mapping[type[ast.cmpop], tuple[str, tuple[str, ...]]]] = {
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
}
"""The text of each comparison, and its replacement."""

ARITHMETIC: Final[Mapping[type[ast.operator], tuple[str, str]]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "//"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}

EXTREMES: Final[Mapping[str, str]] = {"min": "max", "max": "min", "any": "all", "all": "any"}

LOG_METHODS: Final = frozenset({"debug", "info", "warning", "error", "exception", "critical"})
LOGGERS: Final = frozenset({"log", "_log", "logger", "_logger"})
LAYOUT_NAMES: Final = frozenset({"__slots__", "__all__", "__match_args__"})
HARMLESS_KEYWORDS: Final = frozenset({"strict", "daemon"})
"""Arguments that only report errors of the code itself."""

CONSTRUCTORS: Final = frozenset({"__init__", "__post_init__"})


@dataclass(frozen=True, slots=True)
class Change:
    """One change to one file."""

    path: str
    """The path of the file, from the root of the repository."""
    line: int
    lines: range
    """The lines of its statement; of a compound statement those of the head."""
    start: int
    """The first byte that is replaced."""
    end: int
    new: bytes
    what: str
    """The change in words."""
    code: str
    """The line before the change."""
    in_function: bool
    """Whether it runs when a function is called, not when the module is imported."""

    def __str__(self) -> str:
        """Return place and change, as reports print them."""
        return f"{self.path}:{self.line}: {self.what}  in  {self.code}"

    def made_in(self, source: bytes) -> bytes:
        """Return the file with the change."""
        return source[: self.start] + self.new + source[self.end :]


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    new: str
    what: str


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of a node in a module."""

    lines: range
    function: str = ""
    """The enclosing function; empty at the top of a module or a class."""


class _Text:
    """A module's bytes, addressed by the positions of its nodes."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def start(self, node: Any) -> int:
        return int(self._starts[node.lineno - 1] + node.col_offset)

    def end(self, node: Any) -> int:
        return int(self._starts[node.end_lineno - 1] + node.end_col_offset)

    def of(self, node: ast.AST) -> str:
        return self.between(self.start(node), self.end(node))

    def between(self, start: int, end: int) -> str:
        return self._source[start:end].decode()

    def line_of(self, start: int) -> int:
        return self._source.count(b"\n", 0, start) + 1

    def line(self, number: int) -> str:
        return self.between(self._starts[number - 1], self._starts[number]).strip()

    def replaced(self, node: ast.AST, new: str) -> _Edit:
        return _Edit(self.start(node), self.end(node), new, f"{_short(self.of(node))} → {_short(new)}")

    def operator(self, left: ast.AST, old: str, new: str, right: ast.AST) -> Iterator[_Edit]:
        """Replace the operator between two operands."""
        start, end = self.end(left), self.start(right)
        found = re.search(re.escape(old).replace(r"\ ", r"\s+"), self.between(start, end))
        if found is not None:
            yield _Edit(start + found.start(), start + found.end(), new, f"{old} → {new}")


def changes(path: str, source: bytes) -> list[Change]:
    """Return all changes to this file, in order; a few may have no effect, or give an invalid module."""
    text = _Text(source)
    found = []
    for node, place in _walk(ast.parse(source), _Place(range(0))):
        for edit in _edits(text, node, place):
            line = text.line_of(edit.start)
            found.append(
                Change(
                    path,
                    line,
                    place.lines,
                    edit.start,
                    edit.end,
                    edit.new.encode(),
                    edit.what,
                    text.line(line),
                    in_function=bool(place.function),
                )
            )
    return sorted(found, key=lambda change: (change.start, change.end, change.new))


def means_something_else(before: bytes, after: bytes) -> bool:
    """Whether the changed module is valid and differs from the original one."""
    try:
        return ast.dump(ast.parse(after)) != ast.dump(ast.parse(before))
    except SyntaxError:
        return False


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 40 else f"{words[:39]}…"


# The nodes to change


def _walk(node: ast.AST, place: _Place) -> Iterator[tuple[ast.AST, _Place]]:
    """Yield the nodes that may be changed, each with its place."""
    for child in _children(node):
        if _is_harmless(child):
            continue
        inner = place
        if isinstance(child, ast.stmt):
            # Defaults of a function are no statements: they run with the code around it.
            inner = _Place(_lines(child), _function(node) or place.function)
        yield child, inner
        yield from _walk(child, inner)


def _function(node: ast.AST) -> str:
    return node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else ""


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the children of a node, without decorators, bases, annotations and messages."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from node.args.defaults
        yield from filter(None, node.args.kw_defaults)
        yield from node.body
    elif isinstance(node, ast.ClassDef):
        yield from node.body
    elif isinstance(node, ast.AnnAssign):
        if node.value is not None:
            yield node.value
    elif not isinstance(node, ast.Raise | ast.JoinedStr | ast.Assert):
        yield from ast.iter_child_nodes(node)


def _is_harmless(node: ast.AST) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom | ast.JoinedStr):
        return True
    if isinstance(node, ast.keyword):
        return node.arg in HARMLESS_KEYWORDS
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = {target.id for target in targets if isinstance(target, ast.Name)}
        return bool(names & LAYOUT_NAMES) or (isinstance(node, ast.Assign) and _is_type(node.value))
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) or _is_log_line(node.value) or _is_parents_init(node.value)
    return False


def _is_type(value: ast.AST) -> bool:
    """Whether the node names a type, such as `Annotated[int, …]`."""
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id in {"TypeVar", "NewType"}
    return isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name) and value.value.id == "Annotated"


def _is_log_line(value: ast.AST) -> bool:
    if isinstance(value, ast.Await):
        value = value.value
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    owner = value.func.value
    name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    return name in LOGGERS and value.func.attr in LOG_METHODS


def _is_parents_init(value: ast.AST) -> bool:
    """Whether the node is `super().__init__(…)`, which only keeps the message of an exception."""
    return isinstance(value, ast.Call) and ast.unparse(value.func) == "super().__init__"


def _lines(statement: ast.stmt) -> range:
    """Return the lines of a statement, or of the head of a compound one."""
    last = statement.end_lineno or statement.lineno
    body: Sequence[ast.AST] = getattr(statement, "body", ()) or getattr(statement, "cases", ())
    for first in body[:1]:
        last = max(statement.lineno, getattr(first, "lineno", last + 1) - 1)
    return range(statement.lineno, last + 1)


# The changes of a node


def _edits(text: _Text, node: ast.AST, place: _Place) -> Iterator[_Edit]:
    for kind, edits in _EDITS.items():
        if isinstance(node, kind):
            yield from edits(text, node)
    if not place.function and isinstance(node, ast.Tuple | ast.List | ast.Set):
        yield from _without_elements(text, node.elts)
    if not place.function and isinstance(node, ast.Dict) and None not in node.keys:
        yield from _without_entries(text, node)
    if isinstance(node, ast.Continue):
        yield text.replaced(node, "break")
    if isinstance(node, ast.stmt) and _can_be_dropped(node, place.function):
        yield _Edit(text.start(node), text.end(node), "pass", "dropped")


def _comparisons(text: _Text, node: ast.Compare) -> Iterator[_Edit]:
    for (left, right), operator in zip(pairwise([node.left, *node.comparators]), node.ops, strict=True):
        old, others = COMPARISONS[type(operator)]
        for new in others:
            yield from text.operator(left, old, new, right)
        if isinstance(operator, ast.In | ast.NotIn) and isinstance(right, ast.Tuple | ast.List | ast.Set):
            yield from _without_elements(text, right.elts)


def _and_or(text: _Text, node: ast.BoolOp) -> Iterator[_Edit]:
    old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    for left, right in pairwise(node.values):
        yield from text.operator(left, old, new, right)


def _arithmetic(text: _Text, node: ast.BinOp) -> Iterator[_Edit]:
    if type(node.op) in ARITHMETIC and not any(_is_text(side) or _is_class(side) for side in (node.left, node.right)):
        old, new = ARITHMETIC[type(node.op)]
        yield from text.operator(node.left, old, new, node.right)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_class(node: ast.AST) -> bool:
    """Whether the node is named like a class, as in `isinstance(event, Chosen | TimedOut)`."""
    name = node.id if isinstance(node, ast.Name) else ""
    return name[:1].isupper() and not name.isupper()


def _in_place(text: _Text, node: ast.AugAssign) -> Iterator[_Edit]:
    if type(node.op) in ARITHMETIC and not _is_text(node.value):
        old, new = ARITHMETIC[type(node.op)]
        yield from text.operator(node.target, f"{old}=", f"{new}=", node.value)


def _negations(text: _Text, node: ast.UnaryOp) -> Iterator[_Edit]:
    if isinstance(node.op, ast.Not):
        yield text.replaced(node, text.of(node.operand))


def _constants(text: _Text, node: ast.Constant) -> Iterator[_Edit]:
    if isinstance(node.value, bool):
        yield text.replaced(node, str(not node.value))
    elif isinstance(node.value, int):
        yield text.replaced(node, str(node.value + 1))
        yield text.replaced(node, f"({node.value - 1})" if node.value < 1 else str(node.value - 1))


def _conditions(text: _Text, node: ast.If | ast.IfExp | ast.While) -> Iterator[_Edit]:
    if isinstance(node.test, ast.Name | ast.Attribute | ast.Call):
        yield text.replaced(node.test, f"not {text.of(node.test)}")


def _filters(text: _Text, node: ast.comprehension) -> Iterator[_Edit]:
    for condition in node.ifs:
        yield text.replaced(condition, "True")


def _extremes(text: _Text, node: ast.Call) -> Iterator[_Edit]:
    if isinstance(node.func, ast.Name) and node.func.id in EXTREMES:
        yield text.replaced(node.func, EXTREMES[node.func.id])


def _without_elements(text: _Text, elements: Sequence[ast.expr]) -> Iterator[_Edit]:
    """Remove each element of a list of allowed or counted values."""
    if len(elements) < 2:  # an empty list would have another meaning
        return
    for element, behind in pairwise(elements):
        yield _Edit(text.start(element), text.start(behind), "", f"left out: {_short(text.of(element))}")
    before, last = elements[-2:]
    yield _Edit(text.end(before), text.end(last), ",", f"left out: {_short(text.of(last))}")


def _without_entries(text: _Text, node: ast.Dict) -> Iterator[_Edit]:
    keys = [key for key in node.keys if key is not None]
    for key, behind in pairwise(keys):
        yield _Edit(text.start(key), text.start(behind), "", f"left out: {_short(text.of(key))}")
    if len(keys) > 1:
        yield _Edit(text.end(node.values[-2]), text.end(node.values[-1]), ",", f"left out: {_short(text.of(keys[-1]))}")


def _can_be_dropped(node: ast.stmt, function: str) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call)
    if isinstance(node, ast.Assign):
        return function not in CONSTRUCTORS and not any(isinstance(target, ast.Name) for target in node.targets)
    return isinstance(node, ast.Raise | ast.AugAssign | ast.Delete | ast.Break | ast.Continue)


_EDITS: Final[Mapping[type[ast.AST], Callable[[_Text, Any], Iterator[_Edit]]]] = {
    ast.Compare: _comparisons,
    ast.BoolOp: _and_or,
    ast.BinOp: _arithmetic,
    ast.AugAssign: _in_place,
    ast.UnaryOp: _negations,
    ast.Constant: _constants,
    ast.If: _conditions,
    ast.IfExp: _conditions,
    ast.While: _conditions,
    ast.comprehension: _filters,
    ast.Call: _extremes,
}
