// Parses a replay file into container, body and names, as described in the first half of FORMAT.md.

import { same, toHex } from "./bytes.js";
import { fieldNumbers, Malformed, readCanonical } from "./protobuf.js";
import { HIDDEN_OUTCOME, PERSPECTIVE_KIND, REPLAY_BODY, REPLAY_NAMES } from "./schema.js";

const MAGIC = Uint8Array.of(0x89, 0x52, 0x4f, 0x4c, 0x4c, 0x0d, 0x0a, 0x1a);
const GZIP = Uint8Array.of(0x1f, 0x8b);
const VERSION = 2;
const FOOTER = 4 + 32 + 8 + 64;
const SIGNATURE = 64;
const SHORTEST_FILE = 16 + 4 + FOOTER;
const EMPTY = new Uint8Array(0);
export const LARGEST_FILE = 8 * 1024 * 1024;
const LARGEST_NAMES = 4 * 1024;
const LARGEST_EVENT = 65_536;
const MOST_EVENTS = 10_000;

/** The bytes are not a readable replay file. */
export class Unreadable extends Error {}

/** The file was written before the first release; no release can read it. */
export class BeforeRelease extends Error {}

/** The file in an upload, decompressed if it is in gzip format. */
export async function unpacked(bytes) {
  if (!same(bytes.subarray(0, 2), GZIP)) return bytes;
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")).getReader();
  const parts = [];
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      length += value.length;
      if (length > LARGEST_FILE) throw new Unreadable("unpacked it is larger than 8 MiB");
      parts.push(value);
    }
  } catch (error) {
    await reader.cancel().catch(() => undefined);
    throw error instanceof Unreadable ? error : new Unreadable("the gzip around it is damaged");
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function demand(condition, otherwise) {
  if (!condition) throw new Unreadable(otherwise);
}

function canonical(schema, bytes, what) {
  try {
    return readCanonical(schema, bytes);
  } catch (error) {
    if (error instanceof Malformed) throw new Unreadable(`${what}: ${error.message}`);
    throw error;
  }
}

/**
 * A file as { signed, body, names, count, lastLink, keyId, signature }: `signed` are the bytes under the file's
 * signature, `names` is null or { signature, written, names }.
 */
export function readReplayFile(bytes) {
  demand(same(bytes.subarray(0, 8), MAGIC), "it does not begin like a replay file");
  demand(bytes.length <= LARGEST_FILE, "it is larger than 8 MiB");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  demand(bytes.length >= SHORTEST_FILE, "it is cut off");
  demand(view.getUint16(10) === 0, "its first numbers are wrong");
  if (view.getUint16(8) === 1) throw new BeforeRelease("it was written before the first release");
  demand(view.getUint16(8) === VERSION, `it is of version ${view.getUint16(8)}`);
  const bodyEnd = 16 + view.getUint32(12);
  demand(bytes.length >= bodyEnd + 4, "it is cut off");
  const namesLength = view.getUint32(bodyEnd);
  const footer = bodyEnd + 4 + namesLength;
  demand(bytes.length === footer + FOOTER, "it was cut or extended");
  demand(namesLength <= LARGEST_NAMES, "its names are larger than 4 KiB");
  const body = readBody(bytes.subarray(16, bodyEnd));
  return {
    signed: [bytes.subarray(0, bodyEnd), bytes.subarray(footer, footer + FOOTER - SIGNATURE)],
    body,
    names: namesLength === 0 ? null : readNames(bytes.subarray(bodyEnd + 4, footer), body.match_id),
    count: view.getUint32(footer),
    lastLink: bytes.subarray(footer + 4, footer + 36),
    keyId: toHex(bytes.subarray(footer + 36, footer + 44)),
    signature: bytes.subarray(footer + 44),
  };
}

function readBody(bytes) {
  const body = canonical(REPLAY_BODY, bytes, "the body");
  demand(/^[\x21-\x7e]{1,100}$/.test(body.match_id), "it has no match id");
  demand(body.events.length >= 1 && body.events.length <= MOST_EVENTS, "it has no events, or too many");
  demand(body.events.every((event) => event.length <= LARGEST_EVENT), "an event is larger than 65,536 bytes");
  if (body.perspective) {
    const { kind, seat } = body.perspective;
    demand(Object.values(PERSPECTIVE_KIND).includes(kind), "its perspective is of no known kind");
    demand((kind === PERSPECTIVE_KIND.SEAT) === (seat !== undefined), "its perspective has a seat, or none, where it must not");
  }
  ascending(body.hidden, "hidden outcomes");
  ascending(body.heads, "heads");
  for (const { hidden } of body.hidden) {
    demand(hidden !== undefined && hidden.length <= LARGEST_EVENT, "an event hides nothing, or too much");
    readHidden(hidden);
  }
  demand(body.heads.every((head) => head.match_id === body.match_id), "a head is of another match");
  return body;
}

function ascending(items, what) {
  let last = 0n;
  for (const { sequence } of items) {
    demand(sequence > last && sequence <= BigInt(MOST_EVENTS), `${what} do not ascend`);
    last = sequence;
  }
}

/** Hidden parts must be canonical as well; for an unknown game this cannot be checked. */
function readHidden(bytes) {
  let numbers;
  try {
    numbers = fieldNumbers(bytes);
  } catch (error) {
    if (error instanceof Malformed) throw new Unreadable(`what an event hides: ${error.message}`);
    throw error;
  }
  if (numbers.some((number) => HIDDEN_OUTCOME.has(number))) canonical(HIDDEN_OUTCOME, bytes, "what an event hides");
}

function readNames(part, matchId) {
  demand(part.length >= SIGNATURE, "its names are cut off");
  const written = part.subarray(SIGNATURE);
  const { match_id: named, names } = canonical(REPLAY_NAMES, written, "the names");
  demand(named === matchId, "its names are of another match");
  demand(names.some((name) => name !== ""), "all of its names are empty");
  return { signature: part.subarray(0, SIGNATURE), written: written.length ? written : EMPTY, names };
}
