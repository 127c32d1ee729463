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

/** FNV-1a over the characters, in 32 bits, one by one. */
const HASH_START = 0x811c9dc5;
const hashStep = (hash: number, code: number): number => Math.imul(hash ^ code, 0x01000193);
/** The low bits choose the slot, and FNV mixes the high ones better. */
const hashEnd = (hash: number): number => (hash ^ (hash >>> 15)) >>> 0;

function hashOf(name: string): number {
  let hash = HASH_START;
  for (let at = 0; at < name.length; at += 1) hash = hashStep(hash, name.charCodeAt(at));
  return hashEnd(hash);
}

function hashOfEntry(text: Uint8Array, at: number): number {
  const end = at + ENTRY_HEAD_BYTES + (text[at] ?? 0);
  let hash = HASH_START;
  for (let byte = at + ENTRY_HEAD_BYTES; byte < end; byte += 1) {
    hash = hashStep(hash, text[byte] ?? 0);
  }
  return hashEnd(hash);
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

export interface NameTableBuilder {
  /** Adds list bit `bit` (0 to 15) to `name`: printable ASCII, 1 to 255 characters, as it will be asked for. */
  add(name: string, bit: number): void;
  put(name: string, value: number): void;
  finish(): SharedArrayBuffer;
}

const USUAL_ENTRY_BYTES = 20;

/** An empty table with room for about `count` names; it grows if needed. */
export function nameTableBuilder(expectedNames = 1_000): NameTableBuilder {
  let slots = new Uint32Array(slotsFor(expectedNames));
  let text = new Uint8Array(expectedNames * USUAL_ENTRY_BYTES);
  let end = 0;
  let count = 0;
  const append = (name: string): number => {
    if (end + ENTRY_HEAD_BYTES + NAME_MAX > text.length) text = enlarged(text);
    writeName(name, text, end);
    const entry = end + 1;
    end += ENTRY_HEAD_BYTES + name.length;
    count += 1;
    return entry;
  };
  /** Where the entry of `name` stands, made when there is none. */
  const entryOf = (name: string): number => {
    if (count * 2 >= slots.length) slots = rehashed(slots, text, slots.length * 2);
    const slot = slotOf(name, { slots, text });
    if (slots[slot] === 0) slots[slot] = append(name);
    return (slots[slot] ?? 0) - 1;
  };
  const put = (at: number, value: number): void => {
    text[at + 1] = value & 0xff;
    text[at + 2] = value >> 8;
  };
  return {
    add(name, bit) {
      const at = entryOf(name);
      put(at, bitsAt(text, at) | (1 << bit));
    },
    put: (name, value) => put(entryOf(name), value),
    finish() {
      const fitting = slotsFor(count);
      if (fitting < slots.length) slots = rehashed(slots, text, fitting);
      const start = HEADER_BYTES + slots.byteLength;
      const shared = new SharedArrayBuffer(start + end);
      new Uint32Array(shared, 0, 1)[0] = slots.length;
      new Uint32Array(shared, HEADER_BYTES, slots.length).set(slots);
      new Uint8Array(shared, start).set(text.subarray(0, end));
      return shared;
    },
  };
}

function enlarged(text: Uint8Array): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(text.length * 2 + NAME_MAX);
  larger.set(text);
  return larger;
}

/** A power of 2 of which `count` names take at most half. */
const slotsFor = (count: number): number => 2 ** Math.ceil(Math.log2(Math.max(1, count) * 2));

function rehashed(
  slots: Uint32Array,
  text: Uint8Array,
  slotCount: number,
): Uint32Array<ArrayBuffer> {
  const other = new Uint32Array(slotCount);
  for (const entry of slots) {
    if (entry === 0) continue;
    let slot = hashOfEntry(text, entry - 1) & (other.length - 1);
    while (other[slot] !== 0) slot = (slot + 1) & (other.length - 1);
    other[slot] = entry;
  }
  return other;
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
