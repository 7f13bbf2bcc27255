// The dice of the scheme fair/1, derived from the secret and the entropy of the seats.

import { ascii, hmac, join, sha256, u32, u64 } from "./bytes.js";

/** The key of a match, from the secret and the entropy of each seat (empty if the seat had none). */
export async function matchKey(secret, matchId, entropies) {
  const seats = await Promise.all(entropies.map((entropy) => sha256(ascii("rollbook/1/seat"), entropy)));
  const id = ascii(matchId);
  return hmac(secret, ascii("rollbook/1/match"), u32(id.length), id, ...seats);
}

/** The first number below `size` of chance event `count`, counted from 1. */
export async function firstUniform(key, count, size) {
  const range = 2 ** 32;
  const limit = range - (range % size);
  let bytes = new Uint8Array(0);
  for (let block = 0, at = 0; ; at += 4) {
    if (at === bytes.length) {
      bytes = join(bytes, await hmac(key, ascii("rollbook/1/draw"), u64(count), u32(block)));
      block += 1;
    }
    const number = new DataView(bytes.buffer).getUint32(at);
    if (number < limit) return number % size;
  }
}
