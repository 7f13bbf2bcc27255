"""Text to be drawn: characters with the names of their styles, and how many columns of a terminal they take.

A style is a name that says what something is (`seat0`, `die`, `muted`), or several with spaces between; how that looks
is for whoever draws to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

import wcwidth

WIDTH: Final = 80
"""Every board fits."""

STRONG: Final = "strong"
MUTED: Final = "muted"
SPOT: Final = "at:"
"""A style that begins like this names a place that can be clicked, and looks like nothing."""


@dataclass(frozen=True, slots=True)
class Text:
    """One line, as spans of characters with their style."""

    spans: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, *parts: Part) -> Text:
        """A line put together from strings, strings with a style, and other lines.

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
    def joined(cls, between: Part, parts: Iterable[Part]) -> Text:
        """The parts with something between them.

        >>> Text.joined(", ", ["a", "b", "c"]).plain
        'a, b, c'
        """
        first, *others = parts
        return cls.of(first, *(part for other in others for part in (between, other)))

    @property
    def plain(self) -> str:
        """The characters alone."""
        return "".join(text for text, _ in self.spans)

    @property
    def width(self) -> int:
        """How many columns it takes."""
        return sum(width(text) for text, _ in self.spans)

    def __add__(self, other: Text) -> Text:
        return Text(self.spans + other.spans)

    def styled(self, style: str) -> Text:
        """With this style as well, everywhere."""
        return Text(tuple((text, f"{style} {had}".strip()) for text, had in self.spans))

    def at(self, spot: object) -> Text:
        """As a place of this name."""
        return self.styled(f"{SPOT}{spot}")

    def padded(self, to: int, style: str = "") -> Text:
        """With spaces behind it."""
        return Text.of(self, (" " * (to - self.width), style))

    def centred(self, to: int, style: str = "") -> Text:
        """In the middle."""
        return Text.of((" " * ((to - self.width) // 2), style), self).padded(to, style)

    def cut(self, most: int) -> Text:
        """Without what is too much."""
        spans = []
        left = most
        for text, style in self.spans:
            spans.append((fitted(text, left, ""), style))
            left -= width(text)
            if left <= 0:
                break
        return Text.of(*spans)

    def wrapped(self, wide: int = WIDTH, indent: int = 0) -> Iterator[Text]:
        """On as many lines as it takes, broken at spaces; all but the first are indented.

        >>> [line.plain for line in Text.of("one two three").wrapped(8, 1)]
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
    """For pipes and files: characters alone, and nothing behind the last one of a line."""
    return "".join(f"{line.plain.rstrip()}\n" for line in lines)


def printable(text: str) -> str:
    r"""A stranger's text, that can neither steer a terminal nor turn the text around it.

    >>> printable("An\x1b[2Jna")
    'An�[2Jna'
    """
    return "".join(character if _is_harmless(character) else "\N{REPLACEMENT CHARACTER}" for character in text)


def _is_harmless(character: str) -> bool:
    return character.isprintable() or character in "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"


def called(names: Sequence[str], most: int = 24) -> tuple[str, ...]:
    """What the seats are called where somebody reads: names, cut to so many columns, or numbers for want of a name."""
    return tuple(fitted(printable(name), most) or f"seat {seat}" for seat, name in enumerate(names))


@lru_cache(maxsize=4096)
def width(text: str) -> int:
    """How many columns of a terminal the text takes."""
    return wcwidth.width(text)


def fitted(text: str, most: int, ellipsis: str = "…") -> str:
    """The text, cut where it is too wide.

    >>> fitted("Christiane", 6)
    'Chris…'
    """
    if width(text) <= most:
        return text
    while text and width(text + ellipsis) > most:
        text = text[:-1]
    return text + ellipsis


def padded(text: str, to: int) -> str:
    """The text with spaces behind it."""
    return text + " " * (to - width(text))
