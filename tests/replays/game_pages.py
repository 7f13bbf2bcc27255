"""The pages of `replays/games/`: their tables, and their examples, remade by `python -m tests.replays.game_pages`.

The first line of an example names a simulated match and the events shown. The rest follows from it.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from rollbook.match.codec.messages import write_choice, write_hidden, write_outcome
from rollbook.match.codec.views import write_options, write_view
from rollbook.match.codec.words import numbers_of
from rollbook.match.dice import Dice, match_key
from rollbook.match.events import Chosen, Event, Happened
from rollbook.match.fold import MatchFold
from rollbook.match.simulation import Simulation
from rollbook.rules.catalogue import find
from rollbook.rules.chance import Draw, Throw, Value
from rollbook.rules.game import Awaited, Over, ToChoose, Watcher
from rollbook.rules.options import read_options
from tests.remaking import asked_folder

FOLDER = Path(__file__).parents[2] / "replays" / "games"
LINE = 120
LEGAL_SHOWN = 12
"""Longer lists of legal choices are only counted."""

Row = dict[str, str]
"""A row of a table by its column names, without code marks."""

# Tables


def page_of(game: str) -> str:
    """Return the page of a game."""
    return (FOLDER / f"{game}.md").read_text(encoding="utf-8")


def table(text: str, *columns: str) -> list[Row]:
    """Return the rows of the one table that begins with these columns."""
    (found,) = (rows for names, rows in _tables(text) if names[: len(columns)] == list(columns))
    return found


def _tables(text: str) -> Iterator[tuple[list[str], list[Row]]]:
    for block in re.findall(r"^\|.*(?:\n\|.*)*", text, re.MULTILINE):
        names, _, *rows = ([_plain(cell) for cell in line.strip("|").split("|")] for line in block.splitlines())
        yield names, [dict(zip(names, row, strict=True)) for row in rows]


def _plain(cell: str) -> str:
    return cell.strip().replace("`", "")


def numbers(page: str) -> dict[str, int]:
    """Return the table of numbers."""
    return {row["number"]: int(row["value"]) for row in table(page, "number", "value")}


def spread(words: str) -> range:
    """Parse `1 to 5` or `5`."""
    first, _, last = words.partition(" to ")
    return range(int(first), int(last or first) + 1)


def faces_of(row: Row) -> tuple[str, ...]:
    """Return the six faces of a die."""
    return tuple(row[str(face)] for face in range(6))


# Examples

HEADS = re.compile(r"match (\w+)-(\d+)-0, (\d) seats, (.*), events (\d+) to (\d+)")
EXAMPLE = re.compile(r"```\n(match .*?)```", re.DOTALL)


def examples(text: str) -> list[str]:
    """Return the examples of a page."""
    return EXAMPLE.findall(text)


def remade(text: str) -> str:
    """Return the page with its examples made again by the rules."""
    return EXAMPLE.sub(lambda found: f"```\n{example(found[1].splitlines()[0])}```", text)


def example(head: str) -> str:
    """Make an example from its first line."""
    found = HEADS.fullmatch(head)
    assert found is not None, head
    name, seed, seats, options, first, last = found.groups()
    game = find(name)
    given = read_options(game.options, dict(pair.split("=") for pair in options.split()))
    played = Simulation(game, given, int(seats), int(seed), 0)
    key = match_key(played.secret, played.opened.match_id, played.header.entropy)
    settled = write_options(game, played.opened.options)
    lines = [head, *_said("options", settled), f"  secret {played.secret.hex()}", f"  key    {key.hex()}"]
    before = played.match.copy()
    for sequence, event in played.events():
        if sequence > int(last):
            break
        if sequence == int(first) and before.chance_events:
            lines += _table(before)
        if sequence >= int(first):
            lines += _told(sequence, event, before, Dice(key))
        before = played.match.copy()
    return "\n".join([*lines, f"then {_awaited(before.awaited)}", *_table(before)]) + "\n"


def _table(match: MatchFold) -> list[str]:
    """Return the whole table and all hands."""
    return _wrapped("table", _plainly(write_view(match.game, match.game.view(match.state, Watcher.JUDGE))))


def _told(sequence: int, event: Event, before: MatchFold, dice: Dice) -> Iterator[str]:
    """Yield the lines of an event, with the draws that led to it."""
    game, awaited = before.game, before.awaited
    match event:
        case Happened(outcome):
            assert isinstance(awaited, Throw | Draw)
            number = before.chance_events + 1
            yield f"event {sequence}, chance {number}: {_awaited(awaited)}"
            if isinstance(awaited, Draw):
                yield from _wrapped("from", shortly(awaited.items))
            yield from _wrapped("index", " ".join(map(str, _indices(dice, number, awaited))))
            yield from _said("outcome", write_outcome(game, outcome))
            hidden = write_hidden(game, outcome)
            if hidden is not None:
                yield from _said("hidden", hidden)
        case Chosen(seat, choice):
            legal = game.legal(before.state)
            yield f"event {sequence}: seat {seat} chooses, {len(legal)} legal"
            if len(legal) <= LEGAL_SHOWN:
                yield from _wrapped("legal", ", ".join(_plainly(write_choice(game, some)) for some in legal))
            caretaker = write_choice(game, game.caretaker(before.state))
            yield from _wrapped("caretaker", _plainly(caretaker))
            yield from _said("choice", write_choice(game, choice))
        case _:
            raise AssertionError("an example shows what the rules do")


def _awaited(awaited: Awaited) -> str:
    match awaited:
        case Throw(name, dice):
            return f"{name}, {len(dice)} {'die' if len(dice) == 1 else 'dice'}"
        case Draw(name, items, count):
            return f"{name}, {count} of {len(items)}"
        case ToChoose(seat):
            return f"seat {seat} chooses"
        case Over():
            return "nothing: the match is over"


def _indices(dice: Dice, number: int, awaited: Throw | Draw) -> list[int]:
    """Return the results of uniform(k), in order."""
    uniform = dice.uniform(number)
    if isinstance(awaited, Throw):
        drawn = [uniform(len(faces)) for faces in awaited.dice]
        values = [faces[index] for faces, index in zip(awaited.dice, drawn, strict=True)]
    else:
        left = list(awaited.items)
        drawn, values = [], []
        for _ in range(awaited.count):
            drawn.append(uniform(len(left)))
            values.append(left.pop(drawn[-1]))
    assert dice.values(number, awaited) == tuple(values)
    return drawn


def shortly(items: Sequence[Value]) -> str:
    """Shorten ascending items: ranges and repetitions.

    >>> shortly((1, 2, 3, 5, 6, 71, 71))
    '1-3 5 6 71x2'
    """
    times = Counter(items)
    words = []
    for _, run in groupby(enumerate(times.items()), lambda at: (at[1][1], int(at[1][0]) - at[0])):
        values = [value for _, (value, _) in run]
        count = times[values[0]]
        if count == 1 and len(values) > 2:
            words.append(f"{values[0]}-{values[-1]}")
        else:
            words += [str(value) if count == 1 else f"{value}x{count}" for value in values]
    return " ".join(words)


def _plainly(wrapper: Any) -> str:
    """Return the game's own message as JSON, without its wrapper, with names for the numbers of enums."""
    message: Message = getattr(wrapper, wrapper.WhichOneof("game"))
    text = json.dumps(MessageToDict(message, preserving_proto_field_name=True))
    for enum in message.DESCRIPTOR.file.enum_types_by_name.values():
        for word, number in numbers_of(enum).items():
            text = text.replace(f'"{enum.values_by_number[number].name}"', f'"{word}"')
    return text


def _said(what: str, wrapper: Any) -> Iterator[str]:
    """Yield a message as JSON, and its bytes with the wrapper."""
    yield from _wrapped(what, _plainly(wrapper))
    yield from _wrapped("bytes", wrapper.SerializeToString(deterministic=True).hex())


def _wrapped(what: str, text: str) -> list[str]:
    return textwrap.wrap(
        f"{what} {text}", LINE, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
    ) or [f"  {what}"]


def remake(folder: Path) -> None:
    """Write the examples into the pages, or into their copies in another folder."""
    for path in sorted(FOLDER.glob("*.md")):
        (folder / path.name).write_text(remade(path.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    remake(asked_folder(FOLDER))
