"""Invitations: a command line with which another player joins a match."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

LONGEST: Final = 120
"""Characters of a line; chat programs and mail break longer ones."""

_ID: Final = re.compile(r"[a-z2-7]{24}")


@dataclass(frozen=True, slots=True)
class Invitation:
    """The address of a match, and the code that admits to it."""

    service: str
    match_id: str
    code: str = ""

    def __str__(self) -> str:
        """The command line to send.

        >>> str(Invitation("localhost:50051", "a" * 24))
        'rollbook play localhost:50051/aaaaaaaaaaaaaaaaaaaaaaaa'
        """
        return f"rollbook play {'/'.join(part for part in (self.service, self.match_id, self.code) if part)}"


def parse_pasted(said: str, service: str) -> Invitation:
    """Parse pasted text: a command line, a link, or match and code without a service; raises ValueError otherwise.

    >>> parse_pasted(f"rollbook play there:1/{'a' * 24}", "here:1").service
    'there:1'
    >>> parse_pasted(f"{'a' * 24} {'b' * 24}", "here:1") == Invitation("here:1", "a" * 24, "b" * 24)
    True
    """
    parts = said.strip().removeprefix("rollbook play ").replace("/", " ").split()
    return read("/".join([service, *parts] if parts and _ID.fullmatch(parts[0]) else parts))


def read(link: str) -> Invitation:
    """Parse `HOST:PORT/MATCH` or `HOST:PORT/MATCH/CODE`; raises ValueError for anything else.

    >>> read("localhost:50051/aaaaaaaaaaaaaaaaaaaaaaaa").match_id
    'aaaaaaaaaaaaaaaaaaaaaaaa'
    """
    service, _, rest = link.removeprefix("rollbook play ").strip().partition("/")
    match_id, _, code = rest.partition("/")
    if not service or not _ID.fullmatch(match_id) or (code and not _ID.fullmatch(code)):
        raise ValueError(f"{link!r} is no invitation: it reads HOST:PORT/MATCH or HOST:PORT/MATCH/CODE")
    return Invitation(service, match_id, code)
