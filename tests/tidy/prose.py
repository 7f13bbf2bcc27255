"""Sentences of this repository: docstrings, comments, documents and texts for users, each line with its place."""

from __future__ import annotations

import ast
import inspect
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tests.tidy.test_names import ROOT

FEWEST_WORDS: Final = 4
"""A string of fewer words is a name or a label, not a sentence."""

_CODE: Final = re.compile(r"`[^`\n]*`")
_NOT_FOR_READERS: Final = re.compile(r"^(noqa|type:|fmt:|pragma)")
_BEGINS: Final = re.compile(r" *([-*] |\d+\. |[|#>])")
"""The beginning of a list item, a table row or a heading."""

_NO_SENTENCE: Final = ("|", "#", "<!--", ">>>", "---")
_END_OF_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[A-ZÄÖÜ`\"\d])")


class Line(NamedTuple):
    """One line of prose."""

    path: Path
    """Relative to the repository."""
    number: int
    text: str

    @property
    def words(self) -> int:
        """The number of words."""
        return len(self.text.split())


class Paragraph(NamedTuple):
    """Lines that belong together, in one piece."""

    path: Path
    number: int
    """The line that the paragraph begins on."""
    text: str

    @property
    def sentences(self) -> list[str]:
        """The sentences of at least FEWEST_WORDS words."""
        return [each for each in _END_OF_SENTENCE.split(self.text) if len(without_code(each).split()) >= FEWEST_WORDS]


def without_code(text: str) -> str:
    """Replace inline code by one letter: names are no prose, but count as one word."""
    return _CODE.sub("x", text)


def files(folder: str, *endings: str) -> list[Path]:
    """Return the hand-written files below a folder with these endings, relative to the repository."""
    found = (path for ending in endings for path in (ROOT / folder).rglob(f"*{ending}"))
    return sorted(path.relative_to(ROOT) for path in found if "_pb2" not in path.name and ".venv" not in path.parts)


def docstrings(path: Path) -> Iterator[Line]:
    """Yield the lines of all docstrings of a module, those of attributes included."""
    for node in _docstring_nodes(ast.parse(_read(path))):
        yield from _lines_of(path, node.lineno, str(node.value))


def comments(path: Path) -> Iterator[Line]:
    """Yield the comments of a module, directives for tools excepted."""
    for token in tokenize.generate_tokens(io.StringIO(_read(path)).readline):
        text = token.string.lstrip("#: ")
        if token.type == tokenize.COMMENT and not _NOT_FOR_READERS.match(text):
            yield Line(path, token.start[0], text)


def literals(path: Path) -> Iterator[Line]:
    """Yield the lines of the string literals with at least FEWEST_WORDS words, docstrings excepted."""
    tree = ast.parse(_read(path))
    seen: set[ast.AST] = set(_docstring_nodes(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            seen |= set(node.values)
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in seen:
            text = node.value
        else:
            continue
        if len(text.split()) >= FEWEST_WORDS:
            yield from _lines_of(path, node.lineno, text)


def document(path: Path) -> Iterator[Line]:
    """Yield the lines of a Markdown file, code blocks excepted."""
    is_code = False
    for number, text in enumerate(_read(path).splitlines(), 1):
        if text.startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield Line(path, number, text)


def proto_comments(path: Path) -> Iterator[Line]:
    """Yield the lines of the comments of a proto."""
    for number, text in enumerate(_read(path).splitlines(), 1):
        _, mark, comment = text.partition("//")
        if mark:
            yield Line(path, number, comment.strip())


def paragraphs(lines: Iterator[Line]) -> Iterator[Paragraph]:
    """Join lines that follow one another; list items, other indentation and empty lines begin a new paragraph."""
    begun: list[Line] = []
    for line in lines:
        if begun and not _continues(begun, line):
            yield _joined(begun)
            begun = []
        if line.text.strip() and not line.text.lstrip().startswith(_NO_SENTENCE):
            begun.append(line)
    if begun:
        yield _joined(begun)


def _continues(begun: list[Line], line: Line) -> bool:
    if line.number != begun[-1].number + 1 or not line.text.strip() or _BEGINS.match(line.text):
        return False
    first, here = (len(text) - len(text.lstrip()) for text in (begun[0].text, line.text))
    return here > first if _BEGINS.match(begun[0].text) else here == first


def _joined(lines: list[Line]) -> Paragraph:
    text = " ".join(line.text.strip() for line in lines)
    return Paragraph(lines[0].path, lines[0].number, re.sub(r"^([-*]|\d+\.) ", "", text))


def _read(path: Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def _lines_of(path: Path, first: int, text: str) -> Iterator[Line]:
    for number, line in enumerate(inspect.cleandoc(text).splitlines(), first):
        yield Line(path, number, line)


def _docstring_nodes(tree: ast.AST) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        for statement in getattr(node, "body", None) or () if not isinstance(node, ast.Lambda | ast.IfExp) else ():
            match statement:
                case ast.Expr(ast.Constant(str()) as value):
                    yield value
