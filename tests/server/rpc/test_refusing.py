"""Refusals: one reason and one status code for each error, as in the contract's comments."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import pytest

from rollbook.identity.refusals import NameReason, NameRefused, TokenReason, TokenRefused
from rollbook.identity.tokens import OWN_ISSUER, Role, Subject
from rollbook.match.codec.moves import Unreadable
from rollbook.match.commands import Declined, Why
from rollbook.rules.refusals import Fact, Invalid, Reason
from rollbook.server.failures import MatchUnknown, RequestReused, TailLost
from rollbook.server.refusals import Refusal, refusal_of
from rollbook.server.rpc.errors import MOST_DETAIL_BYTES, detail_of, play_refusal, status_of
from rollbook.server.rpc.location import Asked
from rollbook.storage.port import REPLICAS_DIFFER, AppendUnconfirmed, StoreUnavailable
from rollbook.v1.games_pb2 import LegalChoices
from rollbook.v1.refusals_pb2 import RefusalDetail, RefusalReason
from rollbook.v1.table_pb2 import Position
from tests.server.rpc.talking import World, refusal, run


@pytest.mark.parametrize(
    "error",
    [
        *[Declined(why, "why") for why in Why],
        *[Invalid(reason, "why") for reason in Reason],
        *[TokenRefused(reason, "why") for reason in TokenReason],
        *[NameRefused(reason, "why") for reason in NameReason],
        MatchUnknown("m"),
        RequestReused(),
        TailLost("m", 2, 1),
        StoreUnavailable(),
        AppendUnconfirmed(),
        Unreadable(),
    ],
    ids=repr,
)
def test_whatever_a_handler_can_meet_has_a_reason_in_the_contract(error: Exception) -> None:
    """The status is never INTERNAL, and the details have the reason and the error's sentence."""
    told = refusal_of(error)
    assert told is not None
    assert told.code not in {grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN, grpc.StatusCode.OK}
    assert RefusalReason.Value(f"REFUSAL_REASON_{told.reason}") == detail_of(told).reason


def test_a_reason_that_is_not_in_the_contract_cannot_be_told() -> None:
    """A reason outside the contract raises an error, because clients could not look it up."""
    with pytest.raises(ValueError, match="REFUSAL_REASON_WEATHER"):
        Refusal("WEATHER", "it rains")


def test_details_stay_below_four_kibibytes() -> None:
    """Legal choices are dropped first, then facts; the sentence is cut."""
    legal = LegalChoices()
    for column in range(2_000):
        legal.cant_stop.choices.add().advance.columns.append(column % 11 + 2)
    facts = {f"{number} {'n' * 99}": "v" * 999 for number in range(30)}
    told = Refusal("COLUMNS_NOT_OFFERED", "why " * 999, facts, legal=legal)
    status = status_of(told)
    assert status.ByteSize() <= MOST_DETAIL_BYTES
    assert 500 == len(status.message)
    played = play_refusal(told)
    assert (False, True) == (played.detail.HasField("legal"), played.detail.legal_left_out)
    small = play_refusal(Refusal("COLUMNS_NOT_OFFERED", "why", legal=LegalChoices(cant_stop=legal.cant_stop)))
    assert small.detail.legal_left_out


def test_facts_are_written_for_every_language() -> None:
    """Numbers are decimals, booleans true or false, lists have commas, and None is left out."""
    told = Refusal("SEAT_TAKEN", "why", {"seat": 1, "free": (2, 3), "sure": True, "none": None})
    assert {"seat": "1", "free": "2,3", "sure": "true"} == dict(detail_of(told).facts)


class Broken:
    """A store that fails with a given error."""

    def __init__(self, error: Exception) -> None:
        """Fail with this error."""
        self.error = error

    def __getattr__(self, name: str) -> Any:
        """Every method fails."""

        async def fail(*_: Any, **__: Any) -> Any:
            raise self.error

        return fail


@pytest.mark.parametrize(
    ("error", "code", "reason"),
    [
        (StoreUnavailable("away"), grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE"),
        (AppendUnconfirmed("away"), grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE"),
        (StoreUnavailable("away", REPLICAS_DIFFER), grpc.StatusCode.UNAVAILABLE, "NOT_DURABLE"),
        (AppendUnconfirmed("away", REPLICAS_DIFFER), grpc.StatusCode.UNAVAILABLE, "NOT_DURABLE"),
        (Unreadable("new"), grpc.StatusCode.UNAVAILABLE, "EVENT_BODY_UNKNOWN"),
        (TailLost("m", 2, 1), grpc.StatusCode.DATA_LOSS, "LOG_LOST"),
    ],
)
def test_what_the_store_does_is_told_by_name(error: Exception, code: grpc.StatusCode, reason: str) -> None:
    """The details name the reason, as for every refusal."""

    async def scenario(world: World) -> None:
        told = await refusal(world.person("one").look("a" * 24))
        assert (code, reason) == (told.code, told.reason)

    run(scenario, log=Broken(error))


def test_what_no_client_can_cause_is_logged_and_told_without_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    """The client gets INTERNAL without the error's text; the log has the text."""

    async def scenario(world: World) -> None:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await world.person("one").look("a" * 24)
        assert grpc.StatusCode.INTERNAL == caught.value.code()
        assert "secret" not in str(caught.value.details())

    run(scenario, log=Broken(RuntimeError("a secret")))
    assert "a secret" in capsys.readouterr().out


def test_a_cancelled_call_stays_cancelled() -> None:
    """CancelledError reaches the handler's task; no layer swallows it."""

    class Slow(Broken):
        """A store that never answers."""

        def __getattr__(self, name: str) -> Any:
            """Every method waits for ever."""

            async def wait(*_: Any, **__: Any) -> None:
                self.asked.set()
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    self.cancelled.set()
                    raise

            return wait

    async def scenario(world: World) -> None:
        store = world.log
        store.asked, store.cancelled = asyncio.Event(), asyncio.Event()
        call = asyncio.ensure_future(world.person("one").look("a" * 24))
        await store.asked.wait()
        call.cancel()
        await store.cancelled.wait()
        with pytest.raises(asyncio.CancelledError):
            await call

    run(scenario, log=Slow(RuntimeError()))


def test_what_is_no_refusal_stays_what_it_is() -> None:
    """The match's position is only added to refusals; other errors pass unchanged."""

    async def scenario(world: World) -> None:
        located = world.service._locator.locate
        asked = Asked(Subject(OWN_ISSUER, "one", Role.PLAYER, (), "", 0), "a" * 24, Position())
        for fault in (RuntimeError("ours"), KeyError("ours")):
            assert fault is await located(asked, fault)

    run(scenario)


def test_as_few_facts_as_need_be_are_left_out() -> None:
    """The last facts by name are dropped first; none is dropped where all fit."""
    facts: dict[str, Fact] = {f"fact{number:02}": "v" * 199 for number in range(16)}
    kept = list(detail_kept(facts))
    assert facts.keys() >= set(kept)
    assert sorted(facts)[: len(kept)] == sorted(kept)
    assert 0 < len(kept) < len(facts)
    one_more = {**{name: facts[name] for name in kept}, sorted(facts)[len(kept)]: "v" * 199}
    assert kept == list(detail_kept(one_more))
    few = {name: facts[name] for name in kept}
    assert kept == list(detail_kept(few))


def detail_kept(facts: dict[str, Fact]) -> list[str]:
    """The names of the facts that a client receives, in order."""
    detail = RefusalDetail()
    status = status_of(Refusal("COLUMNS_NOT_OFFERED", "why", facts))
    assert status.ByteSize() <= MOST_DETAIL_BYTES
    assert status.details[1].Unpack(detail)
    return sorted(detail.facts)
