"""Invitations: one line with which somebody else comes to a match."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

LONGEST: Final = 120
"""Characters of a line; longer ones break when they are sent."""

_ID: Final = re.compile(r"[a-z2-7]{24}")


@dataclass(frozen=True, slots=True)
class Invitation:
    """Where a match is, and what opens it."""

    service: str
    match_id: str
    code: str = ""

    def __str__(self) -> str:
        """As it is sent.

        >>> str(Invitation("localhost:50051", "a" * 24))
        'rollbook play localhost:50051/aaaaaaaaaaaaaaaaaaaaaaaa'
        """
        return f"rollbook play {'/'.join(part for part in (self.service, self.match_id, self.code) if part)}"


def pasted(said: str, service: str) -> Invitation:
    """What somebody sent: the whole line, the link, or what is behind the service alone; ValueError if it is none.

    >>> pasted(f"rollbook play there:1/{'a' * 24}", "here:1").service
    'there:1'
    >>> pasted(f"{'a' * 24} {'b' * 24}", "here:1") == Invitation("here:1", "a" * 24, "b" * 24)
    True
    """
    parts = said.strip().removeprefix("rollbook play ").replace("/", " ").split()
    return read("/".join([service, *parts] if parts and _ID.fullmatch(parts[0]) else parts))


def read(link: str) -> Invitation:
    """What an invitation says; ValueError if it is none.

    >>> read("localhost:50051/aaaaaaaaaaaaaaaaaaaaaaaa").match_id
    'aaaaaaaaaaaaaaaaaaaaaaaa'
    """
    service, _, rest = link.removeprefix("rollbook play ").strip().partition("/")
    match_id, _, code = rest.partition("/")
    if not service or not _ID.fullmatch(match_id) or (code and not _ID.fullmatch(code)):
        raise ValueError(f"{link!r} is no invitation: it reads HOST:PORT/MATCH or HOST:PORT/MATCH/CODE")
    return Invitation(service, match_id, code)
