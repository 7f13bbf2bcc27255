"""`rollbook serve --trust-issuer`, with tokens that `rollbook token --issuer` mints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import grpc
import pytest

from rollbook.identity.keys import load, load_or_create
from rollbook.identity.tokens import OWN_ISSUER, Issuer, Role
from rollbook.replay_file.key_lines import key_line
from rollbook.v1 import match_pb2
from rollbook.v1.match_pb2_grpc import MatchServiceStub
from tests.cli.test_serve import ANY_PORT, SERVE, done
from tests.server.rpc.talking import refused
from tests.server.serving import started

CLUB = "https://club.example"


def described(path: Path, issuer: str, key: Path, *roles: str) -> Path:
    """Write the file that describes an issuer and return its path."""
    lines = [key_line(load_or_create(key).public_key())]
    path.write_text(json.dumps({"issuer": issuer, "roles": roles, "keys": lines}), "utf-8")
    path.chmod(0o644)
    return path


def minted(key: Path, subject: str, role: str, issuer: str = OWN_ISSUER) -> str:
    """Mint a token in the name of an issuer."""
    return Issuer(load(key), issuer).mint(
        subject, Role(role), name=subject, issued_at=int(time.time()), lifetime_seconds=3_600
    )


def minted_by_command(key: Path, subject: str, issuer: str) -> str:
    """Mint a player's token with `rollbook token`."""
    words = ["token", "--key", str(key), "--subject", subject, "--role", "player", "--issuer", issuer]
    return subprocess.run(
        [sys.executable, "-m", "rollbook", *words], capture_output=True, text=True, check=True
    ).stdout.strip()


def open_match(channel: grpc.Channel, token: str, request_id: str) -> Any:
    """Open a match with this token."""
    request = match_pb2.OpenMatchRequest(request_id=request_id, seats=2)
    request.options.cant_stop.SetInParent()
    metadata = (("authorization", f"Bearer {token}"),)
    return MatchServiceStub(channel).OpenMatch(request, timeout=20, metadata=metadata)


def refusal(channel: grpc.Channel, token: str) -> tuple[grpc.StatusCode, str]:
    """The status and reason with which the service refuses the token."""
    with pytest.raises(grpc.RpcError) as failure:
        open_match(channel, token, "open-the-match")
    told = refused(failure.value)  # type: ignore[arg-type]  # it has the same methods
    return told.code, told.reason


@pytest.mark.parametrize("by", ["flag", "variable"])
def test_tokens_of_issuers_that_are_trusted_are_taken_with_the_roles_they_may_give(tmp_path: Path, by: str) -> None:
    """Other roles, unknown issuers and keys of another issuer are refused.

    The same `sub` of two issuers is two subjects.
    """
    club, league, stranger = (tmp_path / f"{name}.key" for name in ("club", "league", "stranger"))
    load_or_create(stranger)
    files = [
        str(described(tmp_path / "club.json", CLUB, club, "player")),
        str(described(tmp_path / "league.json", "league", league, "player", "operator")),
    ]
    flags = ["--trust-issuer", *files] if by == "flag" else []
    env = {} if by == "flag" else {"ROLLBOOK_TRUST_ISSUER": os.pathsep.join(files)}
    data = tmp_path / "data"
    with started([*SERVE, "--data", str(data), "--listen", ANY_PORT, *flags], env) as one, one.channel() as channel:
        _ = one.address
        player = minted_by_command(club, "anna", CLUB)
        opened = [
            open_match(channel, token, "open-the-match").match_id
            for token in (
                player,
                minted(league, "anna", "player", "league"),
                minted(data / "token.key", "anna", "player"),
            )
        ]
        assert 3 == len(set(opened))
        assert opened[0] == open_match(channel, player, "open-the-match").match_id
        operator = minted(league, "boss", "operator", "league")
        assert (grpc.StatusCode.PERMISSION_DENIED, "ROLE_MISSING") == refusal(channel, operator)
        abort = match_pb2.AbortMatchRequest(match_id=opened[0], request_id="abort-the-match")
        metadata = (("authorization", f"Bearer {operator}"),)
        assert MatchServiceStub(channel).AbortMatch(abort, timeout=20, metadata=metadata).made.last
        for token, reason in (
            (minted(club, "anna", "operator", CLUB), "TOKEN_ROLE_NOT_TRUSTED"),
            (minted(stranger, "anna", "player", "nobody"), "TOKEN_WRONG_ISSUER"),
            (minted(stranger, "anna", "player", CLUB), "TOKEN_KEY_UNKNOWN"),
            (minted(league, "anna", "player", CLUB), "TOKEN_KEY_UNKNOWN"),
            (minted(club, "anna", "player"), "TOKEN_KEY_UNKNOWN"),
        ):
            assert (grpc.StatusCode.UNAUTHENTICATED, reason) == refusal(channel, token)
        one.process.terminate()
        assert 0 == one.ended()


def test_a_service_does_not_start_with_an_issuer_that_it_cannot_read(tmp_path: Path) -> None:
    """The message names the file and its fault; the exit code is 3 for a missing file and 1 for a refused one."""
    words = ["--data", str(tmp_path / "data"), "--listen", ANY_PORT, "--trust-issuer", str(tmp_path / "club.json")]
    missing = done(*words)
    assert (3, f"rollbook serve: {tmp_path / 'club.json'}: No such file or directory") == (
        missing.returncode,
        missing.stderr.splitlines()[-1],
    )
    described(tmp_path / "club.json", CLUB, tmp_path / "club.key", "king")
    wrong = done(*words)
    says = f"rollbook serve: {tmp_path / 'club.json'}: roles must list one or more of player, judge, operator, gateway"
    assert (1, says) == (wrong.returncode, wrong.stderr.splitlines()[-1])


def test_the_help_teaches_what_such_a_file_holds() -> None:
    """`--help` explains the format of the file."""
    explained = " ".join(done("--help").stdout.replace("│", " ").split())
    for word in ("--trust-issuer", "ROLLBOOK_TRUST_ISSUER", "JSON object of three members: issuer", "kty OKP"):
        assert word in explained
