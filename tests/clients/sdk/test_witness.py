"""Checks of a client: one chain, signed heads, and no contradiction to what it saw before."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from rollbook.match.chain import genesis, is_signed, sign_head
from rollbook.v1.events_pb2 import Event as EventMessage
from rollbook.v1.table_pb2 import ProjectedEvent, SignedHead
from rollbook_clients.sdk import (
    CaughtUp,
    Event,
    HeadsUnreadable,
    KeptHeads,
    LogBroken,
    Match,
    Position,
    Untrustworthy,
    WitnessedHead,
)
from rollbook_clients.sdk.commitments import Commitments
from tests.clients.sdk.tables import events, run, running, seated, table, tables, until
from tests.server.feeds.watching import Theatre


def told_anew(seen: list[Event]) -> list[ProjectedEvent]:
    """Return events in the form in which a feed sends them."""
    return [ProjectedEvent(event=event.data) for event in seen]


def changed(event: ProjectedEvent) -> ProjectedEvent:
    """Return the same event, one millisecond later."""
    message = EventMessage.FromString(event.event)
    message.time_ms += 1
    return ProjectedEvent(event=message.SerializeToString(deterministic=True))


TAMPERED: dict[str, tuple[Callable[[list[ProjectedEvent]], list[ProjectedEvent]], str]] = {
    "gap": (lambda told: told[:3] + told[4:], "event 4 is missing"),
    "double": (lambda told: [*told[:3], told[2], *told[3:]], "event 3 comes a second time"),
    "order": (lambda told: [told[0], told[2], told[1]], "event 2 is missing"),
    "changed": (lambda told: [*told[:2], changed(told[2]), *told[3:]], "event 4 does not follow"),
    "changed last": (lambda told: [*told[:-1], changed(told[-1])], "is not the one that was there before"),
    "no event": (lambda told: [*told[:2], ProjectedEvent(event=b"\xff")], "no event"),
}


@pytest.mark.parametrize("how", TAMPERED)
def test_events_that_do_not_hold_together_are_noticed(how: str) -> None:
    """Every change of the events raises LogBroken with its description."""
    tamper, why = TAMPERED[how]

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben", "Cora") as (anna, ben, cora):
            matches = await running([anna, ben])
            await matches[0].resign()
            seen = await events(matches[0])
            witness = matches[0]._witness
            assert tuple(seen) == witness.follow(told_anew(seen), Position(0, genesis(matches[0].id)))
            fresh = cora.match(matches[0].id)._witness
            if how == "changed last":
                fresh.see(seen[-1].position)
            with pytest.raises(LogBroken, match=why) as caught:
                fresh.follow(tamper(told_anew(seen)), Position(0, genesis(matches[0].id)))
            assert caught.value.found

    run(scenario)


def test_the_chain_is_checked_over_the_bytes_that_came() -> None:
    """Links hash the received bytes: the same event with its fields in another order has another link."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben", "Cora") as (anna, ben, cora):
            match, _ = await running([anna, ben])
            await match.resign()
            told = told_anew(await events(match))
            first = EventMessage.FromString(told[0].event)
            time = EventMessage(time_ms=first.time_ms).SerializeToString()
            otherwise = time + told[0].event.replace(time, b"", 1)
            assert EventMessage.FromString(otherwise) == first
            witness = cora.match(match.id)._witness
            with pytest.raises(LogBroken, match="event 2 does not follow"):
                witness.follow([ProjectedEvent(event=otherwise), *told[1:]], Position(0, genesis(match.id)))

    run(scenario)


def test_a_head_counts_only_if_a_published_key_signed_it() -> None:
    """A head of another match, by another key, or with a changed bit raises an exception."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben") as (anna, ben):
            match = await anna.open("cant_stop", 2)
            witness = ben.match(match.id)._witness
            head = match.head
            assert head is not None
            sound = SignedHead(
                match_id=head.match_id,
                sequence=head.sequence,
                link=head.link,
                key_id=head.key_id,
                signature=head.signature,
            )
            others = sign_head(theatre.token_key, head.match_id, head.sequence, head.link)
            elsewhere = sign_head(theatre.head_key, "b" * 24, head.sequence, head.link)
            for forged in (
                {"signature": bytes([head.signature[0] ^ 1]) + head.signature[1:]},
                {"sequence": head.sequence + 1},
                {"link": bytes(32)},
                {"key_id": "f" * 16},
                {"signature": others},
                {"match_id": "b" * 24, "signature": elsewhere},
            ):
                lie = SignedHead.FromString(sound.SerializeToString())
                for name, value in forged.items():
                    setattr(lie, name, value)
                with pytest.raises(LogBroken, match="not signed by a key of the service"):
                    await witness.check(lie)
            assert head == await witness.check(sound)

    run(scenario)


def test_two_signed_heads_that_contradict_each_other_are_evidence() -> None:
    """A client that receives two contradicting heads raises an exception with both."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna") as (anna,):
            match = await anna.open("cant_stop", 2)
            head = match.head
            assert head is not None
            other = SignedHead(match_id=match.id, sequence=head.sequence, link=bytes(32), key_id=head.key_id)
            other.signature = sign_head(theatre.head_key, match.id, head.sequence, bytes(32))
            with pytest.raises(LogBroken, match="not the one that was there before") as caught:
                await match._witness.check(other)
            assert (head, other) == (caught.value.head, SignedHead.FromString(caught.value.found))

    run(scenario)


def test_a_position_is_sent_with_the_signature_of_the_head_that_was_there() -> None:
    """The old signature is sent even if newer heads exist, so the service can find that it lost the end of its log."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna") as (anna,):
            match = await anna.open("cant_stop", 2)
            first = match.head
            await match.join()
            assert first is not None
            assert match.head is not None
            assert match.head.sequence > first.sequence
            witness = match._witness
            sent = witness.message(first.position)
            assert (first.sequence, first.link) == (sent.sequence, sent.link)
            assert (first.key_id, first.signature) == (sent.key_id, sent.signature)
            elsewhere = witness.message(Position(first.sequence, bytes(32)))
            assert ("", b"") == (elsewhere.key_id, elsewhere.signature)

    run(scenario)


def test_entropy_is_not_revealed_if_the_log_holds_another_commitment() -> None:
    """A service that replaced a seat's commitment does not receive the seat's entropy."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben") as players:
            matches = await seated(players)
            players[0]._caller._secret = bytes(32)
            with pytest.raises(LogBroken, match="nothing was revealed"):
                await matches[0].ready()
            assert 3 == len(await theatre.stored(matches[0].id))
            made = await matches[1].ready()
            assert ["ready"] == [event.kind for event in made.events]

    run(scenario)


def test_getting_ready_waits_for_the_last_seat_though_seats_change_hands() -> None:
    """The event that leaves no seat free closes the seats, also after earlier seats were taken and left."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben", "Cora") as (anna, ben, cora):
            match = await anna.open("cant_stop", 3)
            await match.join()
            ready = asyncio.create_task(match.ready())
            bens, coras = ben.match(match.id), cora.match(match.id)
            for _ in range(3):
                await bens.join()
                await bens.leave()
            await coras.join()
            assert not ready.done()
            closing = (await bens.join()).made.position
            made = await ready
            assert closing.link == made.events[0].message.ready.closing_link
            assert made.events[0].message.ready.entropy

    run(scenario)


def test_the_file_of_heads_holds_the_last_head_of_every_match(tmp_path: Path) -> None:
    """An audit can read the file; it persists between runs, and heads in it never go back."""
    file = tmp_path / "heads.jsonl"

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben", heads=file) as players:
            first = await running(players)
            second = await players[0].open("cant_stop", 2)
            heads = {match.id: match.head for match in (first[0], second)}
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        assert sorted(heads) == [line["match"] for line in lines]
        assert all(["match", "sequence", "link", "key_id", "signature"] == list(line) for line in lines)
        async with table(theatre, "Cora", heads=file) as cora:
            for match_id, head in heads.items():
                assert head is not None
                kept = cora.match(match_id).head
                assert kept is not None
                assert kept.sequence >= head.sequence
                key = theatre.head_key.public_key()
                assert is_signed(key, match_id, kept.sequence, kept.link, kept.signature)
            async with aclosing(cora.match(second.id).watch()) as frames:
                await until(frames, CaughtUp)

    run(scenario)


@pytest.mark.parametrize(("sequence", "why"), [(1, "event 1 is not the one"), (2, "the log ends at event 1")])
def test_a_rewritten_match_is_caught_with_a_head_from_an_earlier_run(sequence: int, why: str, tmp_path: Path) -> None:
    """The head vouches for an event that the shown log has changed or cut off."""
    file = tmp_path / "heads.jsonl"

    async def scenario(theatre: Theatre) -> None:
        async with table(theatre, "Anna") as anna:
            match = await anna.open("cant_stop", 2)
            head = match.head
            assert head is not None
            signature = sign_head(theatre.head_key, match.id, sequence, bytes(32))
            heads = KeptHeads(file)
            heads.keep(WitnessedHead(match.id, sequence, bytes(32), head.key_id, signature))
            heads.save()
        async with table(theatre, "Anna", heads=file) as anna:
            with pytest.raises(Untrustworthy, match=why):
                await events(anna.match(match.id))

    run(scenario)


def test_heads_never_go_back(tmp_path: Path) -> None:
    """A late answer, or another program that writes the same file, must not replace a newer head by an older one."""
    file = tmp_path / "heads.jsonl"
    older, newer = (WitnessedHead("m" * 24, sequence, bytes(32), "f" * 16, bytes(64)) for sequence in (6, 7))
    mine, others = KeptHeads(file), KeptHeads(file)
    others.keep(newer)
    others.save()
    mine.keep(older)
    mine.save()
    assert [newer] == list(mine) == list(KeptHeads(file))
    mine.keep(older)
    assert newer == mine.last("m" * 24)


def test_a_file_that_holds_no_heads_is_refused_by_line(tmp_path: Path) -> None:
    """Overwriting a file with evidence would be worse than not starting."""
    file = tmp_path / "heads.jsonl"
    file.write_text('\n{"match": "m"}\n')
    with pytest.raises(HeadsUnreadable, match="line 2"):
        KeptHeads(file)


def test_closing_is_the_event_that_leaves_no_seat_free() -> None:
    """A real log in which seats are taken, left and taken again."""

    async def scenario(theatre: Theatre) -> None:
        async with tables(theatre, "Anna", "Ben") as (anna, ben):
            match = await anna.open("cant_stop", 2)
            bens: Match = ben.match(match.id)
            await match.join(seat=1)
            await match.leave()
            await bens.join(seat=0)
            await match.join()
            stored = [ProjectedEvent(event=data) for data in await theatre.stored(match.id)]
            seen = match._witness.follow(stored, Position(0, genesis(match.id)))
            closing = Commitments(match._witness)
            closing.take(seen[:-1])
            assert closing.position is None
            closing.take(seen[-1:])
            assert seen[-1].position == closing.position

    run(scenario)
