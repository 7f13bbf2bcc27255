"""`rollbook serve --reserved-names`: names that no player may choose."""

from __future__ import annotations

from pathlib import Path

import grpc
import pytest

from rollbook.v1.identity_pb2 import SignInRequest
from rollbook.v1.identity_pb2_grpc import IdentityServiceStub
from tests.cli.test_serve import ANY_PORT, SERVE, done
from tests.server.rpc.talking import refused
from tests.server.serving import started


def test_names_of_a_file_are_refused_by_every_worker(tmp_path: Path) -> None:
    """Also names that look like them; comments and empty lines reserve nothing."""
    (tmp_path / "names").write_text("# the club\n\nFrau Müller\n", "utf-8")
    words = ["--data", str(tmp_path / "data"), "--listen", ANY_PORT, "--reserved-names", str(tmp_path / "names")]
    with started([*SERVE, *words, "--workers", "2"]) as one:
        for _ in range(8):
            with grpc.insecure_channel(one.address, [("grpc.use_local_subchannel_pool", 1)]) as channel:
                identity = IdentityServiceStub(channel)
                assert "the club" == identity.SignIn(SignInRequest(name="the club")).name
                with pytest.raises(grpc.RpcError) as error:
                    identity.SignIn(SignInRequest(name="frau muller"))
                told = refused(error.value)  # type: ignore[arg-type]  # it has the same methods
                assert ("NAME_REFUSED", "reserved_name") == (told.reason, told.facts["why"])
                assert "Frau Müller" in told.message


@pytest.mark.parametrize(
    ("content", "why"),
    [(None, "No such file"), (b"\xff", "is not a text in UTF-8"), (b"a\n" * 40_000, "has more than 65,536 bytes")],
)
def test_a_file_that_cannot_be_read_is_refused_at_the_start(content: bytes | None, why: str, tmp_path: Path) -> None:
    """The message names the flag and the file."""
    if content is not None:
        (tmp_path / "names").write_bytes(content)
    ended = done("--data", str(tmp_path / "data"), "--listen", ANY_PORT, "--reserved-names", str(tmp_path / "names"))
    assert ended.returncode
    assert "--reserved-names" in ended.stderr
    assert why in ended.stderr
