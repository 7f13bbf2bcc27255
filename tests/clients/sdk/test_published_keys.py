"""The keys that a service publishes are checked as strictly as a key file, because they are written to one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import grpc
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from rollbook.replay_file.key_lines import key_id, keys_of_service
from rollbook.v1.identity_pb2 import (
    CreateDeviceCodeRequest,
    CreateDeviceCodeResponse,
    GetKeysRequest,
    GetKeysResponse,
    SignInRequest,
    SignInResponse,
)
from rollbook.v1.identity_pb2_grpc import IdentityServiceServicer, add_IdentityServiceServicer_to_server
from rollbook_clients.sdk import RollbookError, published_keys
from tests.clients.sdk.tables import QUICK
from tests.test_ed25519 import SMALL_ORDER

HEAD, REPLAY = (Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32).public_key() for number in range(2))
WEAK = bytes.fromhex(SMALL_ORDER[4])


def honest(name: str = "Rollbook Köln") -> GetKeysResponse:
    """The answer of a correct service."""
    response = GetKeysResponse(name=name)
    response.keys.add(key_id=key_id(HEAD), public_key=HEAD.public_bytes_raw(), in_use=True)
    response.replay_keys.add(key_id=key_id(REPLAY), public_key=REPLAY.public_bytes_raw(), in_use=True)
    return response


class Saying(IdentityServiceServicer):
    """An identity service that answers GetKeys with a given response."""

    def __init__(self, response: GetKeysResponse) -> None:
        self.response = response

    async def GetKeys(  # noqa: N802 - named by the contract
        self, request: GetKeysRequest, context: object
    ) -> GetKeysResponse:
        """Return the given response."""
        del request, context
        return self.response

    async def SignIn(  # noqa: N802 - named by the contract
        self, request: SignInRequest, context: object
    ) -> SignInResponse:
        """Never called."""
        raise NotImplementedError

    async def CreateDeviceCode(  # noqa: N802 - named by the contract
        self, request: CreateDeviceCodeRequest, context: object
    ) -> CreateDeviceCodeResponse:
        """Never called."""
        raise NotImplementedError


def asked(response: GetKeysResponse, name: str = "") -> list[str]:
    """Ask such a service for its keys; returns the lines of the key file."""

    async def main() -> list[str]:
        server = grpc.aio.server()
        add_IdentityServiceServicer_to_server(Saying(response), server)
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        try:
            keys = await published_keys(f"127.0.0.1:{port}", name=name, patience=QUICK)
        finally:
            await server.stop(None)
        assert [key.key_id for key in keys.values()] == list(keys)
        return [key.line for key in keys.values()]

    return asyncio.run(main())


def test_the_keys_of_a_service_come_with_roles_and_its_name() -> None:
    """The caller's name replaces the service's; a service without a name is named by its oldest head key."""
    for response, given, name in (
        (honest(), "", "Rollbook Köln"),
        (honest(), "Köln", "Köln"),
        (honest(name=""), "", key_id(HEAD)),
    ):
        assert [key.line for key in keys_of_service([HEAD], [REPLAY], name)] == asked(response, given)


def weak_head(response: GetKeysResponse) -> None:
    """Publish a weak head key, under which one signature fits many messages."""
    response.keys[0].public_key = WEAK


def weak_replay(response: GetKeysResponse) -> None:
    """Publish a weak replay key."""
    response.replay_keys[0].public_key = WEAK


def short(response: GetKeysResponse) -> None:
    """Publish a key of the wrong length."""
    response.keys[0].public_key = b"short"


def misnamed(response: GetKeysResponse) -> None:
    """Publish a key with the id of another key."""
    response.replay_keys[0].key_id = key_id(HEAD)


def doubled(response: GetKeysResponse) -> None:
    """Publish one key in both roles."""
    response.replay_keys[0].key_id, response.replay_keys[0].public_key = key_id(HEAD), HEAD.public_bytes_raw()


def on_two_lines(response: GetKeysResponse) -> None:
    """Publish a name with a line break, which would add a line to a key file."""
    response.name = "Köln\nsecond line"


def none(response: GetKeysResponse) -> None:
    """Publish no keys."""
    response.Clear()


@pytest.mark.parametrize("change", [weak_head, weak_replay, short, misnamed, doubled, on_two_lines, none])
def test_keys_that_no_file_could_have_are_refused(change: Callable[[GetKeysResponse], None]) -> None:
    """A hostile service cannot put misleading lines into a key file."""
    response = honest()
    change(response)
    with pytest.raises(RollbookError, match="publishes") as refused:
        asked(response)
    assert str(refused.value).isprintable()
