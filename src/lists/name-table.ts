import type { NameSet, NameTable } from "../core/evidence/datasets.ts";

/**
 * Names and the lists that hold them in one shared buffer, by open addressing with linear probing:
 * [slot count: u32] [slot: u32, one more than where its entry begins in the text, 0 for empty]...
 * [text: entries of u8 length, u16 bits, bytes]
 */
const HEADER_BYTES = 4;
const ENTRY_HEAD_BYTES = 3;

/** Bits of an entry: as many lists as a table can tell apart. */
export const LISTS_MAX = 16;

/** FNV-1a over the characters, in 32 bits. The low bits choose the slot, and FNV mixes the high ones better. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) {
    hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  }
  return (hash ^ (hash >>> 15)) >>> 0;
}

interface Views {
  readonly slots: Uint32Array;
  readonly text: Uint8Array;
}

/** The slot that holds `name`, or the empty one where it belongs. A table is never full, so it ends. */
function slotOf(name: string, { slots, text }: Views): number {
  const last = slots.length - 1;
  let slot = hashOf(name) & last;
  for (let entry = slots[slot] ?? 0; entry !== 0; entry = slots[slot] ?? 0) {
    if (isNameAt(name, text, entry - 1)) return slot;
    slot = (slot + 1) & last;
  }
  return slot;
}

function isNameAt(name: string, text: Uint8Array, at: number): boolean {
  if (text[at] !== name.length) return false;
  const first = at + ENTRY_HEAD_BYTES;
  for (let index = 0; index < name.length; index += 1) {
    if (text[first + index] !== name.charCodeAt(index)) return false;
  }
  return true;
}

const bitsAt = (text: Uint8Array, at: number): number =>
  (text[at + 1] ?? 0) | ((text[at + 2] ?? 0) << 8);

const NAME_MAX = 255;

export class NameTableBuilder {
  readonly #names = new Map<string, number>();

  /** Adds list bit `bit` (0 to 15) to `name`: printable ASCII, 1 to 255 characters, as it will be asked for. */
  add(name: string, bit: number): void {
    this.#names.set(name, (this.#names.get(name) ?? 0) | (1 << bit));
  }

  put(name: string, value: number): void {
    this.#names.set(name, value);
  }

  finish(): SharedArrayBuffer {
    const names = [...this.#names.keys()];
    const octets = names.reduce((sum, name) => sum + ENTRY_HEAD_BYTES + name.length, 0);
    // A power of 2 of which the names take at most half.
    const slotCount = 2 ** Math.ceil(Math.log2(Math.max(1, names.length) * 2));
    const start = HEADER_BYTES + slotCount * Uint32Array.BYTES_PER_ELEMENT;
    const shared = new SharedArrayBuffer(start + octets);
    new Uint32Array(shared, 0, 1)[0] = slotCount;
    const slots = new Uint32Array(shared, HEADER_BYTES, slotCount);
    const text = new Uint8Array(shared, start);
    let end = 0;
    for (const [name, value] of this.#names) {
      slots[slotOf(name, { slots, text })] = end + 1;
      writeName(name, text, end);
      text[end + 1] = value & 0xff;
      text[end + 2] = value >> 8;
      end += ENTRY_HEAD_BYTES + name.length;
    }
    return shared;
  }
}

function writeName(name: string, text: Uint8Array, at: number): void {
  if (name === "" || name.length > NAME_MAX) throw new Error("name table: length of a name");
  text[at] = name.length;
  for (let index = 0; index < name.length; index += 1) {
    const code = name.charCodeAt(index);
    if (code < 0x21 || code > 0x7e) throw new Error("name table: character of a name");
    text[at + ENTRY_HEAD_BYTES + index] = code;
  }
}

const EMPTY: NameTable = { sourcesOf: () => 0 };

export function attachNameTable(buffer: ArrayBufferLike): NameTable {
  const slotCount = new Uint32Array(buffer, 0, 1)[0] ?? 0;
  const slots = new Uint32Array(buffer, HEADER_BYTES, slotCount);
  const text = new Uint8Array(buffer, HEADER_BYTES + slots.byteLength);
  if (text.length === 0) return EMPTY;
  const views = { slots, text };
  return {
    sourcesOf(name) {
      const entry = slots[slotOf(name, views)] ?? 0;
      return entry === 0 ? 0 : bitsAt(text, entry - 1);
    },
  };
}

/** The names of a finished table that have one of the `wanted` bits, with all of theirs, in no order. */
export function* namesOfTable(
  buffer: ArrayBufferLike,
  wanted = 2 ** LISTS_MAX - 1,
): Generator<readonly [name: string, bits: number]> {
  const slotCount = new Uint32Array(buffer, 0, 1)[0] ?? 0;
  const text = new Uint8Array(buffer, HEADER_BYTES + slotCount * Uint32Array.BYTES_PER_ELEMENT);
  for (let at = 0; at < text.length; at += ENTRY_HEAD_BYTES + (text[at] ?? 0)) {
    const bits = bitsAt(text, at);
    if ((bits & wanted) === 0) continue; // making a text costs most
    const start = at + ENTRY_HEAD_BYTES;
    const name = String.fromCharCode(...text.subarray(start, start + (text[at] ?? 0)));
    yield [name, bits];
  }
}

export function attachNameSet(buffer: ArrayBufferLike): NameSet {
  const table = attachNameTable(buffer);
  return { has: (name) => table.sourcesOf(name) !== 0 };
}
