"""A new master that lacks acknowledged events: nothing is appended until an operator accepts the loss."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import grpc
import pytest

from rollbook.match.chain import entropy_commitment
from rollbook.v1.identity_pb2 import SignInRequest
from rollbook.v1.identity_pb2_grpc import IdentityServiceStub
from rollbook.v1.match_pb2 import TakeSeatRequest
from rollbook.v1.match_pb2_grpc import MatchServiceStub
from tests.server.health.test_replaced_store import admin, open_match, reason, whole
from tests.server.serving import until
from tests.storage.failovers import watched

ROLLBOOK = [sys.executable, "-m", "rollbook"]


def test_the_matches_are_named_and_ended_and_play_goes_on(tmp_path: Path) -> None:
    """The service refuses openings as NOT_DURABLE, lists the match as lost, and goes on after accept-loss."""
    with watched(tmp_path / "store", 2, {"min-replicas-to-write": "1"}, sentinels=3) as store:
        flags = ("--redis", store.url, "--durability", "quorum", "--replicas", "2")
        with whole(tmp_path / "data", *flags, "--archive", str(tmp_path / "archive")) as one:
            with one.channel() as channel:
                token = IdentityServiceStub(channel).SignIn(SignInRequest(name="Anna"), timeout=20).token
            shorter = open_match(one, token, "request-1")
            lagging, following = [server for server in store.servers if server is not store.master]
            lagging.kill()
            _sit_down(one, token, shorter)
            gone = open_match(one, token, "request-2")
            lagging.start_again()
            store.promote_behind(lagging, following)
            until(lambda: reason(one, token) == (grpc.StatusCode.UNAVAILABLE, "NOT_DURABLE"), one)
            assert {shorter, gone} == {match["match_id"] for match in _lost(one, tmp_path / "data")}
            code, said = admin("accept-loss", one, tmp_path / "data")
            assert 0 == code
            assert {shorter, gone} == set(json.loads(said)["ended"])
            until(lambda: bool(_opened(one, token)), one)
            code, said = admin("accept-loss", one, tmp_path / "data")
            assert 1 == code


def _sit_down(one: Any, token: str, match_id: str) -> None:
    request = TakeSeatRequest(
        request_id="request-seat", match_id=match_id, entropy_commitment=entropy_commitment(bytes(32))
    )
    with one.channel() as channel:
        MatchServiceStub(channel).TakeSeat(request, metadata=(("authorization", f"Bearer {token}"),), timeout=20)


def _opened(one: Any, token: str) -> str:
    """The id of a new match, empty while that is refused."""
    try:
        return open_match(one, token, "request-3")
    except grpc.RpcError:
        return ""


def _lost(one: Any, data: Path) -> list[dict[str, Any]]:
    """What `rollbook admin lost` prints."""
    return [json.loads(line) for line in admin("lost", one, data)[1].splitlines()]


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (("--redis", "redis://127.0.0.1:1"), "a quorum takes Sentinels"),
        (("--redis", "redis+sentinel://127.0.0.1:1/main", "--replicas", "3"), "an even number of replicas"),
        ((), "needs a store with replicas"),
    ],
)
def test_a_shape_without_a_majority_is_refused(flags: tuple[str, ...], why: str, tmp_path: Path) -> None:
    """The start names the flag and what it takes."""
    words = [*ROLLBOOK, "serve", "--data", str(tmp_path), "--durability", "quorum", *flags]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert 64 == done.returncode
    assert why in done.stderr
