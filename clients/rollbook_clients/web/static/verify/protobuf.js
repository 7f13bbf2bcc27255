// Decodes protobuf messages, in the canonical form that FORMAT.md requires, or leniently where FORMAT.md allows it.
//
// A schema is a Map from field numbers to { name, type, … }: `type` is int32, uint64, bool, enum, string, bytes or a
// schema; `repeated` and `optional` are those of the proto file; `oneof` names the group of which one field is set.
// Numbers of 64 bits are BigInt. Missing singular fields have their default, or are undefined if they have none.

import { join, utf8 } from "./bytes.js";

/** The bytes are not a message of the schema. */
export class Malformed extends Error {}

const NUMBERS = new Set(["int32", "uint64", "bool", "enum"]);
const DEFAULTS = { int32: 0, uint64: 0n, bool: false, enum: 0, string: "" };
const EMPTY = new Uint8Array(0);
const DEEPEST = 100;

class Cursor {
  constructor(bytes, canonical) {
    this.bytes = bytes;
    this.canonical = canonical;
    this.at = 0;
  }

  get left() {
    return this.bytes.length - this.at;
  }

  varint() {
    let number = 0n;
    for (let length = 0; length < 10; length += 1) {
      if (this.left === 0) throw new Malformed("a number is cut off");
      const byte = this.bytes[this.at++];
      number |= BigInt(byte & 0x7f) << BigInt(7 * length);
      if (byte < 0x80) {
        const longer = length > 0 && byte === 0;
        if (this.canonical && (longer || number >= 2n ** 64n)) throw new Malformed("a number is written longer than it is");
        return BigInt.asUintN(64, number);
      }
    }
    throw new Malformed("a number does not end");
  }

  take(length) {
    if (length > BigInt(this.left)) throw new Malformed("a field is cut off");
    const taken = this.bytes.subarray(this.at, this.at + Number(length));
    this.at += taken.length;
    return taken;
  }

  /** The number and wire type of the next field. */
  tag() {
    const tag = this.varint();
    const number = Number(tag >> 3n);
    if (number < 1 || tag >= 2n ** 32n) throw new Malformed("a field has no such number");
    return [number, Number(tag & 7n)];
  }

  /** Skip an unknown field. */
  pass(number, wire, depth = 0) {
    if (depth > DEEPEST) throw new Malformed("groups are nested too deeply");
    if (wire === 0) this.varint();
    else if (wire === 1) this.take(8n);
    else if (wire === 2) this.take(this.varint());
    else if (wire === 5) this.take(4n);
    else if (wire === 3) {
      for (;;) {
        const [inner, kind] = this.tag();
        if (kind === 4 && inner === number) return;
        this.pass(inner, kind, depth + 1);
      }
    } else throw new Malformed("a field is of no known kind");
  }
}

function scalar(type, number, canonical) {
  if (type === "uint64") return number;
  if (type === "bool") {
    if (canonical && number > 1n) throw new Malformed("true is written as another number than 1");
    return number !== 0n;
  }
  const signed = BigInt.asIntN(canonical ? 64 : 32, number);
  if (signed < -(2n ** 31n) || signed >= 2n ** 31n) throw new Malformed("a number is too large for its field");
  return Number(signed);
}

function text(bytes) {
  const decoded = utf8(bytes);
  if (decoded === null) throw new Malformed("a text is not UTF-8");
  return decoded;
}

function numbers(type, bytes, canonical) {
  const cursor = new Cursor(bytes, canonical);
  const found = [];
  while (cursor.left > 0) found.push(scalar(type, cursor.varint(), canonical));
  if (canonical && found.length === 0) throw new Malformed("an empty list is written");
  return found;
}

function blank(schema) {
  const message = {};
  for (const field of schema.values()) {
    if (field.repeated) message[field.name] = [];
    else if (field.optional || field.oneof || typeof field.type !== "string") message[field.name] = undefined;
    else message[field.name] = field.type === "bytes" ? EMPTY : DEFAULTS[field.type];
  }
  return message;
}

/** Decode a message in canonical form; throws Malformed for any other bytes. */
export function readCanonical(schema, bytes) {
  const cursor = new Cursor(bytes, true);
  const message = blank(schema);
  const groups = new Set();
  let last = 0;
  while (cursor.left > 0) {
    const [number, wire] = cursor.tag();
    const field = schema.get(number);
    if (field === undefined) throw new Malformed(`field ${number} is unknown`);
    const { name, type, repeated } = field;
    const packed = repeated && NUMBERS.has(type);
    if (number < last || (number === last && !(repeated && !packed))) {
      throw new Malformed(`${name} does not stand where it belongs, or twice`);
    }
    last = number;
    if (wire !== (NUMBERS.has(type) && !packed ? 0 : 2)) throw new Malformed(`${name} is of another kind`);
    if (field.oneof) {
      if (groups.has(field.oneof)) throw new Malformed(`${name} is set beside another of ${field.oneof}`);
      groups.add(field.oneof);
    }
    if (wire === 0) {
      message[name] = scalar(type, cursor.varint(), true);
    } else {
      const value = cursor.take(cursor.varint());
      if (packed) message[name] = numbers(type, value, true);
      else {
        const read = type === "bytes" ? value : type === "string" ? text(value) : readCanonical(type, value);
        if (repeated) message[name].push(read);
        else message[name] = read;
      }
    }
    const plain = !repeated && !field.optional && !field.oneof && typeof type === "string";
    if (plain && (type === "bytes" ? message[name].length === 0 : message[name] === DEFAULTS[type])) {
      throw new Malformed(`${name} is written although it has its default`);
    }
  }
  return message;
}

/** Decode a message like any protobuf parser; throws Malformed for bytes that are no message. */
export function readLeniently(schema, bytes) {
  const cursor = new Cursor(bytes, false);
  const message = blank(schema);
  const parts = new Map();
  while (cursor.left > 0) {
    const [number, wire] = cursor.tag();
    const field = schema.get(number);
    const isNumber = field !== undefined && NUMBERS.has(field.type);
    if (field === undefined || !(wire === 2 ? !isNumber || field.repeated : wire === 0 && isNumber)) {
      cursor.pass(number, wire);
      continue;
    }
    const { name, type } = field;
    if (field.oneof) {
      for (const other of schema.values()) {
        if (other.oneof !== field.oneof || other === field) continue;
        message[other.name] = undefined;
        parts.delete(other);
      }
    }
    if (wire === 0) {
      const value = scalar(type, cursor.varint(), false);
      if (field.repeated) message[name].push(value);
      else message[name] = value;
      continue;
    }
    const value = cursor.take(cursor.varint());
    if (isNumber) message[name].push(...numbers(type, value, false));
    else if (type === "bytes" || type === "string") {
      const read = type === "bytes" ? value : text(value);
      if (field.repeated) message[name].push(read);
      else message[name] = read;
    } else if (field.repeated) message[name].push(readLeniently(type, value));
    else {
      // A message field that occurs twice is merged: its parts are joined and decoded as one.
      parts.set(field, join(parts.get(field) ?? EMPTY, value));
      message[name] = readLeniently(type, parts.get(field));
    }
  }
  return message;
}

/** The numbers of all fields in a message, known or not. */
export function fieldNumbers(bytes) {
  const cursor = new Cursor(bytes, false);
  const found = [];
  while (cursor.left > 0) {
    const [number, wire] = cursor.tag();
    cursor.pass(number, wire);
    found.push(number);
  }
  return found;
}
