"""How long work shows how far it is: a bar on standard error, with its rate and the time left."""

from __future__ import annotations

from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

QUIET_SECONDS: Final = 1.0
"""Work that is done sooner than this needs no bar."""


def progress_bar() -> Progress:
    """A bar that is gone when it is stopped, and never comes where nobody looks; its tasks have a field `rate`."""
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
