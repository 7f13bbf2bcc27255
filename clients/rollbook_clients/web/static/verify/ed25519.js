// Ed25519 as FORMAT.md requires of every reader: the browser's verification, after additional checks.
//
// Implementations differ about keys and signatures that are not reduced or of small order. These are refused here,
// before the browser sees them; all implementations agree about the rest.

import { fromHex, littleEndian, sha256, toHex } from "./bytes.js";

const P = 2n ** 255n - 19n;
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
const D = mod(-121665n * power(121666n, P - 2n));
const SIGN = 2n ** 255n;
/** y of the points of order 8; there are two such y, which differ in their sign. */
const Y_OF_ORDER_8 = 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n;
const Y_OF_SMALL_ORDER = new Set([0n, 1n, P - 1n, Y_OF_ORDER_8, P - Y_OF_ORDER_8]);

function mod(number) {
  const rest = number % P;
  return rest < 0n ? rest + P : rest;
}

function power(base, exponent) {
  let result = 1n;
  for (let square = mod(base), left = exponent; left > 0n; left >>= 1n, square = mod(square * square)) {
    if (left & 1n) result = mod(result * square);
  }
  return result;
}

/** Whether an encoded point is reduced and of large order, judged by its y. */
function sound(encoded) {
  const y = littleEndian(encoded) % SIGN;
  return y < P && !Y_OF_SMALL_ORDER.has(y);
}

/** Whether a point of the curve has the y in these 32 bytes. */
function onCurve(encoded) {
  const y = littleEndian(encoded) % SIGN;
  const square = mod(y * y);
  const xSquare = mod((square - 1n) * power(D * square + 1n, P - 2n));
  return xSquare === 0n || power(xSquare, (P - 1n) / 2n) === 1n;
}

/** Whether 32 bytes are a valid public key. */
export function isPublicKey(bytes) {
  return bytes.length === 32 && sound(bytes) && onCurve(bytes);
}

/** The id of a public key, sixteen hexadecimal digits. */
export async function keyId(publicKey) {
  return toHex((await sha256(publicKey)).subarray(0, 8));
}

/** Whether a signature by a public key is valid. */
export async function holds(publicKey, signature, message) {
  if (signature.length !== 64 || !sound(signature.subarray(0, 32))) return false;
  if (littleEndian(signature.subarray(32)) >= ORDER) return false;
  const key = await crypto.subtle.importKey("raw", publicKey, "Ed25519", false, ["verify"]);
  return crypto.subtle.verify("Ed25519", key, signature, message);
}

/**
 * Whether this browser can verify signatures. Without WebCrypto and its Ed25519 the page cannot judge any file.
 * Tested with the first test vector of RFC 8032.
 */
export async function canVerify() {
  if (!globalThis.crypto?.subtle) return false;
  const key = fromHex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
  const signature = fromHex(
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  );
  try {
    return await holds(key, signature, new Uint8Array(0));
  } catch {
    return false;
  }
}
