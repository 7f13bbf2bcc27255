"""Counts of continuations from the positions in `replays/perft/`; a changed count is a change of the rules.

`python -m tests.rules.perft` prints the current counts.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations, product
from pathlib import Path
from typing import Any

from rollbook.match.codec.notation import LineWriter, dumps
from rollbook.match.events import Chosen
from rollbook.rules.catalogue import find
from rollbook.rules.chance import Draw, Throw
from rollbook.rules.game import Game, Over, ToChoose
from tests.games.material import own_tests

FOLDER = Path(__file__).parents[2] / "replays" / "perft"


@dataclass(frozen=True)
class Counted:
    """A position of a file with its counts."""

    game: Game[Any, Any, Any]
    name: str
    setup: dict[str, Any]
    counts: list[int]
    order: list[str]

    def state(self) -> Any:
        """Return the state of the rules at this position."""
        setup = _with_numbers(self.setup)
        return own_tests(self.game.name).set_up(setup)


def _with_numbers(value: Any) -> Any:
    """Convert keys to numbers: TOML keys are strings."""
    if isinstance(value, dict):
        return {int(key) if key.isdigit() else key: _with_numbers(inner) for key, inner in value.items()}
    return value


def positions() -> Iterator[Counted]:
    """Yield every position of every file."""
    for file in sorted(FOLDER.glob("*.toml")):
        game = find(file.stem)
        for position in tomllib.loads(file.read_text(encoding="utf-8"))["position"]:
            yield Counted(
                game, position["name"], position["setup"], position.get("counts", []), position.get("order", [])
            )


def perft(game: Game[Any, Any, Any], state: Any, depth: int) -> int:
    """Count the sequences of this many choices and chance events; every face of every die counts."""
    awaited = game.awaited(state)
    if depth == 0:
        return 1
    if isinstance(awaited, Over):
        return 0
    if isinstance(awaited, ToChoose):
        if depth == 1:
            return sum(1 for _ in game.legal(state))
        return sum(perft(game, game.apply(state, choice), depth - 1) for choice in game.legal(state))
    ways = Counter(product(*awaited.dice) if isinstance(awaited, Throw) else _draws(awaited))
    if depth == 1:
        return ways.total()
    return sum(
        number * perft(game, game.apply(state, game.outcome(state, values)), depth - 1)
        for values, number in ways.items()
    )


def _draws(awaited: Draw) -> Iterator[tuple[Any, ...]]:
    return permutations(awaited.items, awaited.count)


def order(game: Game[Any, Any, Any], state: Any) -> list[str]:
    """Return the legal choices in order in the plain form, without the seat."""
    body = LineWriter(game).body
    lines = [body(Chosen(0, choice)) for choice in game.legal(state)]
    return [dumps({key: value for key, value in line.items() if key != "seat"}) for line in lines]


if __name__ == "__main__":
    for counted in positions():
        depth = len(counted.counts)
        print(f"{counted.game.name}: {counted.name}")
        print("  counts =", [perft(counted.game, counted.state(), number) for number in range(1, depth + 1)])
        if counted.order:
            print("  order =", order(counted.game, counted.state()))
