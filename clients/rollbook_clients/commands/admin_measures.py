"""Commands of `rollbook admin` for what happens rarely: a token that leaked, a store that lost its data."""

from __future__ import annotations

from rollbook.cli.exits import Exit, Failed
from rollbook.cli.service_options import LOCAL_SERVICE, ServiceOptions
from rollbook_clients.commands.operator_acts import AsJson, run_as_operator
from rollbook_clients.commands.operator_text import say_facts
from rollbook_clients.sdk.operator import Operator


def revoke_token(jti: str, *, issuer: str = "", as_json: AsJson = False, at: ServiceOptions = LOCAL_SERVICE) -> int:
    """Revoke one token, in every process within two seconds; other tokens of its subject stay valid.

    `rollbook token` prints the id of a token (jti) when it mints it, and the service's log has it in every line about a
    call of an operator. Tokens of guests can be revoked as well, and then not be exchanged for new ones.

    Example: `rollbook admin revoke-token 9f2c4e0a1b3d5f70`

    Parameters
    ----------
    jti
        The id of the token.
    issuer
        Its issuer. Default: the service itself.
    as_json
        One JSON object.
    """

    async def work(operator: Operator) -> Exit:
        is_new = await operator.revoke_token(jti, issuer)
        say_facts({"jti": jti, "revoked": True, "is_new": is_new}, as_json=as_json)
        return Exit.GOOD

    return run_as_operator("revoke-token", at, work)


def accept_loss(*, as_json: AsJson = False, at: ServiceOptions = LOCAL_SERVICE) -> int:
    """Accept that the store has lost data, and let the service go on with what is there.

    After FLUSHALL or the like, the matches that were in the store are gone; archived ones stay. Restore a backup of the
    store instead if there is one: once it is back, the service goes on by itself. With durability `quorum`, the matches
    of which a new master lacks acknowledged events (`rollbook admin lost`) are ended, and their ids are printed. Exit
    code 1 if the store has lost nothing.

    Example: `rollbook admin accept-loss`

    Parameters
    ----------
    as_json
        One JSON object.
    """

    async def work(operator: Operator) -> Exit:
        ended = await operator.accept_loss()
        if ended is None:
            raise Failed(Exit.WRONG, "the store is the one that it was: there is no loss to accept")
        say_facts({"accepted": True, "ended": list(ended)}, as_json=as_json)
        return Exit.GOOD

    return run_as_operator("accept-loss", at, work)
