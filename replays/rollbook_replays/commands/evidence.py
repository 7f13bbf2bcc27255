"""What a judge brings to an audit: files of public keys, and files of heads that people kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Self, TypeVar

from rollbook.cli.exits import Exit, Failed
from rollbook.replay_file.kept_heads import WitnessedHead, numbered_heads
from rollbook.replay_file.key_lines import NO_KEYS, KnownKeys, read_keys
from rollbook.replay_file.lines import WrongLine, text_of
from rollbook_replays.audit.signatures import flaw

LARGEST_TEXT: Final = 64 << 20
"""Largest size of a file of keys or heads, in bytes."""

Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class FlawedHead:
    """A kept head that proves nothing."""

    where: str
    """The file and the line of the head."""
    head: WitnessedHead
    why: str

    def __str__(self) -> str:
        """In a line."""
        return (
            f"{self.where}: this head of event {self.head.sequence} of {self.head.match_id} proves nothing: {self.why}"
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """Keys, and heads by them."""

    keys: KnownKeys
    heads: tuple[WitnessedHead, ...]
    flawed: tuple[FlawedHead, ...]
    """Heads that prove nothing with these keys; `heads` does not have them."""

    @classmethod
    def read(cls, keys: Iterable[Path], heads: Iterable[Path]) -> Self:
        """Read all keys and heads; raises Failed for the first wrong line, so that no audit runs with only some."""
        known = NO_KEYS
        for file in keys:
            known = _read(file, partial(read_keys, known=known))
        kept = [(f"{file}:{number}", head) for file in heads for number, head in _read(file, _number_heads)]
        flaws = [flaw(head, known) for _, head in kept]
        return cls(
            known,
            tuple(head for (_, head), why in zip(kept, flaws, strict=True) if why is None),
            tuple(FlawedHead(*each, why) for each, why in zip(kept, flaws, strict=True) if why is not None),
        )


def _number_heads(text: str) -> list[tuple[int, WitnessedHead]]:
    return list(numbered_heads(text))


def _read(file: Path, read: Callable[[str], Read]) -> Read:
    try:
        with file.open("rb") as opened:
            data = opened.read(LARGEST_TEXT + 1)
    except OSError as wrong:
        raise Failed(Exit.UNREADABLE, f"{file}: {wrong.strerror}") from None
    if len(data) > LARGEST_TEXT:
        raise Failed(Exit.UNREADABLE, f"{file}: larger than {LARGEST_TEXT} bytes")
    try:
        return read(text_of(data))
    except WrongLine as wrong:
        raise Failed(Exit.UNREADABLE, f"{file}:{wrong}") from None
