"""Files and commands in a document, each in a code block below a comment with its name."""

from __future__ import annotations

import re

_BLOCK = re.compile(r"<!-- (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)


def blocks_in(document: str) -> dict[str, str]:
    """Return the named code blocks of a document, in their order."""
    return dict(_BLOCK.findall(document))
