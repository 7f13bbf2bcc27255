"""The public keys that a service publishes: those of signed heads and those of replay files."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from rollbook import DEFAULT_ADDRESS
from rollbook.ed25519 import public_key
from rollbook.replay_file.key_lines import KnownKey, key_id, keys_of_service
from rollbook.v1.identity_pb2 import GetKeysRequest, GetKeysResponse
from rollbook_clients.sdk.connection import Connection
from rollbook_clients.sdk.patience import Patience
from rollbook_clients.sdk.refusals import RollbookError


class PublishedKeys:
    """A cache of the service's keys; requests the keys again when a key id is missing."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known: dict[str, Ed25519PublicKey] = {}

    async def find(self, key_id: str) -> Ed25519PublicKey | None:
        """The key for heads with this id; None if the service has no such key."""
        if key_id not in self._known:
            answer = await self._fetch()
            # Keys that were seen once take precedence: a published key never changes.
            self._known = self._read(answer.keys) | self._known
        return self._known.get(key_id)

    async def all(self, seconds: float | None = None, name: str = "") -> dict[str, KnownKey]:
        """All keys that an audit needs, by key id: keys of heads, then keys of replay files, each oldest first.

        The keys carry `name`, by default the name that the service gives itself. Raises RollbookError if a key has two
        roles.
        """
        answer = await self._fetch(seconds)
        heads, replays = self._read(answer.keys) | self._known, self._read(answer.replay_keys)
        if heads.keys() & replays.keys():
            raise RollbookError(f"what {self._connection.address} publishes has a key with two roles")
        try:
            keys = keys_of_service(heads.values(), replays.values(), name or answer.name)
        except ValueError as wrong:
            raise RollbookError(f"what {self._connection.address} publishes cannot be used: {wrong}") from None
        return {key.key_id: key for key in keys}

    async def _fetch(self, seconds: float | None = None) -> GetKeysResponse:
        return await self._connection.call(lambda line: line.identity.GetKeys, GetKeysRequest(), seconds=seconds)

    def _read(
        self, keys: Iterable[GetKeysResponse.HeadKey] | Iterable[GetKeysResponse.ReplayKey]
    ) -> dict[str, Ed25519PublicKey]:
        try:
            found = [(key.key_id, public_key(key.public_key)) for key in keys]
        except ValueError as wrong:
            raise RollbookError(f"what {self._connection.address} publishes are no Ed25519 keys: {wrong}") from None
        if any(name != key_id(key) for name, key in found):
            raise RollbookError(f"what {self._connection.address} publishes has a key by the id of another")
        return dict(found)


async def published_keys(
    address: str = DEFAULT_ADDRESS,
    *,
    name: str = "",
    authorities: bytes | None = None,
    patience: Patience | None = None,
) -> dict[str, KnownKey]:
    """The public keys of a service by key id. Needs only its address, no token.

    Each key has its role and a name, by default the name that the service gives itself.
    """
    patience = patience or Patience()
    connection = Connection(address, authorities, patience, Random())
    try:
        return await PublishedKeys(connection).all(patience.arrival, name)
    finally:
        await connection.close()
