"""Verification in the browser: a page whose scripts judge a file locally, and a copy of it to download."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Final

from markupsafe import Markup
from starlette.responses import Response

from rollbook.replay_file.key_lines import write_keys
from rollbook_clients.sdk.keys import PublishedKeys
from rollbook_clients.web.admission import match_id_of
from rollbook_clients.web.static_files import FOLDER
from rollbook_clients.web.visit import Visit

MODULES: Final = FOLDER / "verify"

ORDER: Final = (
    "bytes.js",
    "ed25519.js",
    "protobuf.js",
    "schema.js",
    "draws.js",
    "readable.js",
    "table.js",
    "replay_file.js",
    "key_files.js",
    "verifier.js",
    "page.js",
)
"""The script modules, each after those that it imports."""


async def verify(visit: Visit) -> Response:
    """The page for verifying a file with keys, both chosen by the user."""
    return _page(visit, "")


async def verify_match(visit: Visit) -> Response:
    """The page for verifying a match; it fetches the file and the service's published keys."""
    return _page(visit, match_id_of(visit))


def _page(visit: Visit, match_id: str) -> Response:
    digest = hashlib.sha256(_copy(visit).encode()).hexdigest()
    return visit.show("verify.html", match_id=match_id, digest=digest)


async def keys(visit: Visit) -> Response:
    """The service's public keys, as a key file."""
    known = await PublishedKeys(visit.page.connection).all()
    return Response(write_keys(known.values()), media_type="text/plain; charset=utf-8")


async def saved_copy(visit: Visit) -> Response:
    """The page and its scripts in one file, which works offline; its policy forbids network access."""
    copy = _copy(visit)
    headers = {"content-disposition": 'attachment; filename="rollbook-verify.html"'}
    return Response(copy, media_type="text/html; charset=utf-8", headers=headers)


def _copy(visit: Visit) -> str:
    """The saved copy. It is written as browsers serialise a document: its script hashes that, and shows the digest."""
    script = joined_modules()
    sheet = MODULES.joinpath("verify.css").read_text(encoding="utf-8")
    policy = f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(sheet)}'"
    return visit.page.render(
        "verify_copy.html",
        visit.words,
        script=Markup(script),  # noqa: S704 - our own
        sheet=Markup(sheet),  # noqa: S704 - our own
        policy=Markup(policy),  # noqa: S704 - our own, without double quotes
        match_id="",
    )


def joined_modules() -> str:
    """All modules of the verifier as one script."""
    return "".join(_wrap_module(name, MODULES.joinpath(name).read_text(encoding="utf-8")) for name in ORDER)


def _wrap_module(name: str, module: str) -> str:
    """Wrap a module into a function that returns its exports, so that its other names stay private."""
    exported = re.findall(r"^export (?:async )?(?:function\*?|class|const) (\w+)", module, re.MULTILINE)
    bound = re.sub(
        r"^import (\{[^}]*\}) from \"\./(\w+)\.js\";$",
        lambda found: f"const {found[1].replace(' as ', ': ')} = in_{found[2]};",
        module,
        flags=re.MULTILINE,
    )
    inside = re.sub(r"^export (?=async|function|class|const)", "", bound, flags=re.MULTILINE)
    if not exported:
        return inside
    return f"const in_{name.removesuffix('.js')} = (() => {{\n{inside}\nreturn {{ {', '.join(exported)} }};\n}})();\n"


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


ROUTES: Final = (
    ("GET", "/verify", verify),
    ("GET", "/matches/{match_id}/verify", verify_match),
    ("GET", "/verify/copy", saved_copy),
    ("GET", "/keys", keys),
)
