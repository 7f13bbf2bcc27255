"""Styled text: lines of characters with the names of their styles, measured in columns of a terminal.

A style is a name for a kind of thing (`seat0`, `die`, `muted`), or several names with spaces between. The renderer
decides how a style looks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

import wcwidth

WIDTH: Final = 80
"""Columns; every board fits into this width."""

STRONG: Final = "strong"
MUTED: Final = "muted"
SPOT: Final = "at:"
"""Prefix of a style that names a clickable place; such a style has no look."""


@dataclass(frozen=True, slots=True)
class Text:
    """One line, as spans of characters with their style."""

    spans: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, *parts: Part) -> Text:
        """Build a line from strings, strings with a style, and other lines.

        >>> Text.of("a ", ("b", "strong")).plain
        'a b'
        """
        spans: list[tuple[str, str]] = []
        for part in parts:
            if isinstance(part, Text):
                spans += part.spans
            else:
                spans.append((part, "") if isinstance(part, str) else part)
        return cls(tuple(span for span in spans if span[0]))

    @classmethod
    def join(cls, between: Part, parts: Iterable[Part]) -> Text:
        """Join the parts with a separator.

        >>> Text.join(", ", ["a", "b", "c"]).plain
        'a, b, c'
        """
        first, *others = parts
        return cls.of(first, *(part for other in others for part in (between, other)))

    @property
    def plain(self) -> str:
        """The characters without their styles."""
        return "".join(text for text, _ in self.spans)

    @property
    def width(self) -> int:
        """Width of the line in columns."""
        return sum(width(text) for text, _ in self.spans)

    def __add__(self, other: Text) -> Text:
        return Text(self.spans + other.spans)

    def with_style(self, style: str) -> Text:
        """The line with this style added to all spans."""
        return Text(tuple((text, f"{style} {had}".strip()) for text, had in self.spans))

    def at(self, spot: object) -> Text:
        """The line as the clickable place `spot`."""
        return self.with_style(f"{SPOT}{spot}")

    def pad(self, to: int, style: str = "") -> Text:
        """The line with spaces appended up to a width of `to`."""
        return Text.of(self, (" " * (to - self.width), style))

    def centre(self, to: int, style: str = "") -> Text:
        """The line in the middle of `to` columns."""
        return Text.of((" " * ((to - self.width) // 2), style), self).pad(to, style)

    def clip(self, most: int) -> Text:
        """The line cut to at most `most` columns."""
        spans = []
        left = most
        for text, style in self.spans:
            spans.append((fit(text, left, ""), style))
            left -= width(text)
            if left <= 0:
                break
        return Text.of(*spans)

    def wrap(self, wide: int = WIDTH, indent: int = 0) -> Iterator[Text]:
        """The line broken at spaces into lines of at most `wide` columns; all but the first are indented.

        >>> [line.plain for line in Text.of("one two three").wrap(8, 1)]
        ['one two', ' three']
        """
        line: Text | None = None
        for word in self._words():
            if line is None:
                line = word
            elif line.width + 1 + word.width > wide:
                yield line
                line = Text.of(" " * indent, word)
            else:
                line = Text.of(line, " ", word)
        yield line or self

    def _words(self) -> Iterator[Text]:
        word = Text()
        for text, style in self.spans:
            first, *others = text.split(" ")
            word += Text.of((first, style))
            for other in others:
                yield word
                word = Text.of((other, style))
        yield word


Part: TypeAlias = str | tuple[str, str] | Text


def plain(lines: Iterable[Text]) -> str:
    """The lines for pipes and files: without styles and without spaces at the end of a line."""
    return "".join(f"{line.plain.rstrip()}\n" for line in lines)


def printable(text: str) -> str:
    r"""A stranger's text with control characters replaced, so that it cannot steer a terminal or reorder other text.

    >>> printable("An\x1b[2Jna")
    'An�[2Jna'
    """
    return "".join(character if _is_harmless(character) else "\N{REPLACEMENT CHARACTER}" for character in text)


def _is_harmless(character: str) -> bool:
    return character.isprintable() or character in "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"


def seat_names(names: Sequence[str], most: int = 24) -> tuple[str, ...]:
    """The names of the seats for people, cut to `most` columns; a seat without a name is `seat NUMBER`."""
    return tuple(fit(printable(name), most) or f"seat {seat}" for seat, name in enumerate(names))


@lru_cache(maxsize=4096)
def width(text: str) -> int:
    """Width of the text in columns of a terminal."""
    return wcwidth.width(text)


def fit(text: str, most: int, ellipsis: str = "…") -> str:
    """The text cut to at most `most` columns.

    >>> fit("Christiane", 6)
    'Chris…'
    """
    if width(text) <= most:
        return text
    while text and width(text + ellipsis) > most:
        text = text[:-1]
    return text + ellipsis


def pad_text(text: str, to: int) -> str:
    """The text with spaces appended up to a width of `to`."""
    return text + " " * (to - width(text))
