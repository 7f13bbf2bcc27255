"""The format of stored matches: a word in each data directory, and in each store that is elsewhere."""

from typing import Final

FORMAT: Final = "rollbook data 2"

BEFORE_RELEASE: Final = "rollbook data 1"
"""The format before the first release; no release reads it."""


def refusal(place: str, found: str) -> str | None:
    """Why data of this format cannot be used, and what to do; None if it can."""
    if found == FORMAT:
        return None
    if found == BEFORE_RELEASE:
        return (
            f"{place} has matches that were written before the first release, and no release reads them: move them"
            " away, or take another place."
        )
    return (
        f"{place} has the format {found!r}, and this version knows only {FORMAT!r}: use the version of Rollbook that"
        " wrote it, or take another place."
    )
