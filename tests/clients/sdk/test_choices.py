"""Choices by the names of the rules: made, printed, and refused together with the legal ones."""

from __future__ import annotations

import inspect
import pydoc
from typing import Any

import pytest

from rollbook.identity.tokens import Role
from rollbook.rules.catalogue import current
from rollbook.v1.cant_stop_pb2 import CantStopChoice, CantStopLegalChoices
from rollbook.v1.games_pb2 import Choice, LegalChoices
from rollbook_clients import sdk
from rollbook_clients.sdk import Illegal, Legal, Malformed, NotAllowed, NotNow, connect, sync
from rollbook_clients.sdk.choices import CantStop, Raffzahn, from_words, in_words
from tests.clients.sdk.tables import GAMES, address, run, running, tables, turn
from tests.server.feeds.watching import Theatre


def test_choices_are_made_by_name() -> None:
    """Lists are given by values, other fields by place or name; a missing or unknown field is the caller's error."""
    advance = Choice()
    advance.cant_stop.advance.columns.extend([2, 8])
    assert advance == CantStop.advance(2, 8) == CantStop.advance(columns=[2, 8])
    take = Choice()
    take.raffzahn.take.tile, take.raffzahn.take.safe = 21, False
    assert take == Raffzahn.take(21, safe=False)
    assert ["advance", "roll", "stop"] == sorted(dir(CantStop))
    mistakes: tuple[Any, ...] = (CantStop.advance, lambda: CantStop.stop(1), lambda: CantStop.advance(rows=[2]))
    for wrong in mistakes:
        with pytest.raises(TypeError, match="takes"):
            wrong()
    with pytest.raises(AttributeError, match="its choices: advance"):
        CantStop.jump()


def test_a_choice_is_told_in_words() -> None:
    """`str` of a choice prints its words in every game, and "nothing" for an empty choice."""
    assert "advance 2 8" == str(CantStop.advance(2, 8)) == in_words(CantStop.advance(2, 8))
    assert "take tile 21, safe true" == str(Raffzahn.take(21, safe=True))
    assert "nothing" == str(Choice()) == str(Choice(cant_stop=CantStopChoice()))


@pytest.mark.parametrize("game", GAMES)
def test_legal_choices_of_every_game_are_told_apart(game: str) -> None:
    """No two legal choices print alike; each begins with a kind of the rules, and its words give the same choice."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben", "Cora") as players:
            _, moment = await turn(await running(players, game))
            assert moment.legal
            told = [str(choice) for choice in moment.legal]
            assert len(set(told)) == len(told)
            assert all(from_words(game, str(choice)) == choice for choice in moment.legal)
            assert {words.split()[0] for words in told} <= current()[game].choices.keys()

    run(scenario)


def test_what_is_no_choice_is_refused_with_those_that_are_legal() -> None:
    """The SDK refuses other types and unknown words itself, and the exception lists the legal choices."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben", "Cora") as (*players, cora):
            match, moment = await turn(await running(players))
            wrong: tuple[Any, ...] = ("jump", "", "advance", "advance two", "advance " + "9" * 30, "stop 1", 7, Choice)
            for choice in wrong:
                with pytest.raises(Malformed, match=r"is no choice.*legal here: advance") as refused:
                    await match.choose(choice)
                assert moment.legal == refused.value.legal
                assert "NOTHING_CHOSEN" == refused.value.reason
            with pytest.raises(Malformed, match="was not shown what it may choose"):
                await cora.match(match.id).choose("stop")

    run(scenario)


def test_a_choice_is_made_by_its_words() -> None:
    """`choose` takes the words that `repr` prints; the rules refuse the words of a choice that is not legal now."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben") as players:
            match, moment = await turn(await running(players))
            words = str(list(moment.legal or ())[-1])
            assert repr(moment.legal).startswith("Legal(")
            assert repr(moment.legal).endswith(f"{words})")
            assert repr(list(moment.legal or ())).endswith(f"{words}]")
            with pytest.raises(Illegal):
                await match.choose("stop")
            await match.choose(words)
            assert "Legal(roll, stop)" == repr((await match.state()).legal)
            assert "chosen" == (await match.choose("stop")).events[0].kind

    run(scenario)


def test_legal_choices_that_are_many_are_counted() -> None:
    """`repr` prints the first twenty and the number of the others."""
    choices = [CantStop.advance(number, 12).cant_stop for number in range(30)]
    legal = Legal(LegalChoices(cant_stop=CantStopLegalChoices(choices=choices)))
    assert repr(legal).endswith(", advance 19 12, and 10 more)")


def test_what_the_rules_do_not_allow_is_illegal() -> None:
    """A choice against the rules raises Illegal with the legal choices; one against the state of the match does not."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben") as players:
            match, moment = await turn(await running(players))
            with pytest.raises(Illegal) as refused:
                await match.choose(CantStop.stop())
            assert not isinstance(refused.value, NotNow)
            assert moment.legal == refused.value.legal

    run(scenario)


def test_help_fits_on_a_few_screens() -> None:
    """`help(sdk)` prints at most 200 lines."""
    assert len(pydoc.plain(pydoc.render_doc(sdk)).splitlines()) <= 200


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (sync.SyncMatch.join, "TakenSeat"),
        (sync.SyncMatch.play, "Generator[Events, None, None]"),
        (sync.SyncTable.matches, "Generator[MatchSummary, None, None]"),
        (sync.SyncTable.open, "SyncMatch"),
        (sync.SyncMatch.rematch, "SyncMatch"),
        (sync.connect, "SyncTable"),
    ],
)
def test_signatures_without_async_say_what_they_give(function: object, given: str) -> None:
    """The signature has the result itself, not an awaitable."""
    assert given == str(inspect.signature(function).return_annotation)  # type: ignore[arg-type]


def test_operators_list_and_abort_whatever_there_is() -> None:
    """Operators can list and abort private matches too; players get NotAllowed."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben") as players:
            match, _ = await turn(await running(players, is_private=True))
            with pytest.raises(NotAllowed):
                await players[1].match(match.id).abort()
            async with connect(address(theatre), token=theatre.token("boss", Role.OPERATOR)) as operator:
                assert [match.id] == [summary.match_id async for summary in operator.matches()]
                made = await operator.match(match.id).abort()
            assert made is not None
            assert "sealed" == made.events[-1].kind

    run(scenario)
