"""What leaves the service: all that a perspective may see, and no byte that depends on anything else."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from itertools import chain, combinations
from typing import Any, Final

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from rollbook.match.chain import Entry, HeadKeys, Position, is_signed
from rollbook.match.codec.envelope import Logged, read_bytes
from rollbook.match.codec.messages import choice_in, read_choice, write_choice
from rollbook.match.commands import Abort, OpenMatch, Origin, TimeOut
from rollbook.match.decide import Decision, decide, open_match
from rollbook.match.dice import commitment
from rollbook.match.events import Chosen, Event, Happened, Ready, Sealed, Started, Terms
from rollbook.match.fold import Misplaced
from rollbook.match.ledger import Ledger, Visible
from rollbook.rules.allie_gator.moves import Card, Drawn, Steal, Stolen
from rollbook.rules.catalogue import current, find
from rollbook.rules.chance import Draw, Throw
from rollbook.rules.game import Over, Perspective, ToChoose, Watcher, everything_is_open
from rollbook.rules.refusals import Invalid, Reason
from rollbook.rules.wuerfelzoo.moves import Play, Reroll
from rollbook.rules.wuerfelzoo.turn_choices import PlayOffer, TurnChoices
from rollbook.server.out.projection import (
    Heads,
    NotSealed,
    clocks_message,
    legal_message,
    perspective_message,
    perspective_of,
    project,
    reveal,
    view_message,
)
from rollbook.server.replica.history import History
from rollbook.v1 import table_pb2 as proto
from rollbook.v1.events_pb2 import Private
from rollbook.v1.games_pb2 import Choice, LegalChoices
from rollbook.v1.wuerfelzoo_pb2 import WuerfelzooFace, WuerfelzooTurnChoices
from tests.match.played import CLOCKED, Played
from tests.match.table import SECRET

GAMES: Final = list(current())
KEY: Final = Ed25519PrivateKey.from_private_bytes(bytes(range(32, 64)))
KEY_ID: Final = "0123456789abcdef"
KEYS: Final = HeadKeys(KEY, KEY_ID, {KEY_ID: KEY.public_key()})
PUBLIC, JUDGE = Watcher.PUBLIC, Watcher.JUDGE


def eyes(ledger: Ledger) -> list[Perspective]:
    """All perspectives of a match."""
    return [*Watcher, *range(len(ledger.players))]


@cache
def whole_match(name: str) -> tuple[Logged, ...]:
    """The log of a match played to its end, sometimes by a caretaker.

    The secret must not appear in a view by chance: the values 0, 1, 2 … are also the dice in a bag.
    """
    rng = random.Random(11)
    played = Played(name, find(name).seats[1], entropy=bytes(range(16)))
    opened = replace(played.ledger.opened, commitment=commitment(SECRET))
    first = open_match(OpenMatch(Origin(played.now_ms), opened, SECRET))
    played.ledger, played.log = Ledger(first), [first]
    played.start()
    while (match := played.ledger.match).sealed is None:
        runs_out_ms = played.ledger.clock.runs_out_ms()
        if rng.random() < 0.03 and runs_out_ms is not None:
            played.now_ms = runs_out_ms
            played.append(decide(played.ledger, TimeOut(Origin(runs_out_ms))))
        else:
            played.append(played.choose(played.ledger.game.legal(match.state).sample(rng.randrange)))
    return tuple(played.log)


def walked(log: Iterable[Logged], **changed: Any) -> Iterator[tuple[Logged, Visible, Ledger]]:
    """Yield every event, its visibility and the match after it; `changed` functions of the game may leak."""
    history = History("m", keeps_events=True)
    for logged in log:
        history.take(logged)
        ledger = history.ledger
        assert ledger is not None
        if changed and logged.sequence == 1:
            ledger.game = ledger.match.game = replace(ledger.game, **changed)
        yield logged, history.events[-1], ledger


def everything(event: Visible, ledger: Ledger, perspective: Perspective) -> list[bytes]:
    """All bytes that can be sent to this perspective right after an event; empty for an absent message."""
    messages: list[Message | None] = [
        project(event, perspective),
        perspective_message(perspective),
        view_message(ledger, perspective),
        legal_message(ledger, perspective),
        clocks_message(ledger, ledger.time_ms + 1_234),
        Heads(KEYS).of(ledger),
    ]
    return [b"" if message is None else message.SerializeToString(deterministic=True) for message in messages]


def told(log: Iterable[Logged], perspective: Perspective, **changed: Any) -> list[list[bytes]]:
    """All bytes that can be sent to this perspective, event by event."""
    return [everything(event, ledger, perspective) for _, event, ledger in walked(log, **changed)]


# Views


def view_facts(value: Any) -> Any:
    """A view of the rules as plain data; absent parts are left out, and a hidden hand is empty."""
    if is_dataclass(value):
        held = {field.name: getattr(value, field.name) for field in fields(value)}
        if "hand" in held:
            held["hand"] = held["hand"] or ()
        return {name: view_facts(part) for name, part in held.items() if part is not None}
    return [view_facts(part) for part in value] if isinstance(value, tuple) else value


def message_facts(message: Message) -> Any:
    """A view message as plain data, read by protobuf's JSON without code of the service."""
    return _read(MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True))


def _read(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"dice"}:
            return _read(value["dice"])
        return {name: _read(part) for name, part in value.items() if not str(part).endswith("_UNSPECIFIED")}
    if isinstance(value, list):
        return [_read(part) for part in value]
    return value.rpartition("_FACE_")[2].lower() if isinstance(value, str) else value


@pytest.mark.parametrize("name", GAMES)
def test_every_view_of_a_match_says_what_the_rules_show(name: str) -> None:
    """Messages and rules show the same facts under the same names, for every perspective after every event."""
    for _, _, ledger in walked(whole_match(name)):
        for perspective in eyes(ledger):
            message = view_message(ledger, perspective)
            assert name == message.WhichOneof("game")
            shown = view_facts(ledger.game.view(ledger.match.state, perspective))
            assert shown == message_facts(getattr(message, name))


def test_a_hidden_hand_is_counted_and_not_shown() -> None:
    """Until the game is over a seat sees its own hand, a judge all hands, and every other viewer only their sizes."""
    for _, _, ledger in walked(whole_match("allie_gator")):
        if isinstance(ledger.match.awaited, Over):
            continue
        hands = ledger.match.state.hands
        for perspective in eyes(ledger):
            players = view_message(ledger, perspective).allie_gator.players
            assert [len(hand) for hand in hands] == [player.hand_size for player in players]
            for seat, player in enumerate(players):
                assert (hands[seat] if perspective in {seat, JUDGE} else []) == list(player.hand)


# Choices


@pytest.mark.parametrize("name", GAMES)
def test_the_seat_that_is_to_choose_is_told_exactly_what_is_legal(name: str) -> None:
    """Choices are listed or described.

    Other perspectives get none, and no one does while a caretaker or chance decides.
    """
    told_choices = 0
    for _, _, ledger in walked(whole_match(name)):
        awaited = ledger.awaited_seat
        choosing = None if awaited is None or ledger.match.played_by_caretaker(awaited) else awaited
        for perspective in eyes(ledger):
            message = legal_message(ledger, perspective)
            assert (perspective == choosing) == (message is not None)
            if message is not None:
                assert_legal(ledger, message)
                told_choices += 1
    assert told_choices > 20


def assert_legal(ledger: Ledger, message: LegalChoices) -> None:
    """The message describes exactly the legal choices of this match."""
    legal = ledger.game.legal(ledger.match.state)
    if message.wuerfelzoo.HasField("described"):
        described = message.wuerfelzoo.described
        assert legal == turn_choices(described)
        if len(described.rerolls) <= 8:
            assert set(legal) == choices_described(described)
    else:
        assert ledger.game.name == message.WhichOneof("game")
        listed = getattr(message, ledger.game.name).choices
        assert list(legal) == [choice_in(ledger.game, choice) for choice in listed]


def turn_choices(described: WuerfelzooTurnChoices) -> TurnChoices:
    """The description as the rules' own type."""
    return TurnChoices(
        tuple(
            PlayOffer(_species(offer.species), tuple(offer.dice), offer.fewest, offer.most) for offer in described.plays
        ),
        tuple(described.doubles),
        tuple(described.rerolls),
    )


def _species(face: int) -> str:
    return WuerfelzooFace.Name(face).removeprefix("WUERFELZOO_FACE_").lower()  # type: ignore[arg-type]


def choices_described(described: WuerfelzooTurnChoices) -> set[Play | Reroll]:
    """Every choice that fits the description, following its comment in the proto file."""
    plays = {
        Play(tuple(sorted(animals + doubles)))
        for offer in described.plays
        for animals in subsets(offer.dice)
        for doubles in subsets(described.doubles)
        if offer.fewest <= len(animals) <= offer.most
    }
    return plays | {Reroll(dice) for dice in subsets(described.rerolls) if dice}


def subsets(dice: Sequence[int]) -> list[tuple[int, ...]]:
    """All subsets, with the empty one."""
    return list(chain.from_iterable(combinations(dice, count) for count in range(len(dice) + 1)))


def test_nothing_is_legal_before_the_start_and_behind_the_seal() -> None:
    """An aborted match remains in a state where a seat would choose."""
    played = Played().sit()
    assert [None] * 4 == [legal_message(played.ledger, perspective) for perspective in eyes(played.ledger)]
    played = Played().start()
    seat = played.ledger.awaited_seat
    assert seat is not None
    assert legal_message(played.ledger, seat) is not None
    played.append(decide(played.ledger, Abort(played.by())))
    assert played.ledger.awaited_seat is None
    assert [None] * 4 == [legal_message(played.ledger, perspective) for perspective in eyes(played.ledger)]


@pytest.mark.parametrize("name", GAMES)
def test_a_choice_that_was_sent_is_read_for_the_game_of_the_match(name: str) -> None:
    """Every choice of a match reads back; a choice of another game, or an empty one, is refused."""
    game = find(name)
    for logged in whole_match(name):
        if isinstance(logged.event, Chosen):
            sent = write_choice(game, logged.event.choice)
            assert logged.event.choice == read_choice(game, Choice.FromString(sent.SerializeToString()))
            other = next(find(other) for other in GAMES if other != name)
            with pytest.raises(Invalid, match=f"a choice of {name}, not of {other.name}") as refused:
                read_choice(other, sent)
            assert Reason.MOVE_OF_ANOTHER_GAME == refused.value.reason
    nothing, nothing_of_the_game = Choice(), Choice()
    getattr(nothing_of_the_game, name).SetInParent()
    for empty in (nothing, nothing_of_the_game):
        with pytest.raises(Invalid) as refused:
            read_choice(game, empty)
        assert Reason.NOTHING_CHOSEN == refused.value.reason


# Events


@pytest.mark.parametrize("name", GAMES)
def test_everybody_gets_the_bytes_that_were_stored(name: str) -> None:
    """One chain for all; only what lies beside an event may differ, and a game without secrets has nothing there."""
    hides = find(name).seen is not everything_is_open
    for logged, event, ledger in walked(whole_match(name)):
        for perspective in eyes(ledger):
            assert logged.data == project(event, perspective).event
            assert not project(event, perspective).HasField("hidden") or hides


def test_hidden_cards_go_to_the_hand_that_holds_them() -> None:
    """A drawn card is shown to the drawing seat, a stolen one to thief and victim, both to a judge."""
    steals = 0
    thief, robbed = -1, None
    for logged, event, ledger in walked(whole_match("allie_gator")):
        insiders: set[Perspective | None] = set()
        cards: list[Any] = []
        if isinstance(logged.event, Chosen) and isinstance(logged.event.choice, Steal):
            thief, robbed = logged.event.seat, logged.event.choice.target
        elif isinstance(logged.event, Happened) and isinstance(logged.event.outcome, Drawn):
            insiders, cards = {logged.event.outcome.seat, JUDGE}, list(logged.event.outcome.cards)
        elif isinstance(logged.event, Happened) and isinstance(logged.event.outcome, Stolen):
            insiders, cards = {thief, robbed, JUDGE}, [logged.event.outcome.card]
            steals += 1
        assert insiders == {eye for eye in eyes(ledger) if project(event, eye).HasField("hidden")}
        for perspective in insiders:
            assert perspective is not None
            assert cards == list(project(event, perspective).hidden.allie_gator.cards)
    assert steals > 0


@pytest.mark.parametrize("name", GAMES)
def test_the_secret_is_in_nothing_that_leaves_before_the_seal(name: str) -> None:
    """The secret is stored beside event 1; the seal reveals it to all perspectives."""
    log = whole_match(name)
    assert SECRET in log[0].private
    for logged, event, ledger in walked(log):
        for perspective in eyes(ledger):
            leaving = everything(event, ledger, perspective)
            assert isinstance(logged.event, Sealed) == any(SECRET in data for data in leaving)


def test_a_history_goes_on_behind_any_event_as_it_would_from_the_start() -> None:
    """The visibility of an event does not depend on where reading began, and the given ledger stays unchanged."""
    log = whole_match("allie_gator")
    walk = list(walked(log))
    from_start = [event for _, event, _ in walk]
    before: Ledger | None = None
    for count in range(0, len(log), 50):
        before = None if not count else Ledger.fold("m", entries_of(log[:count]))
        history = History("m", before, keeps_events=True)
        for logged in log[count:]:
            history.take(logged)
        assert from_start[count:] == history.events
        assert before is None or count == before.head.sequence


def entries_of(log: Iterable[Logged]) -> list[Entry]:
    """A log as store entries."""
    return [Entry(logged.data, logged.private) for logged in log]


def test_a_history_takes_only_what_follows() -> None:
    """A gap in a log raises Misplaced before anything is sent."""
    log = whole_match("cant_stop")
    assert (None, 0) == (History("m").ledger, History("m").sequence)
    with pytest.raises(Misplaced):
        History("m").take(log[1])
    with pytest.raises(Misplaced):
        list(walked([*log[:5], *log[6:]]))


# Hidden things stay hidden

SWAPPED: Final = (Card(35), Card(36))
INSIDERS: Final = (1, 2)
OUTSIDERS: Final[tuple[Perspective, ...]] = (PUBLIC, 0, 3)


class Twins:
    """Two matches of Allie Gator with the same public events and two cards exchanged out of sight.

    Card 35 in one is 36 in the other, in the stock or in the hands of seats 1 and 2; neither is ever laid. Outcomes are
    set below the draw, so both matches have the same secret and the same public bytes.
    """

    def __init__(self, seed: int) -> None:
        """Play until a choice or a card would show the difference, at most 300 events, then abort the matches."""
        self.rng = random.Random(seed)
        self.one, self.other = Played("allie_gator", 4), Played("allie_gator", 4)
        for match in (self.one, self.other):
            match.sit()
            for seat in range(3):
                match.append(match.ready(seat))
        assert self.one.ledger.closing is not None
        self._both(Ready(3, b"", self.one.ledger.closing.link))
        self._both(Started())
        while len(self.one.log) < 300 and self._go_on():
            pass
        for match in (self.one, self.other):
            match.append(decide(match.ledger, Abort(match.by())))

    def _both(self, event: Event, twin: Event | None = None) -> None:
        for match, what in ((self.one, event), (self.other, twin or event)):
            decision = Decision(match.ledger, match.by("p0"))
            decision.add(what)
            match.append(decision)

    def _go_on(self) -> bool:
        awaited = self.one.ledger.match.awaited
        return self._choose(awaited.seat) if isinstance(awaited, ToChoose) else self._draw(awaited)

    def _choose(self, seat: int) -> bool:
        ledger = self.one.ledger
        game, state = ledger.game, ledger.match.state
        twin = game.legal(self.other.ledger.match.state)
        choices = [
            choice
            for choice in game.legal(state)
            if choice in twin
            and getattr(choice, "card", None) not in SWAPPED
            and not isinstance(game.awaited(game.apply(state, choice)), Over)
        ]
        if not choices:
            return False
        steals = [choice for choice in choices if isinstance(choice, Steal)]
        charged_ms = ledger.clock.charge(self.one.now_ms + 1_000)
        self._both(Chosen(seat, self.rng.choice(steals or choices), charged_ms=charged_ms))
        return True

    def _draw(self, awaited: Any) -> bool:
        values: list[Any]
        if isinstance(awaited, Throw):
            values = [self.rng.choice(faces) for faces in awaited.dice]
        else:
            assert isinstance(awaited, Draw)
            others: list[Any] = [item for item in awaited.items if item not in SWAPPED]
            values = [item for item in awaited.items if item in SWAPPED and self._comes_up(awaited)][: awaited.count]
            if len(values) + len(others) < awaited.count:
                return False
            values += self.rng.sample(others, awaited.count - len(values))
        outcome = self.one.ledger.game.outcome(self.one.ledger.match.state, tuple(values))
        self._both(Happened(outcome), Happened(exchanged(outcome)))
        return True

    def _comes_up(self, awaited: Draw) -> bool:
        """Whether a swapped card comes up: far more often than by chance, but only for insiders."""
        state = self.one.ledger.match.state
        to = {"draw": state.served, "steal": state.seat}.get(awaited.name)
        return to in INSIDERS and self.rng.random() < 0.5

    def concerned(self) -> set[Perspective]:
        """Judges, and the seats that ever had one of the two cards."""
        found: set[Perspective] = {JUDGE}
        thief = -1
        for logged in self.one.log:
            if isinstance(logged.event, Chosen):
                thief = logged.event.seat
            elif isinstance(logged.event, Happened):
                outcome = logged.event.outcome
                if isinstance(outcome, Drawn) and not set(SWAPPED).isdisjoint(outcome.cards):
                    found.add(outcome.seat)
                elif isinstance(outcome, Stolen) and outcome.card in SWAPPED:
                    found.add(thief)
        return found


def exchanged(outcome: Any) -> Any:
    """The outcome with 35 for 36 and 36 for 35."""
    one, other = SWAPPED
    cards: dict[Card | None, Card | None] = {one: other, other: one}
    if isinstance(outcome, Drawn):
        return replace(outcome, cards=tuple(cards.get(card, card) for card in outcome.cards))
    return replace(outcome, card=cards.get(outcome.card, outcome.card)) if isinstance(outcome, Stolen) else outcome


TWINS: Final = [Twins(seed) for seed in range(8)]


@pytest.mark.parametrize("twins", TWINS, ids=range(8))
def test_what_a_stranger_gets_does_not_depend_on_what_is_hidden(twins: Twins) -> None:
    """Non-interference: events, views, choices, clocks and signed heads are the same bytes, event for event.

    They differ exactly for judges and for the seats that had one of the two cards.
    """
    assert [logged.data for logged in twins.one.log] == [logged.data for logged in twins.other.log]
    for perspective in OUTSIDERS:
        assert told(twins.one.log, perspective) == told(twins.other.log, perspective)
    assert twins.concerned() == {
        perspective
        for perspective in eyes(twins.one.ledger)
        if told(twins.one.log, perspective) != told(twins.other.log, perspective)
    }


def test_twins_go_through_everything_that_cards_go_through() -> None:
    """Otherwise equality would prove little: the exchanged cards are drawn, held and stolen over several rounds."""
    events = [logged.event for twins in TWINS for logged in twins.one.log]
    outcomes = [event.outcome for event in events if isinstance(event, Happened)]
    assert len(events) > 1_000
    assert sum(isinstance(outcome, Stolen) for outcome in outcomes) > 20
    assert any(isinstance(outcome, Stolen) and outcome.card in SWAPPED for outcome in outcomes)
    assert {JUDGE, *INSIDERS} == set().union(*[twins.concerned() for twins in TWINS])
    assert max(twins.one.ledger.match.state.round for twins in TWINS) > 1


def test_the_seat_concerned_sees_its_own_cards() -> None:
    """Each twin shows an insider the card that was drawn in it."""
    twins = TWINS[0]
    for match in (twins.one, twins.other):
        for logged, event, ledger in walked(match.log):
            for seat in INSIDERS:
                hand = list(view_message(ledger, seat).allie_gator.players[seat].hand)
                assert ledger.match.state.hands[seat] == hand
                if isinstance(logged.event, Happened) and isinstance(drawn := logged.event.outcome, Drawn):
                    cards = list(drawn.cards) if drawn.seat == seat else []
                    assert cards == list(project(event, seat).hidden.allie_gator.cards)


@pytest.mark.parametrize("leak", ["seen", "view"])
def test_a_leak_is_noticed(leak: str) -> None:
    """A game that shows strangers a drawn card or a hand makes the twins differ, so the comparison can fail."""
    game = find("allie_gator")
    leaky = {"seen": everything_is_open, "view": lambda state, _: game.view(state, JUDGE)}
    twins = TWINS[0]
    for perspective in OUTSIDERS:
        one, other = (told(match.log, perspective, **{leak: leaky[leak]}) for match in (twins.one, twins.other))
        assert one != other


# After the seal


def seen(log: Iterable[Logged]) -> list[Visible]:
    """Events whose hidden parts are not visible yet."""
    return [Visible(logged) for logged in log]


def test_everything_hidden_is_revealed_after_the_seal() -> None:
    """Outcomes are revealed by sequence, without the secret; each reads back to the real one."""
    log = whole_match("allie_gator")
    outcomes = reveal(seen(log)).outcomes
    assert [
        logged.sequence
        for logged in log
        if isinstance(logged.event, Happened) and isinstance(logged.event.outcome, Drawn | Stolen)
    ] == [outcome.sequence for outcome in outcomes]
    game = find("allie_gator")
    for outcome in outcomes:
        logged = log[outcome.sequence - 1]
        private = Private(hidden=outcome.hidden).SerializeToString()
        assert logged.event == read_bytes(logged.data, private, game).event
        assert logged.event != read_bytes(logged.data, b"", game).event
    assert SECRET not in reveal(seen(log)).SerializeToString()


def test_an_aborted_match_reveals_what_it_hid() -> None:
    """A match without an end reveals its hidden parts too; the twins, equal until now, differ."""
    twins = TWINS[0]
    assert reveal(seen(twins.one.log)) != reveal(seen(twins.other.log))


@pytest.mark.parametrize("name", [name for name in GAMES if find(name).seen is everything_is_open])
def test_a_game_without_secrets_reveals_nothing(name: str) -> None:
    """The answer is empty, not an error."""
    assert [] == list(reveal(seen(whole_match(name))).outcomes)


def test_nothing_is_revealed_before_the_seal() -> None:
    """Hidden outcomes stay hidden for an empty log, and for a log without its end or its beginning."""
    log = whole_match("allie_gator")
    for part in (log[:0], log[:1], log[:40], log[:-1], log[1:], log[-1:]):
        with pytest.raises(NotSealed):
            reveal(seen(part))


# Perspectives, clocks, heads


def test_whoever_holds_a_seat_sees_as_that_seat() -> None:
    """A seat comes before the token's role, a judge before the public; a caller may always ask for the public view."""
    ledger = Played(seats=3).sit().ledger
    assert 2 == perspective_of(ledger, b"p2", is_judge=False)
    assert 0 == perspective_of(ledger, b"p0", is_judge=True)
    assert JUDGE == perspective_of(ledger, b"stranger", is_judge=True)
    assert JUDGE == perspective_of(ledger, b"", is_judge=True)
    assert PUBLIC == perspective_of(ledger, b"stranger", is_judge=False)
    for player in (b"p0", b"stranger", b""):
        for is_judge in (False, True):
            assert PUBLIC == perspective_of(ledger, player, is_judge=is_judge, public_only=True)
    assert PUBLIC == perspective_of(Played().ledger, b"", is_judge=False)


def test_a_perspective_is_told_to_whoever_has_it() -> None:
    """Seat 0 is a seat, and a watcher has no seat."""
    assert proto.Perspective(kind=proto.PERSPECTIVE_KIND_PUBLIC) == perspective_message(PUBLIC)
    assert proto.Perspective(kind=proto.PERSPECTIVE_KIND_JUDGE) == perspective_message(JUDGE)
    assert proto.Perspective(kind=proto.PERSPECTIVE_KIND_SEAT, seat=0) == perspective_message(0)
    assert perspective_message(0).HasField("seat")
    assert not perspective_message(PUBLIC).HasField("seat")


def test_clocks_show_the_turn_first_and_then_the_reserve_running_down() -> None:
    """Turn and reserve together end when the ledger's time is out."""
    ledger = Played(seats=2).start().ledger
    seat, runs_out_ms = ledger.awaited_seat, ledger.clock.runs_out_ms()
    assert seat is not None
    assert runs_out_ms is not None
    for waited_ms, turn_ms, reserve_ms in (
        (0, 30_000, 60_000),
        (12_000, 18_000, 60_000),
        (30_000, 0, 60_000),
        (42_000, 0, 48_000),
        (90_000, 0, 0),
        (99_000, 0, 0),
        (-5_000, 30_000, 60_000),
    ):
        now_ms = ledger.time_ms + waited_ms
        reserves = [60_000, 60_000]
        reserves[seat] = reserve_ms
        expected = proto.Clocks(at_ms=now_ms, seat=seat, turn_left_ms=turn_ms, reserve_left_ms=reserves)
        assert expected == clocks_message(ledger, now_ms)
        if 0 <= waited_ms <= 90_000:
            assert runs_out_ms == now_ms + turn_ms + reserve_ms
    assert runs_out_ms == ledger.clock.runs_out_ms()


def test_no_clock_runs_while_a_caretaker_plays() -> None:
    """No seat is awaited between a time-out and the next seat's turn; the clocks of a replay show the same."""
    silent = 0
    for _, _, ledger in walked(whole_match("raffzahn")):
        clocks = clocks_message(ledger, ledger.time_ms)
        seat = ledger.awaited_seat
        if clocks is not None and (seat is None or ledger.match.played_by_caretaker(seat)):
            assert not clocks.HasField("seat")
            assert 0 == clocks.turn_left_ms
            assert ledger.clock.reserve_ms == list(clocks.reserve_left_ms)
            silent += 1
    assert silent > 0


def test_there_are_clocks_only_in_a_running_match_that_has_them() -> None:
    """No clocks before the start, after the seal, or in a match without a clock."""
    assert clocks_message(Played().sit().ledger, 10**13) is None
    assert clocks_message(Played(terms=Terms()).start().ledger, 10**13) is None
    played = Played(terms=CLOCKED).start()
    assert clocks_message(played.ledger, played.now_ms) is not None
    played.append(decide(played.ledger, Abort(played.by())))
    assert clocks_message(played.ledger, played.now_ms) is None


def test_a_head_is_signed_for_exactly_its_position() -> None:
    """The position is the ledger's own or an earlier one of the same log, as for a retried command."""
    log = whole_match("cant_stop")
    heads = Heads(KEYS)
    live = []
    for _, _, ledger in walked(log):
        live.append(heads.of(ledger))
        last = ledger
    for position, logged in ((None, log[-1]), (Position(3, log[2].link), log[2])):
        head = Heads(KEYS).of(last, position)
        assert ("m", logged.sequence, logged.link) == (head.match_id, head.sequence, head.link)
        assert KEY_ID == head.key_id
        assert is_signed(KEY.public_key(), "m", logged.sequence, logged.link, head.signature)
        assert not is_signed(KEY.public_key(), "m", logged.sequence + 1, logged.link, head.signature)
        assert live[logged.sequence - 1] == head


def test_the_projection_knows_nothing_of_grpc() -> None:
    """Replay files, reports and tests use the projection without gRPC."""
    script = "import sys, rollbook.server.out.projection; print('grpc' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "False" == done.stdout.strip()
