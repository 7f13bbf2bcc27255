"""What a browser prefers, kept in cookies."""

from __future__ import annotations

import re
from typing import Final

from starlette.responses import Response

from rollbook_clients.web.visit import Visit
from rollbook_clients.web.visitors import KEPT_SECONDS

SPOILERS: Final = "spoilers"
"""The cookie that is `on` for visitors who want to see lengths and results in advance."""

_ADDRESS: Final = re.compile(r"/(?!/)[\w/?=&.-]*")


def keep_cookie(visit: Visit, response: Response, name: str, value: str) -> Response:
    """Set a cookie with a preference of the visitor on a response."""
    response.set_cookie(name, value, max_age=KEPT_SECONDS, httponly=True, samesite="lax", secure=visit.is_secure)
    return response


def wants_spoilers(visit: Visit) -> bool:
    """Whether lists and replays may show lengths and results in advance."""
    return visit.request.cookies.get(SPOILERS) == "on"


async def switch_spoilers(visit: Visit) -> Response:
    """Remember that, and redirect to the page of the switch."""
    form = await visit.form()
    back = str(form.get("back", ""))
    there = visit.go(back if _ADDRESS.fullmatch(back) else "/me")
    return keep_cookie(visit, there, SPOILERS, "on" if form.get(SPOILERS) == "on" else "off")


ROUTES: Final = (("POST", "/me/spoilers", switch_spoilers),)
