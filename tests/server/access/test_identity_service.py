"""The IdentityService over a real channel: guests, old tokens, limits, and the published keys."""

from __future__ import annotations

import re
from typing import Any

import grpc
import pytest

from rollbook.ed25519 import public_key
from rollbook.identity.tokens import Role
from rollbook.replay_file.key_lines import key_id
from rollbook.server.access.device_codes import CODES_PER_HOUR, TRIES_PER_HOUR
from rollbook.server.configuration.limit_table import Limits
from rollbook.server.configuration.settings import SettingRefused, Settings
from rollbook.server.rpc.identity import RETURNS_PER_HOUR
from rollbook.v1 import identity_pb2
from tests.server.rpc.talking import Person, World, refusal, run


async def sign_in(world: World, **fields: Any) -> identity_pb2.SignInResponse:
    """Sign in as a guest."""
    response: identity_pb2.SignInResponse = await world.nobody().identity.SignIn(identity_pb2.SignInRequest(**fields))
    return response


def test_a_guest_gets_a_token_that_opens_matches() -> None:
    """Guests may choose a name; the token identifies them until it expires."""

    async def scenario(world: World) -> None:
        signed = await sign_in(world, name="Zoe\u0308")
        assert ("Zoë", False) == (signed.name, signed.same_subject)
        assert world.clock.ms + 7 * 24 * 3_600_000 == signed.expires_ms
        assert "Guest" == (await sign_in(world)).name
        guest = Person(world, world.channel, "guest", signed.token)
        match_id = (await guest.open()).match_id
        await guest.call("TakeSeat", match_id=match_id)
        assert "Zoë" == (await guest.look(match_id)).summary.seats[0].name

    run(scenario)


def test_a_device_code_makes_a_second_device_the_same_guest() -> None:
    """Each code works once, within five minutes, with any spelling, with the same or another name, at any process."""

    async def scenario(world: World) -> None:
        guest = Person(world, world.channel, "guest", (await sign_in(world, name="Anna")).token)
        match_id = (await guest.open()).match_id
        await guest.call("TakeSeat", match_id=match_id)

        async def code() -> identity_pb2.CreateDeviceCodeResponse:
            request = identity_pb2.CreateDeviceCodeRequest()
            made: identity_pb2.CreateDeviceCodeResponse
            made = await guest.identity.CreateDeviceCode(request, metadata=guest.metadata)
            return made

        made = await code()
        assert re.fullmatch("[A-Z2-7]{4}-[A-Z2-7]{4}", made.code)
        assert world.clock.ms + 300_000 == made.expires_ms
        async with world.serving(world.process()):
            second = await sign_in(world, device_code=made.code.lower().replace("-", " "))
        assert ("Anna", True) == (second.name, second.same_subject)
        device = Person(world, world.channel, "device", second.token)
        async with world.serving():
            device.stub = world.person("device").stub
            assert 0 == (await device.look(match_id)).perspective.seat
            assert "DEVICE_CODE_WRONG" == (await refusal(sign_in(world, device_code=made.code))).reason

    run(scenario)


def test_a_device_code_that_does_not_hold_is_refused() -> None:
    """A mistyped or expired code is refused, also beside a valid old token."""

    async def scenario(world: World) -> None:
        signed = await sign_in(world, name="Anna")
        guest = Person(world, world.channel, "guest", signed.token)
        made = await guest.identity.CreateDeviceCode(identity_pb2.CreateDeviceCodeRequest(), metadata=guest.metadata)
        for wrong in ("AAAA-2222", "nothing", "ä", made.code + "A"):
            told = await refusal(sign_in(world, device_code=wrong, old_token=signed.token))
            assert (grpc.StatusCode.PERMISSION_DENIED, "DEVICE_CODE_WRONG") == (told.code, told.reason)
        world.clock.ms = made.expires_ms
        assert "DEVICE_CODE_WRONG" == (await refusal(sign_in(world, device_code=made.code))).reason

    run(scenario)


def test_device_codes_are_for_guests_and_not_too_many() -> None:
    """Creating and trying codes is limited per hour; the refusal has the time to wait."""

    async def scenario(world: World) -> None:
        request = identity_pb2.CreateDeviceCodeRequest()
        player = world.person("player")
        told = await refusal(player.identity.CreateDeviceCode(request, metadata=player.metadata))
        assert ("ROLE_MISSING", "guest") == (told.reason, told.facts["role"])
        assert "TOKEN_MISSING" == (await refusal(world.nobody().identity.CreateDeviceCode(request))).reason
        guest = Person(world, world.channel, "guest", (await sign_in(world)).token)
        for _ in range(CODES_PER_HOUR):
            await guest.identity.CreateDeviceCode(request, metadata=guest.metadata)
        told = await refusal(guest.identity.CreateDeviceCode(request, metadata=guest.metadata))
        assert "TOO_MANY_CODES" == told.reason
        assert 0 < int(told.facts["retry_after_ms"]) <= 3_600_000 // CODES_PER_HOUR
        for _ in range(TRIES_PER_HOUR):
            assert "DEVICE_CODE_WRONG" == (await refusal(sign_in(world, device_code="AAAA-2222"))).reason
        assert "TOO_MANY_CODES" == (await refusal(sign_in(world, device_code="AAAA-2222"))).reason

    run(scenario)


def test_the_store_can_read_nothing_of_a_device_code() -> None:
    """A backup of the store does not contain code, subject or name in readable form."""

    async def scenario(world: World) -> None:
        guest = Person(world, world.channel, "guest", (await sign_in(world, name="Xanthippe")).token)
        made = await guest.identity.CreateDeviceCode(identity_pb2.CreateDeviceCodeRequest(), metadata=guest.metadata)
        ((name, (value, _)),) = world.log._kept.items()
        for readable in (made.code, made.code.replace("-", ""), "guest-", "Xanthippe"):
            assert readable.encode() not in name.encode() + value

    run(scenario)


def test_an_old_token_keeps_the_subject_for_thirty_days_after_it_expired() -> None:
    """The guest keeps the seat and may change the name; an invalid old token is refused, not ignored."""

    async def scenario(world: World) -> None:
        signed = await sign_in(world, name="Anna")
        guest = Person(world, world.channel, "guest", signed.token)
        match_id = (await guest.open()).match_id
        await guest.call("TakeSeat", match_id=match_id)
        world.clock.ms = signed.expires_ms + 29 * 24 * 3_600_000
        again = await sign_in(world, old_token=signed.token)
        assert ("Anna", True) == (again.name, again.same_subject)
        returned = Person(world, world.channel, "guest", again.token)
        assert 0 == (await returned.look(match_id)).perspective.seat
        assert "Berta" == (await sign_in(world, old_token=signed.token, name="Berta")).name
        world.clock.ms += 2 * 24 * 3_600_000
        assert "TOKEN_EXPIRED" == (await refusal(sign_in(world, old_token=signed.token))).reason
        nothing = "nothing"
        assert "TOKEN_MALFORMED" == (await refusal(sign_in(world, old_token=nothing))).reason
        judge = world.token("judge", Role.JUDGE, (match_id,))
        for minted in (judge, world.token("anna")):
            assert "TOKEN_ROLE_NOT_TRUSTED" == (await refusal(sign_in(world, old_token=minted))).reason

    run(scenario)


@pytest.mark.parametrize("name", ["a\nb", "x" * 41, " a", "\u202ea", "\u3164", "b" + "\u0363" * 4])
def test_a_name_that_cannot_be_shown_is_refused(name: str) -> None:
    """The fact `why` explains the refusal."""

    async def scenario(world: World) -> None:
        told = await refusal(sign_in(world, name=name))
        assert (grpc.StatusCode.INVALID_ARGUMENT, "NAME_REFUSED") == (told.code, told.reason)
        assert set(told.facts) in ({"why"}, {"why", "character"})

    run(scenario)


@pytest.mark.parametrize(
    ("name", "why", "character"), [("Tom ▲", "reserved_sign", "5"), ("Du0", "reserved_name", None)]
)
def test_a_name_that_reads_like_a_bot_or_a_mark_is_refused(name: str, why: str, character: str | None) -> None:
    """When signing in and when sitting down, with the rule and the place of the character."""

    async def scenario(world: World) -> None:
        guest = world.nobody((await sign_in(world, name="Anna")).token)
        match_id = (await guest.open()).match_id
        for told in (
            await refusal(sign_in(world, name=name)),
            await refusal(guest.call("TakeSeat", match_id=match_id, name=name)),
        ):
            assert ("NAME_REFUSED", why, character) == (told.reason, told.facts["why"], told.facts.get("character"))

    run(scenario)


@pytest.mark.parametrize("name", ["An\u3164na", "b" + "\u0363" * 4, "Willi (bot)", "Uno", "admin"])
def test_a_guest_keeps_a_name_that_new_guests_may_not_have(name: str) -> None:
    """The guest can return and take a seat with the old name; a new name of that kind is refused."""

    async def scenario(world: World) -> None:
        token = world.issuer.mint(
            "guest-1", Role.PLAYER, name=name, issued_at=world.clock.ms // 1_000, lifetime_seconds=60
        )
        for fields in ({}, {"name": name}):
            assert name == (await sign_in(world, old_token=token, **fields)).name
        refused = await refusal(sign_in(world, old_token=token, name="b\u3164"))
        assert "NAME_REFUSED" == refused.reason
        guest = world.nobody(token)
        match_id = (await guest.open()).match_id
        assert "NAME_REFUSED" == (await refusal(guest.call("TakeSeat", match_id=match_id, name="b\u3164"))).reason
        await guest.call("TakeSeat", match_id=match_id, name=name)
        assert name == (await guest.look(match_id)).summary.seats[0].name

    run(scenario)


def test_guests_can_be_switched_off() -> None:
    """Tokens of other issuers still work."""

    async def scenario(world: World) -> None:
        told = await refusal(sign_in(world))
        assert (grpc.StatusCode.PERMISSION_DENIED, "GUESTS_OFF") == (told.code, told.reason)
        await world.person("one").open()

    run(scenario, takes_guests=False)


def test_a_guest_who_returns_is_no_new_guest() -> None:
    """A returning guest does not count as new; a separate limit stops frequent returns."""

    async def scenario(world: World) -> None:
        first = await sign_in(world)
        assert "TOO_MANY_GUESTS" == (await refusal(sign_in(world))).reason
        for _ in range(RETURNS_PER_HOUR):
            assert (await sign_in(world, old_token=first.token)).same_subject
        assert "RATE_LIMITED" == (await refusal(sign_in(world, old_token=first.token))).reason
        assert "TOO_MANY_GUESTS" == (await refusal(sign_in(world))).reason

    run(scenario, limits=Limits(guests_per_address_per_hour=1))


def test_so_many_guests_come_from_one_address_in_an_hour() -> None:
    """The refusal has the time of the next try."""

    async def scenario(world: World) -> None:
        await sign_in(world)
        await sign_in(world)
        told = await refusal(sign_in(world))
        assert (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_GUESTS") == (told.code, told.reason)
        world.clock.ms += int(told.facts["retry_after_ms"])
        await sign_in(world)

    run(scenario, limits=Limits(guests_per_address_per_hour=2))


def test_the_keys_of_heads_and_files_are_published_old_ones_too() -> None:
    """Keys are listed oldest first; the key in use has signed the heads."""

    async def scenario(world: World) -> None:
        response = await world.nobody().identity.GetKeys(identity_pb2.GetKeysRequest())
        opened = await world.person("one").open()
        assert [False, True] == [key.in_use for key in response.keys]
        assert opened.made.head.key_id == response.keys[-1].key_id
        assert world.head_key.public_key().public_bytes_raw() == response.keys[-1].public_key
        (replay,) = response.replay_keys
        assert (world.replay_key.public_key().public_bytes_raw(), True) == (replay.public_key, replay.in_use)

    run(scenario)


def test_the_keys_are_those_of_the_name_that_the_operator_gave() -> None:
    """Judges call the service by this name; the default is the id of the oldest head key, which no rotation changes."""

    async def scenario(world: World) -> None:
        response = await world.nobody().identity.GetKeys(identity_pb2.GetKeysRequest())
        oldest = public_key(response.keys[0].public_key)
        assert (world.name or key_id(oldest)) == response.name

    run(scenario)
    run(scenario, name="Rollbook Köln")
    for name in ("", " Köln", "K\u202eöln", "K\nöln", "x" * 101):
        with pytest.raises(SettingRefused, match="--name: a name has 1 to 100 printable characters"):
            Settings.read(name=name)
    assert "x" * 100 == Settings.read(name="x" * 100).name
