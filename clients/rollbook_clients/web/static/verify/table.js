// Steps 4 to 14 without rules of a game: seats, readiness, the seal, times and requests.

import { ascii, same, sha256, toHex } from "./bytes.js";
import { firstUniform, matchKey } from "./draws.js";
import { kindIn, kindOf } from "./readable.js";
import { ABORT_REASON } from "./schema.js";

const BEHIND_STARTED = new Set(["happened", "chosen", "timed_out", "forfeited", "resigned", "resumed"]);
const ASKED_FOR = new Set(["opened", "seat_taken", "seat_left", "ready", "chosen", "resigned", "sealed"]);
const LAST_BEFORE_SEAL = 9_999;

/** The seats of a match, updated event by event. */
export class Table {
  /** `secret` is the secret in the seal, or null without a seal. */
  constructor(matchId, opened, secret) {
    this.matchId = matchId;
    this.opened = opened;
    this.secret = secret;
    /** Player, commitment and entropy by seat number. */
    this.seats = new Map();
    this.players = new Set();
    this.ready = 0;
    this.started = false;
    this.sealed = false;
    this.closing = null;
    this.givenUp = new Set();
    this.requests = new Set();
    this.draws = 0;
    this.time = 0n;
  }

  /** Returns the name of the check that an event fails, or null after applying the event. */
  async add({ event, link, hides, sound }) {
    const kind = kindOf(event);
    const body = event[kind];
    if (this.sealed) return "seal";
    const failed =
      (this.misplaced(event, kind, body) && "lifecycle") ||
      ((await this.falseEntropy(event, kind, body)) && "entropy") ||
      (kind === "happened" && (await this.falseDraw(body)) && "draws") ||
      (hides && kind !== "happened" && "hidden") ||
      (kind === "sealed" && body.aborted && (this.falseResult(event, body.aborted) || !sound) && "result") ||
      (this.falseTime(event, kind, body) && "clocks") ||
      (this.falseRequest(event, kind, body) && "lifecycle") ||
      null;
    if (failed === null) this.happen(event, kind, body, link);
    return failed;
  }

  get isFull() {
    return this.seats.size === Math.max(this.opened.seats, 0);
  }

  get inOrder() {
    return [...this.seats].sort(([one], [other]) => one - other);
  }

  /** Whether the match must have ended before the event with this number, judged without rules. */
  isOver(sequence) {
    return this.started && (this.opened.seats - this.givenUp.size < 2 || sequence > LAST_BEFORE_SEAL);
  }

  misplaced({ seat, sequence }, kind, body) {
    if (kind === "opened") {
      const seconds = ["turn", "reserve", "ready", "spectator_delay", "open", "idle"].map((name) => body[`${name}_seconds`]);
      return seconds.some((number) => number < 0) || (body.reserve_seconds !== 0 && body.turn_seconds === 0);
    }
    if (seat !== undefined && (seat < 0 || seat >= this.opened.seats)) return true;
    if (kind === "sealed") return false;
    if (sequence > LAST_BEFORE_SEAL || this.isOver(sequence)) return true;
    if (BEHIND_STARTED.has(kind)) return !this.started || (kind === "resigned" && this.givenUp.has(seat));
    if (kind === "seat_taken") {
      return this.seats.has(seat) || this.players.has(toHex(body.player));
    }
    if (kind === "seat_left") return !this.seats.has(seat) || this.isFull;
    if (kind === "ready") return !this.isFull || this.seats.get(seat).entropy !== null;
    return this.started || !this.isFull || this.ready < this.seats.size;
  }

  async falseEntropy({ seat }, kind, body) {
    if (kind === "seat_taken") return ![0, 32].includes(body.entropy_commitment.length);
    if (kind !== "ready") return false;
    if (!same(body.closing_link, this.closing.link)) return true;
    const { commitment } = this.seats.get(seat);
    if (commitment.length === 0) return body.entropy.length !== 0;
    if (body.entropy.length < 16 || body.entropy.length > 64) return true;
    return !same(commitment, await sha256(ascii("rollbook/1/entropy"), body.entropy));
  }

  async falseDraw({ outcome }) {
    if (this.draws > 0) return false;
    const [name, first] = kindIn(outcome, "outcome", this.opened.game);
    if (name !== "first_seat") return true;
    if (this.secret === null) return first.seat < 0 || first.seat >= this.seats.size;
    const key = await matchKey(this.secret, this.matchId, this.inOrder.map(([, { entropy }]) => entropy));
    return first.seat !== (await firstUniform(key, 1, this.seats.size));
  }

  falseResult({ sequence }, { reason, seats }) {
    if (reason !== ABORT_REASON.NOT_READY && seats.length > 0) return true;
    if (reason === ABORT_REASON.NOT_READY) {
      if (!this.isFull) return true;
      const late = this.inOrder.flatMap(([seat, { entropy }]) => (entropy === null ? [seat] : []));
      return late.length === 0 || late.join() !== seats.join();
    }
    if (reason === ABORT_REASON.LOG_LOST) return false;
    if (this.isOver(sequence)) return true;
    return reason === ABORT_REASON.EXPIRED && this.isFull && !this.started;
  }

  falseTime({ time_ms: time }, kind, body) {
    if (time < this.time) return true;
    const { opened } = this;
    const clock = opened.turn_seconds !== 0;
    if (kind === "chosen") return (body.by_caretaker || !clock) && body.charged_ms !== 0n;
    if (kind === "timed_out") return !clock || time < body.not_before_ms;
    if (kind === "resumed") return !clock;
    if (kind !== "sealed" || !body.aborted) return false;
    const over = (seconds, since) => seconds !== 0 && time >= since + 1000n * BigInt(seconds);
    if (body.aborted.reason === ABORT_REASON.NOT_READY) return !over(opened.ready_seconds, this.closing.time);
    if (body.aborted.reason !== ABORT_REASON.EXPIRED) return false;
    if (!this.isFull) return !over(opened.open_seconds, this.time);
    return clock || !over(opened.idle_seconds, this.time);
  }

  falseRequest({ request }, kind, body) {
    if (request.length === 0) return false;
    if (request.length !== 16 || this.requests.has(toHex(request))) return true;
    return !ASKED_FOR.has(kind) || (kind === "chosen" && body.by_caretaker);
  }

  happen(event, kind, body, link) {
    const { seat } = event;
    if (kind === "seat_taken") {
      const player = toHex(body.player);
      this.seats.set(seat, { player, commitment: body.entropy_commitment, entropy: null });
      if (player !== "") this.players.add(player);
      if (this.isFull) this.closing = { link, time: event.time_ms };
    } else if (kind === "seat_left") {
      this.players.delete(this.seats.get(seat).player);
      this.seats.delete(seat);
    } else if (kind === "ready") {
      this.seats.get(seat).entropy = body.entropy;
      this.ready += 1;
    } else if (kind === "started") this.started = true;
    else if (kind === "happened") this.draws += 1;
    else if (kind === "forfeited" || kind === "resigned") this.givenUp.add(seat);
    else if (kind === "sealed") this.sealed = true;
    if (event.request.length > 0) this.requests.add(toHex(event.request));
    this.time = event.time_ms;
  }
}
