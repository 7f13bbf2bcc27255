"""Renders text with named styles for a terminal; the library rich chooses the codes that the terminal supports."""

import io
from collections.abc import Iterable, Mapping
from typing import Final

from rich import text as rich_text
from rich.console import Console
from rich.style import Style

from rollbook_replays.text import SPOT, Text

LOOKS: Final = {
    "strong": "bold",
    "muted": "dim",
    "own": "underline",
    "filled": "reverse",
    "gold": "#e3b341",
    "considered": "bold #0d1117 on #e3b341",
    "latest": "bold underline on #57606a",
    "seat0": "#ff7b72",
    "seat1": "#79c0ff",
    "seat2": "#7ee787",
    "seat3": "#e3b341",
    "seat4": "#d2a8ff",
    "seat5": "#76e3ea",
}
"""The styles common to all games; the palette of a game adds its own."""


def look_of(style: str, palette: Mapping[str, str]) -> Style:
    """The combined look of all words of a style; unknown words have no effect."""
    words = style.split()
    looks = [Style.parse(palette.get(word) or LOOKS.get(word, "")) for word in words]
    spots = [Style(meta={SPOT: word.removeprefix(SPOT)}) for word in words if word.startswith(SPOT)]
    return Style.combine([Style.null(), *looks, *spots])


def as_rich(lines: Iterable[Text], palette: Mapping[str, str], *, wraps: bool = False) -> rich_text.Text:
    """All lines as one rich text; lines that are too wide are cut off, or wrapped if `wraps`."""
    drawn = rich_text.Text() if wraps else rich_text.Text(no_wrap=True, overflow="crop")
    for number, line in enumerate(lines):
        if number:
            drawn.append("\n")
        for text, style in line.spans:
            drawn.append(text, look_of(style, palette))
    return drawn


def colour_lines(lines: Iterable[Text], palette: Mapping[str, str]) -> str:
    """The lines with the colour codes that this terminal supports."""
    page = Console(file=io.StringIO(), force_terminal=True, width=1_000, highlight=False, color_system="auto")
    with page.capture() as captured:
        for line in lines:
            page.print(as_rich([line], palette), soft_wrap=True)
    return captured.get()
