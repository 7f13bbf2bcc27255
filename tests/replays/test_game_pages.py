"""The pages of `replays/games/` agree with the rules, so that a reader can be written from them.

Tables are compared with the rules and the protobuf messages; examples are played again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import pytest

from rollbook.match.codec.envelope import read_bytes
from rollbook.match.codec.messages import write_outcome
from rollbook.match.codec.moves import Unreadable, is_optional
from rollbook.match.codec.stubs import stubs_of
from rollbook.match.codec.words import numbers_of
from rollbook.match.codec.wrappers import list_games
from rollbook.match.events import Happened
from rollbook.match.fold import MOST_EVENTS
from rollbook.match.simulation import Simulation
from rollbook.rules.catalogue import find
from rollbook.rules.chance import Draw, Throw
from rollbook.rules.options import write_value
from rollbook.v1 import events_pb2, games_pb2
from tests.games.material import own_tests
from tests.replays.example import PAGE
from tests.replays.game_pages import FOLDER, examples, page_of, remade, table

GAMES = list_games(games_pb2.Choice)
WRAPPERS = ("Options", "Choice", "Outcome", "HiddenOutcome", "View", "LegalChoices")
MATCHES = 4
"""Random matches, enough for every kind of chance."""

each_game = pytest.mark.parametrize("game", GAMES)


def test_every_game_has_a_page_that_can_be_found() -> None:
    """FORMAT.md links the folder, which has a page for each game of `games.proto` and no other."""
    assert set(GAMES) == {path.stem for path in FOLDER.iterdir()}
    assert "](games/)" in PAGE.read_text(encoding="utf-8")


def test_all_pages_are_built_alike() -> None:
    """All pages have the same sections in the same order."""
    own = {"What a throw comes to", "A round"}
    headings = {
        tuple(line for line in re.findall("^## (.*)", page_of(game), re.MULTILINE) if line not in own) for game in GAMES
    }
    assert len(headings) == 1


@each_game
def test_it_says_for_what_it_holds(game: str) -> None:
    """A page names its ruleset and numbers of seats, and the result of a match that grows too long."""
    rules, page = find(game), page_of(game)
    assert page.startswith(f"# {rules.title}\n")
    assert f"`{game}`, ruleset {rules.version}, for {rules.seats[0]} to {rules.seats[-1]} seats." in page
    assert f"perft/{game}.toml" in page
    assert f"or {MOST_EVENTS - 1:,} events are there before the seal" in " ".join(page.split())


@each_game
def test_messages_are_found(game: str) -> None:
    """The page names the game's field in every wrapper message."""
    found = {
        wrapper: (str(field.number), field.message_type.name)
        for wrapper in WRAPPERS
        if (field := getattr(games_pb2, wrapper).DESCRIPTOR.fields_by_name.get(game)) is not None
    }
    assert found == {row["field of"]: (row["number"], row["message"]) for row in table(page_of(game), "field of")}


@each_game
def test_options_are_those_of_the_game(game: str) -> None:
    """The page has names, numbers, types, values and defaults, and a description of each."""
    rules = find(game)
    described = stubs_of(rules).options.DESCRIPTOR.fields_by_name
    expected = [
        (
            f"{option.name} {described[option.name].number}",
            _type(described[option.name]),
            option.allowed,
            write_value(option.default),
        )
        for option in rules.options
    ]
    rows = table(page_of(game), "option")
    assert expected == [(row["option"], row["type"], row["values"], row["default"]) for row in rows]
    assert all(row["means"] for row in rows)


@each_game
def test_choices_and_outcomes_have_the_fields_of_their_messages(game: str) -> None:
    """No field is missing or renamed, and the optional ones are those that the rules accept."""
    rules, stubs, page = find(game), stubs_of(find(game)), page_of(game)
    for name, message, kinds in (
        ("choice", stubs.choice, rules.choices),
        ("outcome", stubs.outcome, {}),
    ):
        rows = table(page, name, "field")
        assert list(_fields(message, kinds)) == [(row[name], row["field"], row["type"]) for row in rows]
        assert all(row["what"] for row in rows)
    assert set(rules.choices) == {row["choice"].split()[0] for row in table(page, "choice", "field")}


def _fields(message: Any, choices: Mapping[str, type]) -> Iterator[tuple[str, str, str]]:
    """Yield every field of every kind, as the page lists it."""
    for kind in message.DESCRIPTOR.oneofs_by_name["kind"].fields:
        of_kind = f"{kind.name} {kind.number}"
        if not kind.message_type.fields:
            yield of_kind, "none", ""
        for field in kind.message_type.fields:
            choice = choices.get(kind.name)
            may_lack = choice is not None and not field.is_repeated and is_optional(choice, field.name)
            yield of_kind, f"{field.name} {field.number}", _type(field) + (", or none" if may_lack else "")


def _type(field: Any) -> str:
    """Return the type of a field, as the pages write it."""
    scalar = {field.TYPE_INT32: "int32", field.TYPE_BOOL: "bool"}
    described = scalar[field.type] if field.enum_type is None else field.enum_type.name
    return f"list of {described}" if field.is_repeated else described


@each_game
def test_hidden_parts_have_a_table_where_there_are_any(game: str) -> None:
    """The page of a game without hidden parts notes that."""
    page, hidden = page_of(game), stubs_of(find(game)).hidden
    if hidden is None:
        assert "no outcome has a hidden part" in page
        return
    expected = [(f"{field.name} {field.number}", _type(field)) for field in hidden.DESCRIPTOR.fields]
    assert expected == [(row["hidden"], row["type"]) for row in table(page, "hidden")]


@each_game
def test_words_have_the_numbers_of_their_enums(game: str) -> None:
    """Files contain the numbers, pages the words."""
    page = page_of(game)
    for enum in stubs_of(find(game)).options.DESCRIPTOR.file.enum_types_by_name.values():
        rows = table(page, "word", enum.name)
        assert numbers_of(enum) == {row["word"]: int(row[enum.name]) for row in rows}


@each_game
def test_everything_awaited_of_chance_is_named(game: str) -> None:
    """The page names the outcome of each; draws come from an ascending set."""
    met = set()
    for seed, seats in product(range(MATCHES), find(game).seats):
        played = Simulation(find(game), {}, seats, seed, 0)
        awaited = played.match.awaited
        for _, event in played.events():
            if isinstance(event, Happened):
                assert isinstance(awaited, Throw | Draw)
                outcome = getattr(write_outcome(played.match.game, event.outcome), game)
                met.add((awaited.name, outcome.WhichOneof("kind")))
                if isinstance(awaited, Draw):
                    assert sorted(awaited.items, key=int) == list(awaited.items)
            awaited = played.match.awaited
    rows = table(page_of(game), "awaited")
    assert [("a choice", ""), ("nothing", "")] == [(row["awaited"], row["outcome"]) for row in rows[-2:]]
    assert met == {(row["awaited"], row["outcome"]) for row in rows[:-2]}


@each_game
def test_a_choice_that_lacks_what_it_needs_is_no_event(game: str) -> None:
    """By step 1 of FORMAT.md every field without "or none" has to be present."""
    rules = find(game)
    rows = table(page_of(game), "choice", "field")
    for kind in rules.choices:
        event = events_pb2.Event(sequence=9, seat=0)
        getattr(getattr(event.chosen.choice, game), kind).SetInParent()
        needs = [row["type"] for row in rows if row["choice"].split()[0] == kind]
        if any(type_ in {"int32", "bool"} for type_ in needs):
            with pytest.raises(Unreadable):
                read_bytes(event.SerializeToString(), game=rules)
        else:
            read_bytes(event.SerializeToString(), game=rules)


@each_game
def test_examples_are_what_the_rules_make_of_them(game: str) -> None:
    """The first begins with the first outcome of its match; `python -m tests.replays.game_pages` makes them again."""
    page = page_of(game)
    assert remade(page) == page
    shown = examples(page)
    assert len(shown) >= 2
    assert "chance 1: first_seat" in shown[0]


@each_game
def test_material_is_that_of_the_rules(game: str) -> None:
    """Every die, face, tile, card and number is compared; each game needs such a test."""
    own_tests(game).compare_page(page_of(game))
