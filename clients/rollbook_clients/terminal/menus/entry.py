"""One line of a menu of choices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rollbook.v1.games_pb2 import Choice


@dataclass(frozen=True, slots=True)
class Entry:
    """What can be chosen, with a word on what it does; it is a choice, or leads to further entries."""

    label: str
    note: str
    leads_to: Choice | tuple[Entry, ...]


def choices_among(entries: Iterable[Entry]) -> Iterator[Choice]:
    """Every choice that can be reached from the entries."""
    for entry in entries:
        if isinstance(entry.leads_to, Choice):
            yield entry.leads_to
        else:
            yield from choices_among(entry.leads_to)


def grouped(label: str, note: str, entries: list[Entry]) -> Entry:
    """An entry for all of these; for a single one that entry itself."""
    return entries[0] if len(entries) == 1 else Entry(label, note, tuple(entries))
