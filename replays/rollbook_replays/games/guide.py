"""The rules of a game in words: headings, paragraphs and items, laid out for whoever reads them.

A guide is a text. A line that begins with `# ` is a heading, one with `- ` an item; all other lines go on with what
they follow, up to an empty line.
"""

from collections.abc import Iterator
from typing import Final

from rollbook_replays.games.blocks import Block
from rollbook_replays.games.presentation import Presentation
from rollbook_replays.text import STRONG, WIDTH, Text

HEADING: Final = "# "
ITEM: Final = "- "


def guide(shown: Presentation, language: str, wide: int = WIDTH) -> Block:
    """The rules in this language, English where it is not spoken; nothing of a game that nobody has explained."""
    text = shown.guide.get(language) or shown.guide.get("en", "")
    lines: Block = []
    for part in _parts(text):
        if part.startswith(HEADING):
            lines += [Text()] if lines and lines[-1].plain else []
            lines.append(Text.of((part.removeprefix(HEADING), STRONG)))
        elif part.startswith(ITEM):
            lines += Text.of(f"• {part.removeprefix(ITEM)}").wrapped(wide, 2)
        elif part:
            lines += Text.of(part).wrapped(wide)
        elif lines and lines[-1].plain:
            lines.append(Text())
    return lines


def _parts(text: str) -> Iterator[str]:
    """Headings, paragraphs and items, each on one line; an empty one where a paragraph ends."""
    part = ""
    for line in text.strip().splitlines():
        if part and (not line or line.startswith((HEADING, ITEM)) or part.startswith(HEADING)):
            yield part
            part = ""
        if not line:
            yield ""
        part = f"{part} {line}".strip()
    yield part
