"""Lays out the guide of a game, its rules in words, as headings, paragraphs and items.

A line that begins with `# ` is a heading, and one that begins with `- ` is an item. Every other line continues the
paragraph or item before it, up to an empty line.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rollbook_replays.games.blocks import Block
from rollbook_replays.games.presentation import Presentation
from rollbook_replays.text import STRONG, WIDTH, Text

HEADING: Final = "# "
ITEM: Final = "- "


def guide(shown: Presentation, language: str, wide: int = WIDTH) -> Block:
    """The rules in this language, else in English; empty if the game has no guide."""
    text = shown.guide.get(language) or shown.guide.get("en", "")
    lines: Block = []
    for part in _parts(text):
        if part.startswith(HEADING):
            lines += [Text()] if lines and lines[-1].plain else []
            lines.append(Text.of((part.removeprefix(HEADING), STRONG)))
        elif part.startswith(ITEM):
            lines += Text.of(f"• {part.removeprefix(ITEM)}").wrap(wide, 2)
        elif part:
            lines += Text.of(part).wrap(wide)
        elif lines and lines[-1].plain:
            lines.append(Text())
    return lines


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with the paragraphs and items below it."""

    heading: str
    parts: list[tuple[bool, str]]
    """Each text, and whether it is an item of a list."""


def sections(shown: Presentation, language: str) -> list[Section]:
    """The rules in this language, else in English, by their headings; empty if the game has no guide."""
    found: list[Section] = []
    for part in _parts(shown.guide.get(language) or shown.guide.get("en", "")):
        if part.startswith(HEADING):
            found.append(Section(part.removeprefix(HEADING), []))
        elif part and found:
            found[-1].parts.append((part.startswith(ITEM), part.removeprefix(ITEM)))
    return found


def _parts(text: str) -> Iterator[str]:
    """Yield headings, paragraphs and items, each as one line, and an empty line at the end of a paragraph."""
    part = ""
    for line in text.strip().splitlines():
        if part and (not line or line.startswith((HEADING, ITEM)) or part.startswith(HEADING)):
            yield part
            part = ""
        if not line:
            yield ""
        part = f"{part} {line}".strip()
    yield part
