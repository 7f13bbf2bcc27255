"""One line of the corpus: a file, what a judge has besides, and what every reader has to say of it."""

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
"""Checks that nobody can make who does not know the rules."""

Part: TypeAlias = tuple[bytes, int]
"""Bytes, and how often they come one behind the other."""


def diverged(check: str, event: int | None) -> Said:
    """What is said of a file that is not as it has to be."""
    return ("diverged", check, event)


def by_rules(check: str, event: int | None) -> tuple[Said, Said]:
    """What is said of a file of which the rules alone say what is wrong: with them, and without."""
    return diverged(check, event), UNVERIFIED


def of_replay(replay: Replay) -> bytes:
    """Its file, signed by the service."""
    return write(replay, SERVICE.replays)


@dataclass(frozen=True)
class Sample:
    """A file and its verdicts."""

    name: str
    """Where it stands in the folder of its kind, without its suffix."""
    data: bytes | Sequence[Part]
    """Its bytes, or of what they are made, where they are too many to keep."""
    rules: Said
    no_rules: Said
    keys: str = "judge"
    heads: tuple[WitnessedHead, ...] = ()
    flawed: tuple[int, ...] = ()
    """Which lines of the heads prove nothing."""
    faults: tuple[tuple[str, str], ...] = ()
    """Of a bundle: what is wrong, and where."""
    no_rules_faults: tuple[tuple[str, str], ...] = ()
    suffix: str = "rollbook"

    @property
    def exits(self) -> tuple[int, int]:
        """The exit codes with and without rules."""
        codes = [EXITS[said[0]] for said in (self.rules, self.no_rules)]
        with_rules, without = (2 if self.flawed and code == 0 else code for code in codes)
        return with_rules, without


def sample(name: str, what: bytes | Replay, rules: Said, no_rules: Said | None = None, **more: object) -> Sample:
    """A file, or the file of a replay; without rules nothing is exact, and what they alone say is not said."""
    if no_rules is None:
        no_rules = UNVERIFIED if rules == EXACT or rules[1] in OF_THE_RULES else rules
    return Sample(name, of_replay(what) if isinstance(what, Replay) else what, rules, no_rules, **more)  # type: ignore[arg-type]
