"""The playthroughs in `replays/golden/`: `python -m tests.golden` remakes them all.

For every game, and every value of every option that differs from the default, there is a simulated match three times:
as a text to read, with what was legal and the board at every tenth choice, as the plain form for `rollbook check`, and
as a replay for `rollbook audit`. Of each game there is also a replay of a match with everything that can happen at a
table. A replay that is there is never written again: it has to stay exact as long as there is a Rollbook.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from rollbook.match.codec.notation import LineWriter, dumps, write
from rollbook.match.events import Chosen, Event
from rollbook.match.simulation import Simulation
from rollbook.replay_file.container import SUFFIX, Replay
from rollbook.replay_file.container import write as write_replay
from rollbook.replay_file.recording import Keys, record
from rollbook.rules.catalogue import current, rulesets
from rollbook.rules.game import ToChoose, Watcher
from rollbook_replays.narration import tell
from tests.replays.forging import eventful, replay_of
from tests.rules.cases import Case

FOLDER = Path(__file__).parents[1] / "replays" / "golden"
SEED = 2026
KEYS = Keys.of(SEED)
LEGAL_SHOWN = 8
CHOICES_BETWEEN_BOARDS = 10

VALUES: dict[str, tuple[Any, ...]] = {"rounds_to": (1, 30)}
"""The values shown of options that have too many to show them all."""

SEATS: dict[tuple[str, Any], int] = {("columns_to_win", 4): 3, ("columns_to_win", 5): 2, ("box", True): 5}
"""Where an option is played by, or shows itself with, a certain number of seats."""


def golden_cases() -> list[Case]:
    """Each game as it is by default, and once for every other value of every option, with the seats it asks for."""
    cases = []
    for game in rulesets():
        seats = game.seats[len(game.seats) // 2]
        cases.append(Case(game, game.settle({}, seats), seats))
        for option in game.options:
            for value in VALUES.get(option.name, tuple(option.values)[1:]):
                asked = SEATS.get((option.name, value), seats)
                cases.append(Case(game, game.settle({option.name: value}, asked), asked))
    return cases


def simulation(case: Case) -> Simulation:
    """The one match that a case is shown by."""
    return Simulation(case.game, case.options, case.seats, SEED, 0)


def plain(case: Case) -> str:
    """The match in the plain form."""
    match = simulation(case)
    return "".join(write(match.header, match.events()))


def text(case: Case) -> str:
    """The match to read."""
    match = simulation(case)
    return "".join(tell(match.header, match.events())) + "\n" + "".join(_boards(simulation(case)))


def _boards(match: Simulation) -> Iterator[str]:
    """Every tenth choice: what was legal, what was chosen, and the board that everybody saw before it."""
    game = match.match.game
    body = LineWriter(game).body
    state = game.copy(match.match.state)
    chosen = 0
    event: Event
    for sequence, event in match.events():
        if isinstance(event, Chosen):
            if chosen % CHOICES_BETWEEN_BOARDS == 0:
                awaited = game.awaited(state)
                assert awaited == ToChoose(event.seat)
                yield f"Before event {sequence}\n"
                yield from _shown(game.view(state, Watcher.PUBLIC), "  ")
                yield f"  legal for seat {event.seat}:\n"
                legal = game.legal(state)
                for choice in islice(legal, LEGAL_SHOWN):
                    yield f"    {_words(body(Chosen(event.seat, choice)))}\n"
                more = sum(1 for _ in islice(legal, 10_000)) - LEGAL_SHOWN
                yield f"    and {more} more\n" if more > 0 else ""
                yield f"  caretaker: {_words(body(Chosen(event.seat, game.caretaker(state))))}\n"
            chosen += 1
        state = game.copy(match.match.state)


def _words(body: dict[str, Any]) -> str:
    return " ".join(
        [body.pop("choice"), *(f"{key}={dumps({'': value})[4:-1]}" for key, value in body.items() if key != "seat")]
    )


def _shown(view: Any, indent: str) -> Iterator[str]:
    for field in fields(view):
        value = getattr(view, field.name)
        if isinstance(value, tuple) and value and is_dataclass(value[0]):
            yield f"{indent}{field.name}:\n"
            for inner in value:
                yield f"{indent}  {_inline(inner)}\n"
        else:
            yield f"{indent}{field.name}: {_inline(value)}\n"


def _inline(value: Any) -> str:
    if is_dataclass(value):
        return " ".join(f"{field.name}={_inline(getattr(value, field.name))}" for field in fields(value))
    if isinstance(value, tuple):
        return "(" + " ".join(map(_inline, value)) + ")"
    return str(value)


def files() -> dict[str, str]:
    """The texts that the folder should hold, by name."""
    found = {}
    for case in golden_cases():
        found[f"{_name(case)}.txt"] = text(case)
        found[f"{_name(case)}.jsonl"] = plain(case)
    return found


def _name(case: Case) -> str:
    return f"{case.game.name}-{case.game.version}" + str(case).removeprefix(case.game.name)


def replays() -> dict[str, Replay]:
    """The replays that today's rules make, by name."""
    found = {f"{_name(case)}{SUFFIX}": record(simulation(case), KEYS.heads) for case in golden_cases()}
    for game in current().values():
        found[f"{game.name}-{game.version}-eventful{SUFFIX}"] = replay_of(eventful(game.name), KEYS)
    return found


def remake() -> None:
    """Write all texts, remove those that should not be there, and write the replays that are not there."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    texts = files()
    for stale in FOLDER.iterdir():
        if stale.suffix in {".txt", ".jsonl"} and stale.name not in texts:
            stale.unlink()
    for name, content in texts.items():
        (FOLDER / name).write_text(content, encoding="utf-8", newline="\n")
    fresh = {name: replay for name, replay in replays().items() if not (FOLDER / name).exists()}
    for name, replay in fresh.items():
        (FOLDER / name).write_bytes(write_replay(replay, KEYS.replays))
    (FOLDER / "KEY.pub").write_text(KEYS.public, encoding="ascii")
    print(f"{len(texts)} texts and {len(fresh)} new replays in {FOLDER}")


if __name__ == "__main__":
    remake()
