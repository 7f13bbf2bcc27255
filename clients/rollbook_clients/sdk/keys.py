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
    """The keys as far as they were needed; one that is not known is asked for once more."""

    def __init__(self, connection: Connection) -> None:
        """Ask when the first key is needed."""
        self._connection = connection
        self._known: dict[str, Ed25519PublicKey] = {}

    async def find(self, key_id: str) -> Ed25519PublicKey | None:
        """The key of heads with this id; none if the service has no such key."""
        if key_id not in self._known:
            answer = await self._published()
            # A key that was published stays what it was.
            self._known = self._read(answer.keys) | self._known
        return self._known.get(key_id)

    async def all(self, seconds: float | None = None, name: str = "") -> dict[str, KnownKey]:
        """By key id all that an audit needs: the keys of heads, then those of replay files, each the oldest first.

        They are called as whoever asks says, else as the service calls itself.
        """
        answer = await self._published(seconds)
        heads, replays = self._read(answer.keys) | self._known, self._read(answer.replay_keys)
        if heads.keys() & replays.keys():
            raise RollbookError(f"what {self._connection.address} publishes has a key with two roles")
        try:
            keys = keys_of_service(heads.values(), replays.values(), name or answer.name)
        except ValueError as wrong:
            raise RollbookError(f"what {self._connection.address} publishes cannot be used: {wrong}") from None
        return {key.key_id: key for key in keys}

    async def _published(self, seconds: float | None = None) -> GetKeysResponse:
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
    """By key id the public keys of a service, for whoever has no more than its address: this takes no token.

    Each has its role, and the name, by default the one that the service gives itself.
    """
    patience = patience or Patience()
    connection = Connection(address, authorities, patience, Random())
    try:
        return await PublishedKeys(connection).all(patience.arrival, name)
    finally:
        await connection.close()
