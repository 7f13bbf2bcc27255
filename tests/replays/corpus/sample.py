"""A line of the corpus: a file, the judge's other files, and the result expected of every reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from rollbook.replay_file.container import Replay, write
from rollbook.replay_file.kept_heads import WitnessedHead
from tests.replays.forging import SERVICE

Said: TypeAlias = tuple[str, str | None, int | None]
"""Verdict, check and event."""

EXACT: Final[Said] = ("exact", None, None)
UNVERIFIED: Final[Said] = ("unverified", None, None)
UNREADABLE: Final[Said] = ("unreadable", None, None)

EXITS: Final = {"exact": 0, "diverged": 1, "unverified": 2, "unreadable": 3}

OF_THE_RULES: Final = frozenset({"turns", "caretaker", "choices"})
"""Checks that need the rules."""

Part: TypeAlias = tuple[bytes, int]
"""Bytes, and the number of their repetitions."""


def diverged(check: str, event: int | None) -> Said:
    """The result for a file that diverged."""
    return ("diverged", check, event)


def by_rules(check: str, event: int | None) -> tuple[Said, Said]:
    """The results, with and without rules, for an error that only the rules find."""
    return diverged(check, event), UNVERIFIED


def of_replay(replay: Replay) -> bytes:
    """Return the file of a replay, signed by the service."""
    return write(replay, SERVICE.replays)


@dataclass(frozen=True)
class Sample:
    """A file and its expected verdicts."""

    name: str
    """Its path in the folder of its kind, without the suffix."""
    data: bytes | Sequence[Part]
    """Its bytes, or the parts that give them if the file is too large to store."""
    rules: Said
    no_rules: Said
    keys: str = "judge"
    heads: tuple[WitnessedHead, ...] = ()
    flawed: tuple[int, ...] = ()
    """The lines of heads that prove nothing."""
    faults: tuple[tuple[str, str], ...] = ()
    """Of a bundle: pairs of a fault and its place."""
    no_rules_faults: tuple[tuple[str, str], ...] = ()
    suffix: str = "rollbook"

    @property
    def exits(self) -> tuple[int, int]:
        """The exit codes with and without rules."""
        codes = [EXITS[said[0]] for said in (self.rules, self.no_rules)]
        with_rules, without = (2 if self.flawed and code == 0 else code for code in codes)
        return with_rules, without


def sample(name: str, what: bytes | Replay, rules: Said, no_rules: Said | None = None, **more: object) -> Sample:
    """Return a sample of a file or a replay; without rules EXACT becomes UNVERIFIED, and errors of rules pass."""
    if no_rules is None:
        no_rules = UNVERIFIED if rules == EXACT or rules[1] in OF_THE_RULES else rules
    return Sample(name, of_replay(what) if isinstance(what, Replay) else what, rules, no_rules, **more)  # type: ignore[arg-type]
