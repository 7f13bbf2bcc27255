"""The format of stored matches: a word that lies in a data directory, and in a store that is somewhere else."""

from typing import Final

FORMAT: Final = "rollbook data 2"

BEFORE_RELEASE: Final = "rollbook data 1"
"""The format of the last versions before the first release, which no release reads."""


def refusal(place: str, found: str) -> str | None:
    """Why what lies there cannot be used, and what to do; None if it can."""
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
