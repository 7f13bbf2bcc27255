"""Lays out the guide of a game, its rules in words, as headings, paragraphs and items.

A line that begins with `# ` is a heading, and one that begins with `- ` is an item. Every other line continues the
paragraph or item before it, up to an empty line.
"""

from collections.abc import Iterator
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
