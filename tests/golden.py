"""The playthroughs in `replays/golden/`: `python -m tests.golden` makes them again.

For every game, and every value of every option that differs from the default, there is a simulated match in three
forms: a text with the board and the menu before every 25th choice, the plain form for `rollbook check`, and a replay
for `rollbook audit`. Each game also has a replay of a match with every kind of event. An existing replay is never
written again: it has to stay exact as long as Rollbook exists.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rollbook.match.codec.notation import write
from rollbook.match.events import Chosen
from rollbook.match.fold import MatchFold
from rollbook.match.simulation import Simulation
from rollbook.replay_file.container import SUFFIX, Replay
from rollbook.replay_file.container import write as write_replay
from rollbook.replay_file.recording import Keys, record
from rollbook.rules.catalogue import current, rulesets
from rollbook_replays.games import presentation
from rollbook_replays.games.presentation import Moment, Picking
from rollbook_replays.narration import Narrator, draw_board, number_lines, seating_of, tell
from rollbook_replays.text import Text
from rollbook_replays.text import plain as as_text
from tests.remaking import asked_folder
from tests.replays.forging import eventful, replay_of
from tests.rules.cases import Case

FOLDER = Path(__file__).parents[1] / "replays" / "golden"
SEED = 2026
KEYS = Keys.of(SEED)
LEGAL_SHOWN = 8
CHOICES_BETWEEN_BOARDS = 25

VALUES: dict[str, tuple[Any, ...]] = {"rounds_to": (1, 30)}
"""Sample values of options with too many values."""

SEATS: dict[tuple[str, Any], int] = {("columns_to_win", 4): 3, ("columns_to_win", 5): 2, ("box", True): 5}
"""The number of seats for options that need one, or that show their effect only with it."""


def golden_cases() -> list[Case]:
    """Return each game with its defaults, and once for every other value of every option, with fitting seats."""
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
    """Return the match of a case."""
    return Simulation(case.game, case.options, case.seats, SEED, 0)


def plain(case: Case) -> str:
    """Return the match in the plain form."""
    match = simulation(case)
    return "".join(write(match.header, match.events()))


def text(case: Case) -> str:
    """Return the match as a text."""
    played = simulation(case)
    narrator = Narrator(case.game, played.opened)
    seating = seating_of(case.game, played.opened)
    lines = list(tell(played.header, ()))
    before, chosen = played.match.copy(), 0
    for sequence, event in played.events():
        if isinstance(event, Chosen):
            if chosen % CHOICES_BETWEEN_BOARDS == 0:
                lines += [Text(), Text.of(f"Before event {sequence}, as seat {event.seat} sees it"), Text()]
                lines += [*draw_board(before, event.seat), *_choices(before, event.seat), Text()]
            chosen += 1
        lines += number_lines(sequence, narrator.tell(event, seating))
        before = played.match.copy()
    return as_text(lines)


def _choices(match: MatchFold, seat: int) -> Iterator[Text]:
    """Yield the legal choices of the seat, and the caretaker's."""
    game, shown = match.game, presentation(match.game.name)
    view, seating = game.view(match.state, seat), seating_of(game, match.opened, seat)
    menu = shown.menu(view, game.legal(match.state), seating)
    entries = menu.entries(()) if isinstance(menu, Picking) else menu
    for entry in entries[:LEGAL_SHOWN]:
        note = f"  ({entry.note})" if entry.note else ""
        yield Text.of(f"  - {entry.label}{note}")
        yield from (Text.of(f"      - {behind.label}") for behind in entry.entries[:LEGAL_SHOWN])
    if len(entries) > LEGAL_SHOWN:
        yield Text.of(f"  and {len(entries) - LEGAL_SHOWN} more")
    caretaker = shown.story(game.caretaker(match.state), Moment(seat, view), seating)
    yield from (Text.of("Caretaker: ", told.text) for told in caretaker)


def files() -> dict[str, str]:
    """Return the texts of the folder, by name."""
    found = {}
    for case in golden_cases():
        found[f"{_name(case)}.txt"] = text(case)
        found[f"{_name(case)}.jsonl"] = plain(case)
    return found


def _name(case: Case) -> str:
    return f"{case.game.name}-{case.game.version}" + str(case).removeprefix(case.game.name)


def replays() -> dict[str, Replay]:
    """Return the replays that the current rules make, by name."""
    found = {f"{_name(case)}{SUFFIX}": record(simulation(case), KEYS.heads) for case in golden_cases()}
    for game in current().values():
        found[f"{game.name}-{game.version}-eventful{SUFFIX}"] = replay_of(eventful(game.name), KEYS)
    return found


def remake(folder: Path) -> None:
    """Write all texts, remove obsolete ones, and write the missing replays."""
    texts = files()
    for stale in folder.iterdir():
        if stale.suffix in {".txt", ".jsonl"} and stale.name not in texts:
            stale.unlink()
    for name, content in texts.items():
        (folder / name).write_text(content, encoding="utf-8", newline="\n")
    fresh = {name: replay for name, replay in replays().items() if not (folder / name).exists()}
    for name, replay in fresh.items():
        (folder / name).write_bytes(write_replay(replay, KEYS.replays))
    (folder / "KEY.pub").write_text(KEYS.public, encoding="ascii")
    print(f"{len(texts)} texts and {len(fresh)} new replays in {folder}")


if __name__ == "__main__":
    remake(asked_folder(FOLDER))
