// Parses key files and files of kept heads as described in FORMAT.md.

import { fromHex, utf8 } from "./bytes.js";
import { isPublicKey, keyId } from "./ed25519.js";

const KEY_LINE = /^([0-9a-f]{16}) ([0-9a-f]{64}) (head|replay|bundle) (.*)$/su;
const NAME = /^[^\p{C}\p{Z}](?:[^\p{C}\p{Z}]| )*$/u;
const LONGEST_NAME = 100;
const MOST_KEYS = 10_000;
const LONGEST_HEAD = 1_000;
const LARGEST_SEQUENCE = 2n ** 63n - 1n;
const DIGITS = { link: 64, key_id: 16, signature: 128 };
const MEMBERS = ["match", "sequence", "link", "key_id", "signature"];

/** A line has a wrong format; the whole file is refused. */
export class RefusedLine extends Error {
  constructor(line, why) {
    super(`line ${line}: ${why}`);
    this.line = line;
  }
}

/** The lines without comments and empty ones, each with its number. */
function* lines(bytes) {
  const begin = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  let number = 0;
  for (let at = begin; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at);
    const next = end === -1 ? bytes.length : end + 1;
    let line = bytes.subarray(at, end === -1 ? bytes.length : end);
    if (end !== -1 && line[line.length - 1] === 0x0d) line = line.subarray(0, -1);
    at = next;
    number += 1;
    const text = utf8(line);
    if (text === null) throw new RefusedLine(number, "it is not UTF-8");
    if (!/^[ \t]*$/.test(text) && !text.startsWith("#")) yield [number, text];
  }
}

/** The keys of a key file, by their id: { key, role, name }. */
export async function readKeyFile(bytes) {
  const keys = new Map();
  for (const [number, text] of lines(bytes)) {
    const [, id, hex, role, name] = KEY_LINE.exec(text) ?? [];
    if (id === undefined) throw new RefusedLine(number, "it is no KEY_ID HEX ROLE NAME");
    if (!NAME.test(name) || name.endsWith(" ") || [...name].length > LONGEST_NAME) {
      throw new RefusedLine(number, "its name is none");
    }
    const key = fromHex(hex);
    if (!isPublicKey(key)) throw new RefusedLine(number, "its key is none that can be trusted");
    if ((await keyId(key)) !== id) throw new RefusedLine(number, "its key has another id");
    const known = keys.get(id);
    if (known && (known.role !== role || known.name !== name)) {
      throw new RefusedLine(number, "its key has two roles or names");
    }
    keys.set(id, { key, role, name });
    if (keys.size > MOST_KEYS) throw new RefusedLine(number, "there are too many keys");
  }
  return keys;
}

/** The heads of a file of kept heads: { line, match, sequence, link, key_id, signature }. */
export function readKeptHeads(bytes) {
  const heads = [];
  for (const [line, text] of lines(bytes)) {
    if ([...text].length > LONGEST_HEAD) throw new RefusedLine(line, "it is too long");
    heads.push({ line, ...keptHead(text, line) });
  }
  return heads;
}

function keptHead(text, line) {
  const refuse = (why) => {
    throw new RefusedLine(line, why);
  };
  let parsed;
  try {
    parsed = JSON.parse(text);
  } catch {
    refuse("it is no JSON");
  }
  if (parsed === null || typeof parsed !== "object" || Array.isArray(parsed)) refuse("it is no object");
  if (!Object.values(parsed).every((value) => typeof value === "string" || typeof value === "number")) {
    refuse("its members are of another kind");
  }
  const written = members(text);
  if (written.length !== MEMBERS.length || MEMBERS.some((name) => !Object.hasOwn(parsed, name))) {
    refuse("it has not these five members, each once");
  }
  // JSON.parse rounds large numbers, so the digits are read from the text.
  const digits = written.find(([name]) => name === "sequence")[1];
  if (!/^[1-9][0-9]{0,18}$/.test(digits) || BigInt(digits) > LARGEST_SEQUENCE) refuse("its sequence is none");
  if (typeof parsed.match !== "string" || !/^[\x21-\x7e]{1,100}$/.test(parsed.match)) refuse("its match is none");
  for (const [name, length] of Object.entries(DIGITS)) {
    const value = parsed[name];
    if (typeof value !== "string" || value.length !== length || !/^[0-9a-f]*$/.test(value)) refuse(`its ${name} is none`);
  }
  return {
    match: parsed.match,
    sequence: BigInt(digits),
    link: fromHex(parsed.link),
    key_id: parsed.key_id,
    signature: fromHex(parsed.signature),
  };
}

/** The five members of a flat JSON object as [name, value as written]; none if the text has another form. */
function members(text) {
  const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gsu;
  const tokens = text.match(token);
  if (tokens.length !== 4 * MEMBERS.length + 1) return [];
  return MEMBERS.map((_, index) => [JSON.parse(tokens[4 * index + 1]), tokens[4 * index + 3]]);
}
