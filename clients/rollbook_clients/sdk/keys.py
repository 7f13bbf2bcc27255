"""The public keys that a service publishes: those of signed heads and those of replay files."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from rollbook import DEFAULT_ADDRESS
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

    async def all(self, seconds: float | None = None) -> dict[str, Ed25519PublicKey]:
        """By key id all that an audit needs: the keys of heads, then those of replay files, each the oldest first."""
        answer = await self._published(seconds)
        return self._read(answer.keys) | self._read(answer.replay_keys) | self._known

    async def _published(self, seconds: float | None = None) -> GetKeysResponse:
        return await self._connection.call(lambda line: line.identity.GetKeys, GetKeysRequest(), seconds=seconds)

    def _read(
        self, keys: Iterable[GetKeysResponse.HeadKey] | Iterable[GetKeysResponse.ReplayKey]
    ) -> dict[str, Ed25519PublicKey]:
        try:
            return {key.key_id: Ed25519PublicKey.from_public_bytes(key.public_key) for key in keys}
        except ValueError:
            raise RollbookError(f"what {self._connection.address} publishes are no Ed25519 keys") from None


async def published_keys(
    address: str = DEFAULT_ADDRESS, *, authorities: bytes | None = None, patience: Patience | None = None
) -> dict[str, Ed25519PublicKey]:
    """By key id the public keys of a service, for whoever has no more than its address: this takes no token."""
    patience = patience or Patience()
    connection = Connection(address, authorities, patience, Random())
    try:
        return await PublishedKeys(connection).all(patience.arrival)
    finally:
        await connection.close()
