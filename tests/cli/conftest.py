"""The site that a module of tests operates."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from rollbook.identity.keys import load
from rollbook.identity.tokens import Issuer, Role
from rollbook.storage.embedded.server import find_server
from tests.cli.operated import SERVE, Site
from tests.server.serving import another, started
from tests.storage.servers import running


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One site for all tests of this module; each test uses its own subjects and matches."""
    folder = tmp_path_factory.mktemp("site")
    with ExitStack() as stack:
        store = stack.enter_context(running(find_server(), folder / "valkey"))
        words = [*SERVE, "--redis", store.url, "--archive", str(folder / "archive"), "--data"]
        one = stack.enter_context(started([*words, str(folder / "one")]))
        other = stack.enter_context(started([*words, str(another(folder / "one", one))]))
        issuer = Issuer(load(folder / "one" / "token.key"))
        site = Site(store, (one, other), "", issuer)
        site.token = site.token_of("olga", Role.OPERATOR)
        yield site
