"""Fair dice equal the published vectors of the scheme, whose numbers were made by other code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from rollbook.match.chain import entropy_commitment, genesis, is_signed, link, sign_head
from rollbook.match.dice import BOT_LABEL, Dice, commitment, match_key
from rollbook.rules import raffzahn, wuerfelzoo
from rollbook.rules.allie_gator.moves import SPECIALS
from rollbook.rules.cant_stop.state import FOUR_DICE
from rollbook.rules.chance import Draw, Throw, first_seat

VECTORS = json.loads((Path(__file__).parent / "vectors.json").read_text(encoding="utf-8"))
MATCHES = VECTORS["matches"]

YELLOW, BLUE = (tuple(map(str, raffzahn.GAME.components[colour])) for colour in ("yellow", "blue"))  # type: ignore[call-overload]
ZOO_DICE: list[tuple[str, ...]] = [
    tuple(face for axis in die for face in axis)
    for die in wuerfelzoo.GAME.components["dice"]  # type: ignore[attr-defined]
]
STOCK = (*range(1, 71), *[71] * 6, *[72] * 5, *[73] * 4, *[74] * 3)


def bytes_of(texts: list[str]) -> list[bytes]:
    """Parse hexadecimal texts."""
    return [bytes.fromhex(text) for text in texts]


def written_cards(cards: tuple[Any, ...]) -> list[Any]:
    """Return cards as notation writes them."""
    return [SPECIALS.get(card, card) for card in cards]


AWAITED: dict[str, Callable[[Dice, int], Any]] = {
    "first_seat_of_4": lambda dice, event: dice.values(event, first_seat(4))[0],
    "uniform_1_then_6": lambda dice, event: [uniform(k) for uniform in [dice.uniform(event)] for k in (1, 6)],
    "cant_stop_roll": lambda dice, event: list(dice.values(event, FOUR_DICE)),
    "raffzahn_roll_all": lambda dice, event: list(dice.values(event, Throw("roll", (YELLOW, BLUE, BLUE)))),
    "raffzahn_reroll_of_dice_0_and_2": lambda dice, event: list(dice.values(event, Throw("roll", (YELLOW, BLUE)))),
    "wuerfelzoo_draw_12_of_all": lambda dice, event: list(dice.values(event, Draw("draw", tuple(range(50)), 12))),
    "wuerfelzoo_roll_of_dice_3_12_25_38_49": lambda dice, event: list(
        dice.values(event, Throw("roll", tuple(ZOO_DICE[die] for die in (3, 12, 25, 38, 49))))
    ),
    "allie_gator_first_target": lambda dice, event: dice.values(event, Draw("target", tuple(range(1, 71))))[0],
    "allie_gator_draw_5_of_all": lambda dice, event: written_cards(dice.values(event, Draw("draw", STOCK, 5))),
    "uniform_3000000000_x8": lambda dice, event: [
        uniform(3_000_000_000) for uniform in [dice.uniform(event)] for _ in range(8)
    ],
}


@pytest.mark.parametrize("match", MATCHES, ids=[match["match_id"] for match in MATCHES])
def test_commitments_key_and_links_are_those_of_the_vectors(match: dict[str, Any]) -> None:
    """A verifier in another language must compute the same bytes."""
    secret = bytes.fromhex(match["secret"])
    assert match["commitment"] == commitment(secret).hex()
    entropy = bytes_of(match["entropy"])
    assert match["entropy_commitments"] == [
        entropy_commitment(brought).hex() if brought else None for brought in entropy
    ]
    assert match["key"] == match_key(secret, match["match_id"], entropy).hex()
    assert match["genesis"] == genesis(match["match_id"]).hex()
    assert match["link_of_event_bytes_abc"] == link(b"abc").hex()


@pytest.mark.parametrize("match", MATCHES, ids=[match["match_id"] for match in MATCHES])
def test_heads_are_signed_as_in_the_vectors(match: dict[str, Any]) -> None:
    """A head is a statement that anyone can verify with the published key."""
    key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(VECTORS["signing_key"]))
    public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(VECTORS["public_key"]))
    last_link = bytes.fromhex(match["link_of_event_bytes_abc"])
    signature = sign_head(key, match["match_id"], 7, last_link)
    assert match["head_7_signature"] == signature.hex()
    assert is_signed(public, match["match_id"], 7, last_link, signature)
    assert not is_signed(public, match["match_id"], 8, last_link, signature)


@pytest.mark.parametrize("match", MATCHES, ids=[match["match_id"] for match in MATCHES])
@pytest.mark.parametrize("event", ["1", "2", "300"])
def test_every_draw_is_that_of_the_vectors(match: dict[str, Any], event: str) -> None:
    """Every kind of draw of every game, at the first, the second and a late chance event."""
    key = bytes.fromhex(match["key"])
    dice = Dice(key)
    bot = Dice(key, BOT_LABEL).uniform(int(event))
    drawn = {name: draw(dice, int(event)) for name, draw in AWAITED.items()}
    drawn["bot_uniform_10_x4"] = [bot(10) for _ in range(4)]
    assert match["draws"][event] == drawn


def test_every_kind_of_number_in_the_vectors_is_compared() -> None:
    """A vector added later must not be skipped silently."""
    assert {name for match in MATCHES for draws in match["draws"].values() for name in draws} == {
        *AWAITED,
        "bot_uniform_10_x4",
    }


def test_short_throws_and_the_general_way_give_the_same_faces() -> None:
    """Throws that fit one block take a fast path, which must give the same faces."""
    faces = tuple(range(6))
    for event in range(1, 500):
        dice = Dice(b"\1" * 32)
        uniform = dice.uniform(event)
        assert tuple(uniform(6) for _ in range(8)) == dice.values(event, Throw("roll", (faces,) * 8))
