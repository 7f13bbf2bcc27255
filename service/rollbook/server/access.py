"""Who calls: the token in a call's metadata, and what its role allows.

ListGames, SignIn and GetKeys need no token and never look for one.
"""

from __future__ import annotations

from typing import Final

from rollbook.identity.tokens import Role, Subject, Verifier
from rollbook.server.rpc.errors import Context, Refusal

_SCHEME: Final = "bearer"


def caller_of(context: Context, verifier: Verifier) -> Subject:
    """Whose token came with the call; refused if there is none, more than one, or one that does not hold."""
    metadata = context.invocation_metadata() or ()
    sent = [value for key, value in metadata if key == "authorization"]
    if len(sent) == 1:
        value = sent[0] if isinstance(sent[0], str) else sent[0].decode("ascii", "replace")
        scheme, _, token = value.partition(" ")
        if scheme.lower() == _SCHEME and token:
            return verifier.verify(token)
    raise Refusal("TOKEN_MISSING", "the call needs one token, in the metadata as `authorization: Bearer …`")


def require(caller: Subject, role: Role) -> None:
    """Refuse a caller whose token does not give this role."""
    if caller.role is not role:
        raise Refusal("ROLE_MISSING", f"this needs the token of one in the role of {role}", {"role": role.value})


def judges(caller: Subject, match_id: str) -> bool:
    """Whether the caller is a judge of this match."""
    return caller.role is Role.JUDGE and match_id in caller.matches
