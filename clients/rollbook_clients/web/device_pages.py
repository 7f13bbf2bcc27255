"""Second devices: make a code with which another device becomes the same player, or enter one."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from rollbook_clients.sdk.guests import Caller, read_code
from rollbook_clients.web.visit import Visit

LONGEST_CODE: Final = 200


async def device(visit: Visit) -> Response:
    """The two forms."""
    return visit.show("device.html", code="")


async def make_code(visit: Visit) -> Response:
    """Make a code and show it once."""
    await visit.form()
    code = await (await visit.page.visitors.table(visit.visitor)).device_code()
    response = visit.show("device.html", code=code)
    response.headers["cache-control"] = "no-store"
    return response


async def enter_code(visit: Visit) -> Response:
    """Make this browser the player who made the code; the player that it was before is gone from it."""
    form, visitor = await visit.form(), visit.visitor
    code, secret = read_code(str(form.get("code", ""))[:LONGEST_CODE])
    caller = Caller(visit.page.connection, "", "", None, secret or visitor.secret, code=code or "-")
    await caller.arrive()
    visitor.secret, visitor.token, visitor.name = secret or visitor.secret, caller.token, caller.name
    return visit.go("/")


ROUTES: Final = (
    ("GET", "/device", device),
    ("POST", "/device", enter_code),
    ("POST", "/device/code", make_code),
)
