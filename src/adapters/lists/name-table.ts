import type { NameSet, NameTable } from "../../core/datasets.ts";

/**
 * Names and the lists that hold them in one shared buffer: open addressing with linear probing over the
 * names' own bytes. Threads attach to the buffer without copying it; once finished it is never written.
 *
 * Layout: [slot count: u32] [slot: u32, one more than where its entry begins in the text, 0 for empty]...
 * [text: entries of u8 length, u16 bits, bytes]
 */
const HEADER_BYTES = 4;
const ENTRY_HEAD_BYTES = 3;

/** Bits of an entry: as many lists as a table can tell apart. */
export const LISTS_MAX = 16;

/** FNV-1a over the characters, in 32 bits. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) {
    hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  }
  return (hash ^ (hash >>> 15)) >>> 0; // the low bits choose the slot, and FNV mixes the high ones better
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

/** An entry's length is one byte. */
const NAME_MAX = 255;

/** A table that is still being filled. */
export interface NameTableBuilder {
  /** Adds list bit `bit` (0 to 15) to `name`: printable ASCII, 1 to 255 characters, as it will be asked for. */
  add(name: string, bit: number): void;
  /** The finished table in a buffer of its exact size. */
  finish(): SharedArrayBuffer;
}

/** Bytes of text that a name takes at first guess; the text grows when the guess was low. */
const USUAL_ENTRY_BYTES = 20;

/** `names`: how many will be added at the most, repeated ones counted each time. */
export function nameTableBuilder(names: number): NameTableBuilder {
  const slots = new Uint32Array(2 ** Math.ceil(Math.log2(Math.max(names, 1))) * 2);
  let text = new Uint8Array(names * USUAL_ENTRY_BYTES + NAME_MAX);
  let end = 0;
  const append = (name: string): number => {
    if (end + ENTRY_HEAD_BYTES + name.length > text.length) text = doubled(text);
    writeName(name, text, end);
    end += ENTRY_HEAD_BYTES + name.length;
    return end - ENTRY_HEAD_BYTES - name.length + 1;
  };
  return {
    add(name, bit) {
      const slot = slotOf(name, { slots, text });
      if (slots[slot] === 0) slots[slot] = append(name);
      const at = (slots[slot] ?? 0) - 1;
      const bits = bitsAt(text, at) | (1 << bit);
      text[at + 1] = bits & 0xff;
      text[at + 2] = bits >> 8;
    },
    finish() {
      const start = HEADER_BYTES + slots.byteLength;
      const shared = new SharedArrayBuffer(start + end);
      new Uint32Array(shared, 0, 1)[0] = slots.length;
      new Uint32Array(shared, HEADER_BYTES, slots.length).set(slots);
      new Uint8Array(shared, start).set(text.subarray(0, end));
      return shared;
    },
  };
}

function doubled(text: Uint8Array): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(text.length * 2);
  larger.set(text);
  return larger;
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

/** Reads a finished table where it lies. */
export function attachNameTable(buffer: SharedArrayBuffer): NameTable {
  const slotCount = new Uint32Array(buffer, 0, 1)[0] ?? 0;
  const slots = new Uint32Array(buffer, HEADER_BYTES, slotCount);
  const text = new Uint8Array(buffer, HEADER_BYTES + slots.byteLength);
  const views = { slots, text };
  return {
    sourcesOf(name) {
      const entry = slots[slotOf(name, views)] ?? 0;
      return entry === 0 ? 0 : bitsAt(text, entry - 1);
    },
  };
}

/** A table read as a plain set. */
export function attachNameSet(buffer: SharedArrayBuffer): NameSet {
  const table = attachNameTable(buffer);
  return { has: (name) => table.sourcesOf(name) !== 0 };
}
