"""Choices and outcomes as messages: every message of a stranger is a choice or a refusal."""

from __future__ import annotations

import random
from dataclasses import fields
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st

from rollbook.match.codec.messages import (
    choice_in,
    read_choice,
    read_outcome,
    write_choice,
    write_hidden,
    write_outcome,
)
from rollbook.match.codec.moves import Unreadable, with_hidden
from rollbook.match.codec.stubs import stubs_of
from rollbook.match.events import Chosen, Happened
from rollbook.match.simulation import Simulation
from rollbook.rules.catalogue import current, find
from rollbook.rules.chance import Draw, Throw
from rollbook.rules.game import Game, Over, ToChoose
from rollbook.rules.refusals import Invalid, Reason, RefusedByRules
from rollbook.v1.allie_gator_pb2 import AllieGatorHidden, AllieGatorOutcome
from rollbook.v1.cant_stop_pb2 import CantStopChoice
from rollbook.v1.games_pb2 import Choice, HiddenOutcome, Outcome
from rollbook.v1.raffzahn_pb2 import RaffzahnOutcome

GAMES = list(current())
INTS = st.one_of(st.integers(-1, 80), st.integers(-(2**31), 2**31 - 1))


@pytest.mark.parametrize("name", GAMES)
def test_all_moves_of_a_match_read_back_from_their_messages(name: str) -> None:
    """Every choice and outcome is encoded and decoded; hidden parts are not in the bytes."""
    game = find(name)
    simulation = Simulation(game, {}, game.seats[1], 5, 0)
    for _, event in simulation.events():
        if isinstance(event, Chosen):
            sent = write_choice(game, event.choice).SerializeToString()
            assert event.choice == read_choice(game, Choice.FromString(sent))
        elif isinstance(event, Happened):
            hidden = write_hidden(game, event.outcome)
            told = Outcome.FromString(write_outcome(game, event.outcome).SerializeToString())
            assert event.outcome == read_outcome(game, told, hidden)
            assert event.outcome == with_hidden(read_outcome(game, told), event.outcome)
            assert (read_outcome(game, told) == event.outcome) == (hidden is None)


def positions(game: Game[Any, Any, Any]) -> list[Any]:
    """Return states of every kind in which a seat has to choose."""
    rng = random.Random(3)
    state = game.start({}, game.seats[-1])
    found = []
    while not isinstance(awaited := game.awaited(state), Over):
        if isinstance(awaited, ToChoose):
            found.append(game.copy(state))
            game.play(state, game.legal(state).sample(rng.randrange))
        else:
            game.play(state, game.outcome(state, _chance(awaited, rng)))
    return rng.sample(found, min(60, len(found)))


def _chance(awaited: Throw | Draw, rng: random.Random) -> tuple[Any, ...]:
    if isinstance(awaited, Throw):
        return tuple(rng.choice(faces) for faces in awaited.dice)
    return tuple(rng.sample(awaited.items, awaited.count))


POSITIONS = {name: positions(current()[name]) for name in GAMES}


def any_choice(name: str) -> st.SearchStrategy[Message]:
    """Strategy for any content of the game's choice message, as bytes could bring it."""
    message = stubs_of(current()[name]).choice
    kinds = message.DESCRIPTOR.oneofs_by_name["kind"].fields
    return st.one_of(st.just(message()), *[_of_kind(message, kind) for kind in kinds])


def _of_kind(message: type[Message], kind: Any) -> st.SearchStrategy[Message]:
    parts = {field.name: _field(field) for field in kind.message_type.fields}

    def build(values: dict[str, Any]) -> Message:
        built = message()
        inner = getattr(built, kind.name)
        inner.SetInParent()
        for name, value in values.items():
            if isinstance(value, list):
                getattr(inner, name).extend(value)
            elif value is not None:
                setattr(inner, name, value)
        return built

    return st.fixed_dictionaries(parts).map(build)


def _field(field: FieldDescriptor) -> st.SearchStrategy[Any]:
    if field.is_repeated:
        return st.lists(INTS, max_size=6) | st.just([7] * 1_000) | st.just([3, 3])
    if field.type == FieldDescriptor.TYPE_BOOL:
        return st.none() | st.booleans()
    return st.none() | INTS


@pytest.mark.parametrize("name", GAMES)
@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_whatever_a_choice_message_holds_is_played_or_refused(name: str, data: st.DataObject) -> None:
    """Huge, doubled, empty, unset and out-of-range values give a refusal, and the state stays unchanged."""
    game = current()[name]
    message = data.draw(any_choice(name))
    for state in data.draw(st.lists(st.sampled_from(POSITIONS[name]), min_size=1, max_size=4)):
        before = game.copy(state)
        try:
            choice = choice_in(game, message)
            game.apply(state, choice)
        except RefusedByRules as refused:
            assert refused.why
            assert refused.learn
            assert len(str(refused)) < 2_000
        else:
            assert choice in game.legal(state)
        assert before == state


@pytest.mark.parametrize("name", GAMES)
def test_a_message_without_a_choice_is_refused_with_the_choices_there_are(name: str) -> None:
    """The kind is unset, or only a newer client knows it."""
    with pytest.raises(Invalid, match=", ".join(current()[name].choices)) as refused:
        choice_in(current()[name], stubs_of(current()[name]).choice())
    assert Reason.NOTHING_CHOSEN == refused.value.reason


@pytest.mark.parametrize("name", GAMES)
def test_a_field_that_is_not_set_is_not_taken_for_zero(name: str) -> None:
    """Die 0, pile 0 and seat 0 exist, so a missing field must not mean 0."""
    game = current()[name]
    for kind, choice in game.choices.items():
        message = stubs_of(game).choice()
        getattr(message, kind).SetInParent()
        described = getattr(message, kind).DESCRIPTOR.fields_by_name
        needed = [field.name for field in fields(choice) if not described[field.name].is_repeated]
        try:
            read = choice_in(game, message)
        except Invalid as refused:
            assert Reason.FIELD_MISSING == refused.reason
            assert refused.facts["field"] in needed
        else:
            assert all(getattr(read, field) is None for field in needed)


def test_a_list_longer_than_any_game_needs_is_refused_unread() -> None:
    """A stranger cannot make the rules sort a million columns."""
    message = CantStopChoice(advance=CantStopChoice.Advance(columns=[7] * 1_000))
    with pytest.raises(Invalid) as refused:
        read_choice(current()["cant_stop"], Choice(cant_stop=message))
    assert Reason.TOO_MANY_NAMED == refused.value.reason


def test_outcomes_that_do_not_fit_what_lies_beside_them_are_unreadable() -> None:
    """If three cards were drawn and two are in the private data, some are lost."""
    game = current()["allie_gator"]
    drawn = AllieGatorOutcome(draw=AllieGatorOutcome.Draw(seat=0, count=3))
    stolen = AllieGatorOutcome(steal=AllieGatorOutcome.Steal())
    two = HiddenOutcome(allie_gator=AllieGatorHidden(cards=[1, 2]))
    for message, hidden in ((drawn, two), (stolen, two), (drawn, HiddenOutcome()), (AllieGatorOutcome(), None)):
        with pytest.raises(Unreadable):
            read_outcome(game, Outcome(allie_gator=message), hidden)
    no_face = RaffzahnOutcome.FromString(bytes.fromhex("12030a0107"))
    with pytest.raises(Unreadable, match="no dice"):
        read_outcome(current()["raffzahn"], Outcome(raffzahn=no_face))
