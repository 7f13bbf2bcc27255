"""Legal choices as a client lists them: exactly those of the rules, in every game."""

from __future__ import annotations

from random import Random

import pytest

from rollbook.match.codec.messages import read_choice
from rollbook.rules.catalogue import current
from rollbook.v1.cant_stop_pb2 import CantStopChoice
from rollbook.v1.games_pb2 import Choice, LegalChoices
from rollbook.v1.match_pb2 import MatchSummary
from rollbook.v1.wuerfelzoo_pb2 import WuerfelzooLegalChoices, WuerfelzooTurnChoices
from rollbook_clients.sdk.legal import Legal, choice_of
from tests.clients.sdk.tables import GAMES, SEED, pick, run, running, tables, turn
from tests.server.feeds.watching import Theatre


@pytest.mark.parametrize("game", GAMES)
def test_the_choices_listed_are_those_of_the_rules(game: str) -> None:
    """A client without rules lists each legal choice once, in the order of the rules, and counts them correctly."""
    rules = current()[game]

    async def scenario(theatre: Theatre) -> None:
        random = Random(SEED)
        async with tables(theatre, "Anna", "Ben", "Cora") as players:
            matches = await running(players, game)
            for _ in range(20):
                match, moment = await turn(matches)
                assert moment.legal
                state = (await theatre.service.replicas.ledger(match.id)).match.state
                if len(moment.legal) < 2_000:
                    listed = [read_choice(rules, choice) for choice in moment.legal]
                    assert list(rules.legal(state)) == listed
                    assert len(listed) == len(moment.legal)
                made = await match.choose(pick(moment.legal, random))
                if made.events[-1].kind == "sealed":
                    return

    run(scenario)


def test_a_turn_in_the_zoo_is_counted_without_being_listed() -> None:
    """Sixteen dice of one species and two doubles give more choices than a program can list."""
    turn = WuerfelzooTurnChoices(rerolls=range(18), doubles=[16, 17])
    turn.plays.add(species=1, dice=range(16), fewest=1, most=16)
    legal = Legal(LegalChoices(wuerfelzoo=WuerfelzooLegalChoices(described=turn)))
    assert 4 * (2**16 - 1) + 2**18 - 1 == len(legal)
    assert [0] == list(next(iter(legal)).wuerfelzoo.play.dice)


def test_no_choices_are_falsy_and_empty() -> None:
    """Legal choices of a kind that only a newer service knows count as none."""
    assert not Legal(LegalChoices())
    assert [] == list(Legal(LegalChoices()))


def test_a_choice_of_a_game_is_one_of_whatever_game() -> None:
    """`choice_of` takes a game's message and a Choice; other types raise TypeError."""
    stop = CantStopChoice(stop=CantStopChoice.Stop())
    assert Choice(cant_stop=stop) == choice_of(stop) == choice_of(choice_of(stop))
    with pytest.raises(TypeError, match="MatchSummary is no choice"):
        choice_of(MatchSummary())
