"""What commands of `rollbook admin` have in common: lists of matches, and the end of a match."""

from __future__ import annotations

import json

from rollbook.cli.exits import Exit
from rollbook.v1.match_pb2 import ListMatchesRequest
from rollbook_clients.commands.operator_text import json_of, match_line, say_facts
from rollbook_clients.sdk import LogLost, Refused
from rollbook_clients.sdk.operator import Operator


async def list_matches(operator: Operator, request: ListMatchesRequest, *, as_json: bool) -> Exit:
    """Print a page of matches."""
    found = await operator.matches(request)
    for summary in found.matches:
        print(json_of(summary) if as_json else match_line(summary))
    return say_next(found.next_page_token, as_json=as_json)


async def seal(operator: Operator, match: str, *, as_json: bool) -> Exit:
    """End a match, and print its last event."""
    answer = await operator.abort(match)
    say_facts({"match": match, "sealed_by_event": answer.made.last, "is_gone": answer.is_gone}, as_json=as_json)
    return Exit.GOOD


async def is_lost(operator: Operator, match_id: str) -> bool:
    """Whether the log of the match is lost."""
    try:
        await operator.match(match_id)
    except LogLost:
        return True
    except Refused as refused:
        if refused.reason == "LOG_LOST":
            return True
        raise
    return False


def say_next(token: str, *, as_json: bool) -> Exit:
    """Print the token of the next page, if there is one."""
    if token:
        print(json.dumps({"next_page": token}) if as_json else f"more: --page {token}")
    return Exit.GOOD
