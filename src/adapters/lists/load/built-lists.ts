import { closeSync, openSync, readSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { crc32 } from "node:zlib";
import { BUNDLED_VERSION } from "./bundled.ts";
import type { LoadedLists } from "./pack-lists.ts";
import { packageVersions } from "../sources/packages.ts";
import type { SharedDatasets } from "../table/shared-datasets.ts";

/**
 * The lists that came with the program as its build packed them: a start then reads four tables instead of 6 MB of
 * JSON and source texts. In the file: the length of the head (4 octets), the head in JSON, the tables.
 */
export const BUILT_LISTS_FILE = fileURLToPath(
  new URL("../../../../bundled.lists", import.meta.url),
);

const LENGTH_BYTES = 4;

/** About 800 octets; a longer one is not a head. */
const HEAD_BYTES_MAX = 65_536;

/** In this order in the file. Learned mail servers belong to the data directory only. */
const TABLES = ["disposable", "families", "free", "knownGood", "roles"] as const;

type Tables = Readonly<Record<(typeof TABLES)[number], SharedArrayBuffer>>;

interface Head extends Pick<SharedDatasets, "sources">, Pick<LoadedLists, "lists"> {
  /** The versions of the list packages: with other versions installed, the file is not used. */
  readonly packages: Readonly<Record<string, string>>;
  readonly bytes: readonly number[];
  readonly checksum: number;
}

/** Writes what `packLists` made of the packages alone. */
export function writeBuiltLists(path: string, { shared, lists }: LoadedLists): void {
  const tables = TABLES.map((name) => new Uint8Array(shared[name]));
  const head: Head = {
    packages: packageVersions(),
    sources: shared.sources,
    lists,
    bytes: tables.map((table) => table.byteLength),
    checksum: checksumOf(tables),
  };
  const text = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(text.length);
  writeFileSync(path, Buffer.concat([length, text, ...tables]));
}

const checksumOf = (tables: readonly Uint8Array[]): number =>
  tables.reduce((sum, table) => crc32(table, sum), 0);

/**
 * What lies there, with `mailServers`; undefined when there is none, none that is whole, or one that was packed
 * of other packages than those that are installed.
 */
export function readBuiltLists(
  path: string,
  mailServers: SharedArrayBuffer,
): LoadedLists | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const { head, tables } = readFile(file);
    if (JSON.stringify(head.packages) !== JSON.stringify(packageVersions())) return undefined;
    const { sources, lists } = head;
    const history = sources.map(() => undefined);
    return {
      shared: { version: BUNDLED_VERSION, sources, history, ...tables, mailServers },
      lists,
    };
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Throws if the file is damaged. */
function readFile(file: number): { readonly head: Head; readonly tables: Tables } {
  const length = Buffer.from(readNext(file, LENGTH_BYTES)).readUInt32LE();
  if (length > HEAD_BYTES_MAX) throw new Error("built lists: length of the head");
  const head = JSON.parse(Buffer.from(readNext(file, length)).toString()) as Head;
  const read = head.bytes.map((bytes) => readNext(file, bytes));
  if (checksumOf(read.map((table) => new Uint8Array(table))) !== head.checksum) {
    throw new Error("built lists: checksum");
  }
  const tables = Object.fromEntries(TABLES.map((name, at) => [name, read[at]]));
  return { head, tables: tables as Tables };
}

/** A table is read where threads will share it, without a copy between. */
function readNext(file: number, bytes: number): SharedArrayBuffer {
  const shared = new SharedArrayBuffer(bytes);
  if (readSync(file, new Uint8Array(shared)) !== bytes) throw new Error("built lists: cut off");
  return shared;
}
