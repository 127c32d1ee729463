import { isFields } from "./results.ts";
import { hash40 } from "./sha256.ts";

/** The listed names as hashes, for the time when the service does not answer: docs/pocket.md. */
export interface Pocket {
  readonly size: number;
  /** Whether the service rejects the address for the name of its domain alone. */
  lists(email: string): boolean;
}

const SECTIONS = ["domains", "exact", "below", "allowed", "allowed_below"] as const;

export const POCKET_MAX_BYTES = 1_000_000;
const HASH_BYTES = 5;
const LABELS_MAX = 128;

/** Whether a section holds a hash. */
type Has = (hash: number) => boolean;

/** Throws a TypeError for a file that is not a pocket list. */
export function readPocket(file: Uint8Array): Pocket {
  const end = file.indexOf(10);
  const head = end < 0 ? undefined : headOf(file.subarray(0, end));
  if (head === undefined || file.length > POCKET_MAX_BYTES) throw notPocket();
  const key = keyOf(head["key"]);
  let at = end + 1;
  const sections = SECTIONS.map((name): Has => {
    const count = head[name];
    if (typeof count !== "number" || !Number.isInteger(count) || count < 0) throw notPocket();
    const start = at;
    at += count * HASH_BYTES;
    return (hash) => holds(file, start, count, hash);
  });
  if (at !== file.length) throw notPocket();
  const size = (at - end - 1) / HASH_BYTES;
  return { size, lists: (email) => isListed(email, key, sections) };
}

const notPocket = (): TypeError => new TypeError("The file is not a pocket list of version 1.");

function headOf(line: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const head: unknown = JSON.parse(new TextDecoder().decode(line));
    const isOurs = isFields(head) && head["format"] === "gatepost-pocket" && head["version"] === 1;
    return isOurs ? head : undefined;
  } catch {
    return undefined;
  }
}

function keyOf(hex: unknown): Uint8Array {
  if (typeof hex !== "string" || !/^[0-9a-f]{32}$/.test(hex)) throw notPocket();
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** Binary search among big-endian integers. */
function holds(file: Uint8Array, start: number, count: number, hash: number): boolean {
  let low = 0;
  for (let high = count; low < high;) {
    const middle = (low + high) >> 1;
    const found = hashAt(file, start + middle * HASH_BYTES);
    if (found === hash) return true;
    if (found < hash) low = middle + 1;
    else high = middle;
  }
  return false;
}

function hashAt(file: Uint8Array, at: number): number {
  let value = 0;
  for (let index = at; index < at + HASH_BYTES; index += 1)
    value = value * 256 + (file[index] ?? 0);
  return value;
}

function isListed(email: string, key: Uint8Array, sections: readonly Has[]): boolean {
  const [domains, exact, below, allowed, allowedBelow] = sections;
  const labels = domainOf(email).split(".");
  const encoder = new TextEncoder();
  for (const at of labels.slice(0, LABELS_MAX).keys()) {
    const name = encoder.encode(labels.slice(at).join("."));
    const bytes = new Uint8Array(key.length + name.length);
    bytes.set(key);
    bytes.set(name, key.length);
    const hash = hash40(bytes);
    const [pass, stop] = at === 0 ? [allowed, exact] : [allowedBelow, below];
    if (pass?.(hash) === true) return false;
    if (domains?.(hash) === true || stop?.(hash) === true) return true;
  }
  return false;
}

/** Lower case, without blanks and one last dot; wide letters and dots as plain ones. */
const domainOf = (email: string): string =>
  email
    .slice(email.lastIndexOf("@") + 1, email.lastIndexOf("@") + 4_097)
    .trim()
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll("\u3002", ".")
    .replace(/\.$/, "");
