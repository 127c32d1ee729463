import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Ids } from "../base/ids.ts";

const SECRET_PREFIX = "gp_live_";
const PUBLISHABLE_PREFIX = "gp_pub_";
const RANDOM_LENGTH = 34;
const CHECKSUM_LENGTH = 6;

const BODY_LENGTH = RANDOM_LENGTH + CHECKSUM_LENGTH;

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SHAPE = /^gp_(?:live|pub)_[0-9A-Za-z]{40}$/;

const encoder = new TextEncoder();

/** The CRC-32 of the random part in base 62, most significant digit first; six digits hold 32 bits. */
function checksum(random: string): string {
  let rest = crc32(encoder.encode(random));
  let digits = "";
  for (let count = 0; count < CHECKSUM_LENGTH; count += 1) {
    digits = `${BASE62[rest % 62] ?? ""}${digits}`;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** Bytes from here on are thrown away, so that every character is equally likely. */
const FAIR_BYTES = 248;

function randomText(ids: Ids): string {
  let text = "";
  while (text.length < RANDOM_LENGTH) {
    for (const byte of ids.bytes(RANDOM_LENGTH)) {
      if (byte < FAIR_BYTES && text.length < RANDOM_LENGTH) text += BASE62[byte % 62] ?? "";
    }
  }
  return text;
}

export function makeApiKey(ids: Ids, kind: "secret" | "publishable" = "secret"): string {
  const random = randomText(ids);
  const prefix = kind === "secret" ? SECRET_PREFIX : PUBLISHABLE_PREFIX;
  return `${prefix}${random}${checksum(random)}`;
}

/** Whether a text has the shape and the checksum of a key. It compares no secret. */
export const isApiKey = (text: string): boolean =>
  SHAPE.test(text) &&
  checksum(text.slice(-BODY_LENGTH, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);

export const isPublishableKey = (text: string): boolean => text.startsWith(PUBLISHABLE_PREFIX);

/** What is stored of a key. A plain hash is enough: 202 bits cannot be guessed. */
export const hashApiKey = (key: string): string => createHash("sha256").update(key).digest("hex");

export const shownParts = (
  key: string,
): { readonly prefix: string; readonly last_four: string } => ({
  prefix: key.slice(0, 12),
  last_four: key.slice(-4),
});
