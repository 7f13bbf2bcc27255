"""The state of a match without rules, by `replays/FORMAT.md` alone: it imports no module of Rollbook."""

from __future__ import annotations

import hmac
import struct
from collections.abc import Callable, Iterator

from tests.replays.mini_file import (
    MOST_EVENTS,
    PROTOS,
    File,
    Head,
    Wrong,
    check_chain,
    event_of,
    is_signed,
    of_role,
    signer_of,
)
from tests.replays.mini_messages import Read
from tests.replays.mini_reader import Keys, digest, uniform

BY_NOBODY = {"happened", "timed_out", "forfeited", "resumed", "started"}
WITH_A_SEAT = {"seat_taken", "seat_left", "ready", "chosen", "timed_out", "forfeited", "resigned"}
WHILE_RUNNING = {"happened", "chosen", "timed_out", "forfeited", "resigned", "resumed"}
NOT_READY, LOG_LOST, BY_OPERATOR, EXPIRED = 1, 2, 3, 4


class Table:
    """The part of a match's state that needs no rules."""

    def __init__(self, file: File, keys: Keys, opened: Read) -> None:
        """Start before event 1."""
        self.file, self.keys, self.opened = file, keys, opened
        self.game = opened.text("game")
        self.seats = opened.number("seats")
        self.players: dict[int, bytes] = {}
        self.committed: dict[int, bytes] = {}
        self.entropy: dict[int, bytes] = {}
        self.closing = (b"", 0)
        """Link and time of the event that took the last free seat."""
        self.given_up: set[int] = set()
        self.chances = 0
        self.before_ms = 0
        self.requests: set[bytes] = set()
        self.started = self.sealed = False
        self.secret: bytes | None = None

    def take(self, number: int) -> None:
        """Take the steps of one event and record it."""
        event = event_of(number, self.file.events[number - 1])
        kind = event.one_of("body")
        if not self._is_readable(number, event, kind):
            raise Wrong("container", number)
        check_chain(self.file, number, event)
        body = event.inner(kind)
        for check, holding in self._steps(number, event, kind, body):
            if not holding:
                raise Wrong(check, number)
        if number == 1:
            self._reveal()
        self._remember(number, event, kind, body)

    def _is_readable(self, number: int, event: Read, kind: str) -> bool:
        """Take step 1, except for the game's seats and values of options."""
        if not event.is_canonical or not kind or (kind == "opened") != (number == 1):
            return False
        if event.has("seat") != (kind in WITH_A_SEAT):
            return False
        body = event.inner(kind)
        if kind == "opened":
            options = body.inner("options")
            named = self.game and options.one_of("game") == self.game and options.inner(self.game)
            listed = PROTOS.messages[named.kind].fields.values() if named else []
            there = named and all(named.has(each.name) for each in listed)
            return bool(
                body.number("envelope") == 2 and body.text("fairness") and body.number("ruleset") >= 1 and there
            )
        if kind in {"chosen", "happened"}:
            return self._is_move(body.inner("choice" if kind == "chosen" else "outcome"))
        if kind == "sealed" and body.one_of("result") != "places":
            return self._is_abort(body.inner("aborted"))
        return True

    def _is_move(self, move: Read) -> bool:
        if move.one_of("game") != self.game:
            return False
        inner = move.inner(self.game)
        said = inner.inner(inner.one_of("kind")) if inner.one_of("kind") else None
        if said is None:
            return False
        listed = PROTOS.messages[said.kind].fields.values()
        if any(each.name == "count" and said.number("count") < 0 for each in listed):
            return False
        lists = [said.all(each.name) for each in listed if each.label == "repeated" and move.kind == "Choice"]
        return all(len(each) <= 100 and each == sorted(each, key=int) for each in lists)

    def _is_abort(self, aborted: Read) -> bool:
        reason = aborted.number("reason")
        lost = aborted.inner("lost")
        sizes = len(lost.bytes("link")), len(lost.bytes("signature"))
        proved = lost.number("sequence") >= 1 and sizes == (32, 64)
        return reason in {1, 2, 3, 4} and aborted.has("lost") == (reason == LOG_LOST) and (reason != LOG_LOST or proved)

    def _steps(self, number: int, event: Read, kind: str, body: Read) -> Iterator[tuple[str, object]]:
        """Yield the steps from 3 on with their results, in order."""
        if kind == "opened":
            yield "commitment", len(body.bytes("commitment")) == 32
        if kind == "sealed":
            yield "commitment", self._fits(body.bytes("secret"))
        yield "seal", not self.sealed
        yield "lifecycle", self._may_stand(number, event, kind, body)
        if kind == "seat_taken":
            yield "entropy", len(body.bytes("entropy_commitment")) in {0, 32}
        if kind == "ready":
            yield "entropy", self._reveals(event.number("seat"), body)
        if kind == "happened" and not self.chances and self.secret is not None:
            yield "draws", self._begins(body.inner("outcome").inner(self.game))
        yield "hidden", kind == "happened" or number not in self.file.private
        if kind == "sealed" and body.has("aborted"):
            yield "result", self._may_end(number, body.inner("aborted"))
        yield "clocks", event.number("time_ms") >= self.before_ms
        yield "clocks", self._is_timely(event, kind, body)
        yield "lifecycle", self._is_asked(event, kind, body)

    def _fits(self, secret: bytes) -> bool:
        return len(secret) == 32 and digest(b"rollbook/1/commit", secret) == self.opened.bytes("commitment")

    def _reveal(self) -> None:
        """Take the secret of the last event, if that is a seal."""
        last = len(self.file.events)
        try:
            event = event_of(last, self.file.events[-1])
        except Wrong:
            return
        if last > 1 and event.one_of("body") == "sealed" and self._is_readable(last, event, "sealed"):
            self.secret = event.inner("sealed").bytes("secret")
            if not self._fits(self.secret):
                raise Wrong("commitment", last)

    def _may_stand(self, number: int, event: Read, kind: str, body: Read) -> bool:
        seat, closed = event.number("seat"), len(self.players) == self.seats
        if kind in WITH_A_SEAT and not 0 <= seat < self.seats:
            return False
        if kind in WHILE_RUNNING and not self.started:
            return False
        if kind != "sealed" and (self._is_over(number) or number >= MOST_EVENTS):
            return False
        if kind == "opened":
            seconds = [
                body.number(f"{name}_seconds")
                for name in ("turn", "reserve", "ready", "spectator_delay", "open", "idle")
            ]
            return min(seconds) >= 0 and bool(seconds[0] or not seconds[1])
        allowed: dict[str, Callable[[], bool]] = {
            "seat_taken": lambda: (
                seat not in self.players
                and (not body.bytes("player") or body.bytes("player") not in self.players.values())
            ),
            "seat_left": lambda: seat in self.players and not closed,
            "ready": lambda: closed and seat not in self.entropy,
            "started": lambda: not self.started and len(self.entropy) == self.seats,
            "resigned": lambda: seat not in self.given_up,
        }
        return kind not in allowed or allowed[kind]()

    def _reveals(self, seat: int, body: Read) -> bool:
        brought, committed = body.bytes("entropy"), self.committed[seat]
        fits = 16 <= len(brought) <= 64 and digest(b"rollbook/1/entropy", brought) == committed
        return body.bytes("closing_link") == self.closing[0] and (fits if brought else not committed)

    def _begins(self, outcome: Read) -> bool:
        """Whether the key of the match draws this seat to begin."""
        seats = [digest(b"rollbook/1/seat", self.entropy[seat]) for seat in range(self.seats)]
        sized = struct.pack(">I", len(self.file.match_id)) + self.file.match_id
        key = hmac.digest(self.secret or b"", b"rollbook/1/match" + sized + b"".join(seats), "sha256")
        first = outcome.one_of("kind") == "first_seat"
        return first and outcome.inner("first_seat").number("seat") == uniform(key, 1)(self.seats)

    def _may_end(self, number: int, aborted: Read) -> bool:
        reason, seats = aborted.number("reason"), aborted.all("seats")
        waiting = [seat for seat in range(self.seats) if seat not in self.entropy]
        closed = len(self.players) == self.seats
        if reason == NOT_READY:
            return closed and bool(waiting) and seats == waiting
        if seats or (reason in {BY_OPERATOR, EXPIRED} and self._is_over(number)):
            return False
        if reason == EXPIRED:
            return not closed or self.started
        return reason != LOG_LOST or self._is_lost(number, aborted.inner("lost"))

    def _is_over(self, number: int) -> bool:
        """Whether the match has ended before this event, as far as that can be known without rules."""
        return self.started and (self.seats - len(self.given_up) < 2 or number >= MOST_EVENTS)

    def _is_lost(self, number: int, lost: Read) -> bool:
        sequence, link = lost.number("sequence"), lost.bytes("link")
        if sequence < number and self.file.links[sequence] == link:
            return False
        head = Head(self.file.match_id, sequence, link, *signer_of(lost))
        key = of_role(self.keys, head.key_id, "head")
        return head.key_id != self.file.key_id and (key is None or is_signed(key, head))

    def _is_timely(self, event: Read, kind: str, body: Read) -> bool:
        now, clock = event.number("time_ms"), self.opened.number("turn_seconds")
        if kind == "chosen":
            return not body.number("charged_ms") or bool(clock and not body.number("by_caretaker"))
        if kind in {"timed_out", "resumed"}:
            return bool(clock) and (kind == "resumed" or now >= body.number("not_before_ms"))
        reason = body.inner("aborted").number("reason") if kind == "sealed" else 0
        if reason == NOT_READY:
            return _is_over(self.opened.number("ready_seconds"), self.closing[1], now)
        if reason == EXPIRED and len(self.players) < self.seats:
            return _is_over(self.opened.number("open_seconds"), self.before_ms, now)
        return reason != EXPIRED or (not clock and _is_over(self.opened.number("idle_seconds"), self.before_ms, now))

    def _is_asked(self, event: Read, kind: str, body: Read) -> bool:
        request = event.bytes("request")
        asked = kind not in BY_NOBODY and not (kind == "chosen" and body.number("by_caretaker"))
        return not request or (asked and len(request) == 16 and request not in self.requests)

    def _remember(self, number: int, event: Read, kind: str, body: Read) -> None:
        seat, self.before_ms = event.number("seat"), event.number("time_ms")
        self.requests.add(event.bytes("request"))
        if kind == "seat_taken":
            self.players[seat] = body.bytes("player")
            self.committed[seat] = body.bytes("entropy_commitment")
            self.closing = (self.file.links[number], self.before_ms)
        elif kind == "seat_left":
            del self.players[seat]
        elif kind == "ready":
            self.entropy[seat] = body.bytes("entropy")
        elif kind in {"forfeited", "resigned"}:
            self.given_up.add(seat)
        self.chances += kind == "happened"
        self.started |= kind == "started"
        self.sealed |= kind == "sealed"


def _is_over(seconds: int, since_ms: int, now_ms: int) -> bool:
    return seconds > 0 and now_ms >= since_ms + 1000 * seconds
