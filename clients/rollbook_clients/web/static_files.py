"""The static files of the page, at addresses that contain a hash of all of them, so that browsers keep them for ever.

The files import each other by relative addresses, which therefore contain the same hash. A script that only one other
imports is part of that one.
"""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from posixpath import dirname, join, normpath
from typing import Final

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

FOR_EVER: Final = "public, max-age=31536000, immutable"
FOLDER: Final = files("rollbook_clients.web") / "static"

_IMPORT: Final = re.compile(r"^(?:import|\}) [^;]*?\"(\.[^\"]+)\";$", re.MULTILINE)
_WHOLE_IMPORT: Final = re.compile(r"^import (?:(?:\* as )?([^;]*?) from )?\"\./(\w+\.js)\";\n", re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (\w+))", re.MULTILINE)
_COMMENT: Final = re.compile(r"^[ \t]*(?://[^\n]*|/\*\*.*?\*/)\n", re.MULTILINE | re.DOTALL)
_COMMENT_OF_SHEET: Final = re.compile(r"/\*.*?\*/", re.DOTALL)
_SPACE_OF_SHEET: Final = re.compile(r"\s*([{};,>])\s*|: ")
_MARGIN: Final = re.compile(r"^\s+|[ \t]+$", re.MULTILINE)


def _small(name: str, text: str) -> str:
    """A script or a style sheet without comments and margins."""
    if name.endswith(".js"):
        return _MARGIN.sub("", _COMMENT.sub("", text))
    return re.sub(
        r"\s*([{};,>])\s*|: ", lambda found: found[1] or ":", _MARGIN.sub("", _COMMENT_OF_SHEET.sub("", text))
    )


def _join(scripts: Mapping[str, str]) -> dict[str, str]:
    """The scripts, where one that imports nothing and that only one other imports is part of that one."""
    imports = Counter(name for text in scripts.values() for _, name in _WHOLE_IMPORT.findall(text))

    def write(found: re.Match[str]) -> str:
        bound, name = found[1], found[2]
        if imports[name] > 1 or _WHOLE_IMPORT.search(scripts[name]):
            return found[0]
        inside, exported = _EXPORT.sub("", scripts[name]), _EXPORT.findall(scripts[name])
        # In a function or a block, its other names stay private.
        if not bound:
            return f"{{\n{inside}}}\n"
        return f"const {bound} = (() => {{\n{inside}return {{ {', '.join(exported)} }};\n}})();\n"

    return {name: _WHOLE_IMPORT.sub(write, text) for name, text in scripts.items()}


def _read(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _read(entry, f"{prefix}{entry.name}/")
        else:
            yield prefix + entry.name, entry.read_bytes()


class StaticFiles:
    """All static files with their compressed forms, read once at the start."""

    def __init__(self, made: Mapping[str, str]) -> None:
        """Read the files of the package; files in `made` are added, or replace those of the same name."""
        found = dict(_read(FOLDER)) | {name: text.encode() for name, text in made.items()}
        texts = {name: data.decode() for name, data in found.items() if name.endswith((".js", ".css"))}
        texts |= _join({name: text for name, text in texts.items() if name.endswith(".js") and "/" not in name})
        self._files = found | {name: _small(name, text).encode() for name, text in texts.items()}
        self._compressed = {name: gzip.compress(data, mtime=0) for name, data in self._files.items()}
        digest = hashlib.sha256()
        for name, data in sorted(self._files.items()):
            digest.update(f"{name} {len(data)} ".encode() + data)
        self.hash = digest.hexdigest()[:12]
        self.routes = [Route("/s/{hash}/{name:path}", self._respond), Route("/static/{name:path}", self._redirect)]

    def address(self, name: str) -> str:
        """The address of a file; raises KeyError if there is no such file."""
        self._files[name]
        return f"/s/{self.hash}/{name}"

    def modules(self, name: str) -> list[str]:
        """A script module and all that it imports, each once."""
        found = [name]
        for each in found:
            for imported in _IMPORT.findall(self._files[each].decode()):
                path = normpath(join(dirname(each), imported))
                if path not in found:
                    found.append(path)
        return found

    def scripts(self, name: str) -> Markup:
        """The elements that load a script module, and its imports at the same time."""
        modules = self.modules(name)
        return _preload(map(self.address, modules[1:])) + Markup('<script type="module" src="{}"></script>').format(
            self.address(modules[0])
        )

    def preloads(self, name: str, used: str) -> Markup:
        """The elements that load a script module of the next page in advance, beside the module `used` by this page."""
        return _preload(self.address(each) for each in self.modules(name) if each not in self.modules(used))

    async def _respond(self, request: Request) -> Response:
        name = str(request.path_params["name"])
        if name not in self._files:
            raise HTTPException(404, "error.no_page")
        # A page of another release gets the files of this one, but does not keep them.
        kept = FOR_EVER if request.path_params["hash"] == self.hash else "no-store"
        headers = {"cache-control": kept, "vary": "accept-encoding"}
        data = self._files[name]
        if "gzip" in request.headers.get("accept-encoding", ""):
            data = self._compressed[name]
            headers["content-encoding"] = "gzip"
        kind, _ = mimetypes.guess_type(name)
        return Response(data, media_type=kind or "application/octet-stream", headers=headers)

    async def _redirect(self, request: Request) -> Response:
        """Redirect an address without a hash to the current one."""
        try:
            return RedirectResponse(self.address(str(request.path_params["name"])), 302)
        except KeyError:
            raise HTTPException(404, "error.no_page") from None


def _preload(addresses: Iterable[str]) -> Markup:
    return Markup().join(Markup('<link rel="modulepreload" href="{}">').format(address) for address in addresses)
