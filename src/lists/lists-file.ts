import type { PackedDatasets } from "./shared-datasets.ts";

/** Packed lists as one file: the length of the head (4 octets, little-endian), the head in JSON, the tables. */
const LENGTH_BYTES = 4;

const HEAD_BYTES_MAX = 65_536;

const TABLES = ["disposable", "families", "free", "knownGood", "roles", "mailServers"] as const;

const FORMAT = "gatepost-lists-1";

interface Head extends Pick<PackedDatasets, "sources"> {
  readonly format: string;
  readonly bytes: readonly number[];
  readonly checksum: number;
}

/** Continues a CRC-32 over more octets. */
export type Crc32 = (octets: Uint8Array, sum: number) => number;

export function encodeLists(
  packed: PackedDatasets,
  more: object,
  crc32: Crc32,
): readonly Uint8Array[] {
  const tables = TABLES.map((name) => new Uint8Array(packed[name]));
  const head: Head = {
    format: FORMAT,
    sources: packed.sources,
    bytes: tables.map((table) => table.byteLength),
    checksum: checksumOf(tables, crc32),
    ...more,
  };
  const text = new TextEncoder().encode(JSON.stringify(head));
  const length = new Uint8Array(LENGTH_BYTES);
  new DataView(length.buffer).setUint32(0, text.length, true);
  return [length, text, ...tables];
}

const checksumOf = (tables: readonly Uint8Array[], crc32: Crc32): number =>
  tables.reduce((sum, table) => crc32(table, sum), 0);

export interface DecodedLists<Memory extends ArrayBufferLike> {
  readonly head: object;
  readonly packed: PackedDatasets<Memory>;
}

/** Throws an `Error` that says what is wrong with the file. Without `crc32` only its format and lengths are looked at. */
export function decodeLists<Memory extends ArrayBufferLike>(
  file: Uint8Array,
  make: (bytes: number) => Memory,
  crc32?: Crc32,
): DecodedLists<Memory> {
  const { head, end } = readHead(file);
  const starts = head.bytes.map((_, at) => sum(head.bytes.slice(0, at)));
  if (file.length !== end + sum(head.bytes)) throw new Error("the file of lists is cut off");
  const tables = starts.map((start, at) =>
    file.subarray(end + start, end + start + (head.bytes[at] ?? 0)),
  );
  if (crc32 !== undefined && checksumOf(tables, crc32) !== head.checksum) {
    throw new Error("the file of lists is damaged: its checksum is wrong");
  }
  const copies = tables.map((table) => {
    const memory = make(table.length);
    new Uint8Array(memory).set(table);
    return memory;
  });
  const named = Object.fromEntries(TABLES.map((name, at) => [name, copies[at]]));
  const packed = {
    version: 1,
    sources: head.sources,
    history: head.sources.map(() => undefined),
    ...(named as Readonly<Record<(typeof TABLES)[number], Memory>>), // as many as there are names
  };
  return { head, packed };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

function readHead(file: Uint8Array): { readonly head: Head; readonly end: number } {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const length = file.length < LENGTH_BYTES ? 0 : view.getUint32(0, true);
  const end = LENGTH_BYTES + length;
  if (length === 0 || length > HEAD_BYTES_MAX || file.length < end) throw noLists();
  const head = headOf(new TextDecoder().decode(file.subarray(LENGTH_BYTES, end)));
  if (head === undefined) throw noLists();
  return { head, end };
}

function headOf(text: string): Head | undefined {
  try {
    const head = JSON.parse(text) as Head;
    if (head.format !== FORMAT || !Array.isArray(head.sources)) return undefined;
    return head.bytes.length === TABLES.length && head.bytes.every(Number.isSafeInteger)
      ? head
      : undefined;
  } catch {
    return undefined;
  }
}

const noLists = (): Error => new Error(`not a file of lists ("${FORMAT}")`);
