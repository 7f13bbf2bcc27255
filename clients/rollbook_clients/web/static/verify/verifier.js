// Verifies a replay file by FORMAT.md without the rules of the games: who signed it, and whether the log was changed
// afterwards. The verdict is never "exact", because the legality of choices is not checked.

import { ascii, join, same, sha256, u32, u64 } from "./bytes.js";
import { holds } from "./ed25519.js";
import { Malformed, readCanonical, readLeniently } from "./protobuf.js";
import { kindIn, kindOf, unreadable } from "./readable.js";
import { BeforeRelease, readReplayFile, Unreadable, unpacked } from "./replay_file.js";
import { EVENT, GAMES, ABORT_REASON } from "./schema.js";
import { Table } from "./table.js";

/** What may be unchecked in a file that is signed and unchanged: what needs rules, the end, or other files. */
const BESIDE_SIGNATURE = new Set(["rules", "game", "envelope", "seal", "hidden", "kept_head_key", "kept_head_of_another"]);

/**
 * The headline for a result: "signed" (signed by known keys, and unchanged), "unknown_signer" (unchanged), "changed", or
 * "none" if nothing could be checked.
 */
export function headline({ verdict, missing }) {
  if (verdict !== "unverified") return "changed";
  if (missing.some(({ word }) => word === "release")) return "none";
  return missing.every(({ word }) => BESIDE_SIGNATURE.has(word)) ? "signed" : "unknown_signer";
}

export const EXIT = { diverged: 1, unverified: 2, unreadable: 3 };
const ENVELOPE = 2;
const FAIRNESS = "fair/1";

/** A check failed: its name, and the number of the event. */
class Divergence extends Error {
  constructor(check, event = null) {
    super(check);
    this.check = check;
    this.event = event;
  }
}

/**
 * Judge a file by the keys of a key file and by kept heads.
 *
 * Returns `verdict`, `check` and `event` (null if there is none), `exit`, `why` (for unreadable files),
 * `missing` (what was not checked: { word, detail }, where `word` is release, envelope, game, rules, seal, hidden,
 * head_key, last_head, replay_key, kept_head_key, kept_head_of_another, one_name) and `flawedHeads` (the lines of kept
 * heads that prove nothing). `signer` (the name of the service in the key file), `matchId`, `names`, `events` and `steps` hold what could be read so far.
 */
export async function verify(bytes, keys = new Map(), keptHeads = []) {
  const audit = new Audit(keys, keptHeads);
  try {
    await audit.read(await unpacked(bytes));
    await audit.check();
    return audit.verdict("unverified");
  } catch (error) {
    if (error instanceof Divergence) return audit.verdict("diverged", error);
    if (error instanceof Unreadable) return { ...audit.verdict("unreadable"), why: error.message };
    if (error instanceof BeforeRelease) {
      audit.lacks("release");
      return audit.verdict("unverified");
    }
    throw error;
  }
}

/** The bytes under the signature of a head. */
function headBytes(matchId, sequence, link) {
  const id = ascii(matchId);
  return join(ascii("rollbook/1/head"), u32(id.length), id, u64(sequence), link);
}

class Audit {
  constructor(keys, keptHeads) {
    this.keys = keys;
    this.keptHeads = keptHeads;
    this.missing = [];
    this.flawedHeads = [];
    this.steps = new Map();
    this.file = null;
  }

  lacks(word, detail = null) {
    if (!this.missing.some((one) => one.word === word && one.detail === detail)) this.missing.push({ word, detail });
  }

  /** Count a passed check. */
  holds(check) {
    this.steps.set(check, (this.steps.get(check) ?? 0) + 1);
  }

  verdict(verdict, divergence = null) {
    const body = this.file?.body;
    return {
      verdict,
      check: divergence?.check ?? null,
      event: divergence?.event ?? null,
      exit: EXIT[verdict],
      missing: verdict === "unverified" ? this.missing : [],
      flawedHeads: this.flawedHeads,
      steps: Object.fromEntries(this.steps),
      matchId: body?.match_id ?? null,
      game: body?.game ?? null,
      names: this.file?.names?.names ?? [],
      signer: this.file && this.links ? (this.owner ?? null) : null,
      events: body?.events.length ?? null,
      head: this.links ? { sequence: this.links.length - 1, link: this.links.at(-1) } : null,
    };
  }

  async read(bytes) {
    this.file = readReplayFile(bytes);
    const { match_id: matchId, events } = this.file.body;
    const hashed = events.map((event) => sha256(ascii("rollbook/1/link"), event));
    this.links = [await sha256(ascii("rollbook/1/genesis"), ascii(matchId)), ...(await Promise.all(hashed))];
  }

  /** The key with this id if it has this role; else undefined. */
  key(keyId, role) {
    const known = this.keys.get(keyId);
    return known?.role === role ? known : undefined;
  }

  async check() {
    const { body } = this.file;
    const opened = this.openedLeniently(body.events[0]);
    if (opened?.envelope === 1) {
      this.lacks("release");
      return;
    }
    if (opened?.envelope > ENVELOPE) this.lacks("envelope", String(opened.envelope));
    else await this.checkLog(opened);
    if (!(opened?.envelope > ENVELOPE)) {
      const beyond = body.hidden.find(({ sequence }) => sequence > BigInt(body.events.length));
      if (beyond) throw new Divergence("hidden", Number(beyond.sequence));
    }
    await this.checkHeads();
    await this.checkKeptHeads();
    await this.checkContainer(opened);
    this.checkVoucher();
  }

  /** The `opened` of event 1, decoded leniently; undefined if it cannot be decoded. */
  openedLeniently(bytes) {
    try {
      return readLeniently(EVENT, bytes).opened;
    } catch (error) {
      if (error instanceof Malformed) return undefined;
      throw error;
    }
  }

  async checkLog(opened) {
    const { events } = this.file.body;
    // An event 1 that names no game is malformed, not of an unknown game: step 1 reports it.
    const says = opened && opened.envelope === ENVELOPE && opened.fairness !== "" && opened.game !== "" && opened.ruleset >= 1;
    const known = !says || (Object.hasOwn(GAMES, opened.game) && opened.ruleset === 1 && opened.fairness === FAIRNESS);
    if (!known) {
      this.lacks("game", `${opened.game} ${opened.ruleset} ${opened.fairness}`);
      this.checkOfAnyGame(events);
      return;
    }
    this.lacks("rules");
    await this.checkOfKnownGame(events, opened?.game);
    if (!this.file.body.perspective && kindOf(this.last) !== "sealed") throw new Divergence("seal", events.length);
    if (kindOf(this.last) !== "sealed") this.lacks("seal");
    this.noteHidden();
  }

  /** Steps 1, 2 and 13 for a game that is unknown here. */
  checkOfAnyGame(events) {
    let time = 0n;
    for (const [index, bytes] of events.entries()) {
      let event;
      try {
        event = readLeniently(EVENT, bytes);
      } catch (error) {
        if (error instanceof Malformed) throw new Divergence("container", index + 1);
        throw error;
      }
      this.checkChain(event, index + 1);
      if (event.time_ms < time) throw new Divergence("clocks", index + 1);
      this.holds("clocks");
      time = event.time_ms;
    }
  }

  checkChain(event, number) {
    if (event.sequence !== BigInt(number) || !same(event.previous, this.links[number - 1])) {
      throw new Divergence("chain", number);
    }
    this.holds("chain");
  }

  /** The event, or null if it fails step 1. */
  readable(number, game) {
    try {
      const event = readCanonical(EVENT, this.file.body.events[number - 1]);
      return unreadable(event, game, number === 1) === null ? event : null;
    } catch (error) {
      if (error instanceof Malformed) return null;
      throw error;
    }
  }

  async checkOfKnownGame(events, game) {
    const { match_id: matchId, hidden } = this.file.body;
    const hiding = new Set(hidden.map(({ sequence }) => Number(sequence)));
    const last = this.readable(events.length, game);
    const secret = last?.sealed?.secret ?? null;
    let table;
    this.log = [];
    for (let number = 1; number <= events.length; number += 1) {
      const event = this.readable(number, game);
      if (event === null) throw new Divergence("container", number);
      this.holds("container");
      this.checkChain(event, number);
      if (number === 1) {
        if (event.opened.commitment.length !== 32) throw new Divergence("commitment", 1);
        if (secret !== null) await this.checkSecret(secret, event.opened.commitment, events.length);
        table = new Table(matchId, event.opened, secret);
      } else if (event.sealed && number < events.length) {
        await this.checkSecret(event.sealed.secret, this.log[0].opened.commitment, number);
      }
      const sound = event.sealed ? await this.lostHeadIsSound(event.sealed.aborted, number) : true;
      const failed = await table.add({ event, link: this.links[number], hides: hiding.has(number), sound });
      if (failed !== null) throw new Divergence(failed, number);
      for (const check of ["lifecycle", "clocks"]) this.holds(check);
      if (kindOf(event) === "ready") this.holds("entropy");
      if (kindOf(event) === "happened" && table.draws === 1 && secret !== null) this.holds("draws");
      this.log.push(event);
    }
    this.last = this.log.at(-1);
  }

  async checkSecret(secret, commitment, number) {
    if (secret.length !== 32 || !same(commitment, await sha256(ascii("rollbook/1/commit"), secret))) {
      throw new Divergence("commitment", number);
    }
    this.holds("commitment");
  }

  /** Whether the head of a lost log in the seal is valid and consistent with this file. */
  async lostHeadIsSound(aborted, number) {
    if (aborted?.reason !== ABORT_REASON.LOG_LOST) return true;
    const { sequence, link, key_id: keyId, signature } = aborted.lost;
    if (sequence < BigInt(number) && same(this.links[Number(sequence)], link)) return false;
    if (keyId === this.file.keyId) return false;
    const known = this.key(keyId, "head");
    this.lost = { key_id: keyId };
    return !known || holds(known.key, signature, headBytes(this.file.body.match_id, sequence, link));
  }

  /** Note if a file with a perspective leaves out hidden parts, as far as that is visible without rules. */
  noteHidden() {
    const { perspective, hidden } = this.file.body;
    if (!perspective) return;
    const hiding = new Set(hidden.map(({ sequence }) => Number(sequence)));
    const { game } = this.log[0].opened;
    const withheld = this.log.some((event, index) => {
      const outcome = event.happened && kindIn(event.happened.outcome, "outcome", game);
      return outcome && GAMES[game].hiding?.has(outcome[0]) && !hiding.has(index + 1);
    });
    if (withheld) this.lacks("hidden");
  }

  async checkHeads() {
    const { heads, match_id: matchId } = this.file.body;
    for (const head of heads) {
      const number = Number(head.sequence);
      const known = this.key(head.key_id, "head");
      const fits =
        number < this.links.length &&
        same(head.link, this.links[number]) &&
        head.key_id !== this.file.keyId &&
        (!known || (await holds(known.key, head.signature, headBytes(matchId, head.sequence, head.link))));
      if (!fits) throw new Divergence("heads", number);
      if (known) this.holds("heads");
      else this.lacks("head_key", head.key_id);
    }
    if (heads.at(-1)?.sequence !== BigInt(this.links.length - 1)) this.lacks("last_head");
    if (this.lost && !this.key(this.lost.key_id, "head")) this.lacks("head_key", this.lost.key_id);
  }

  /** The name of the service that made the file; undefined if no key shows it. */
  get owner() {
    const known = this.key(this.file.keyId, "replay");
    if (known) return known.name;
    const heads = this.file.body.heads.map((head) => this.key(head.key_id, "head")).filter(Boolean);
    return heads.at(-1)?.name;
  }

  async checkKeptHeads() {
    const { match_id: matchId, perspective } = this.file.body;
    for (const head of this.keptHeads) {
      const known = this.keys.get(head.key_id);
      const proves =
        known?.role === "head" && (await holds(known.key, head.signature, headBytes(head.match, head.sequence, head.link)));
      if (known && !proves) {
        this.flawedHeads.push(head.line);
        continue;
      }
      if (head.match !== matchId) continue;
      if (!known) {
        this.lacks("kept_head_key", head.key_id);
        continue;
      }
      const there = head.sequence < BigInt(this.links.length);
      if (there ? same(head.link, this.links[Number(head.sequence)]) : perspective !== undefined) {
        this.holds("kept_heads");
      } else if (this.owner === undefined || known.name === this.owner) {
        throw new Divergence("heads", Number(head.sequence));
      } else this.lacks("kept_head_of_another", known.name);
    }
  }

  async checkContainer(opened) {
    const { body, count, lastLink, keyId, signature, signed, names } = this.file;
    const wrong = () => {
      throw new Divergence("container");
    };
    if (count !== body.events.length || !same(lastLink, this.links.at(-1))) wrong();
    if (!(opened?.envelope > ENVELOPE)) {
      if (body.game !== opened.game || body.ruleset !== opened.ruleset) wrong();
      const seat = body.perspective?.seat;
      if (seat !== undefined && (seat < 0 || seat >= opened.seats)) wrong();
      if (names && names.names.length !== opened.seats) wrong();
    }
    const known = this.key(keyId, "replay");
    if (!known) return;
    if (!(await holds(known.key, signature, join(ascii("rollbook/1/file"), await sha256(...signed))))) wrong();
    this.holds("signatures");
    if (!names) return;
    if (!(await holds(known.key, names.signature, join(ascii("rollbook/1/names"), names.written)))) wrong();
    this.holds("signatures");
  }

  /** Note keys of heads that have another name than the replay key of the file. */
  checkVoucher() {
    const known = this.key(this.file.keyId, "replay");
    if (!known) this.lacks("replay_key", this.file.keyId);
    const { owner } = this;
    const keyIds = [...this.file.body.heads, ...(this.lost ? [this.lost] : [])].map((head) => head.key_id);
    for (const keyId of keyIds) {
      const head = this.key(keyId, "head");
      if (head && head.name !== owner) this.lacks("one_name", head.name);
    }
  }
}
