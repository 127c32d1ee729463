import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { dayOf } from "../../core/calendar.ts";

/** What is known of the copy of one list beside its names. Days are counted from the Unix epoch, UTC. */
export interface CopyHead {
  readonly id: string;
  readonly fetchedAtMs: number;
  /** The day of the first copy: since when names are held that say nothing else. */
  readonly baseDay: number;
  /** Names of the last accepted fetch; a rotating list holds more. */
  readonly fetchedNames: number;
  readonly names: number;
  /** Of a rotating list: the days on which it was fetched, oldest first, at most `KEPT_UNSEEN_DAYS` of them. */
  readonly observed?: readonly number[];
  readonly etag?: string;
  readonly lastModified?: string;
}

/** A name, the day it was first seen and, on a rotating list, the day it was last seen. */
export interface HeldName {
  readonly name: string;
  readonly sinceDay: number;
  readonly seenDay: number;
}

/** The last good copy of one list, as it lies in the data directory. */
export interface FeedCopy {
  readonly head: CopyHead;
  /** "name" or "name sinceDay seenDay", one a line. */
  readonly lines: readonly string[];
}

const VERSION = 1;

export const listFolder = (dataDir: string): string => join(dataDir, "lists");

export const copyName = (id: string): string => `${id}.list`;

const pathOf = (folder: string, id: string): string => join(folder, copyName(id));

/** The names of a copy; those without dates of their own are as old as the copy and were seen with it. */
export function* heldNames({ head, lines }: FeedCopy): Generator<HeldName> {
  const fetchDay = dayOf(head.fetchedAtMs);
  for (const line of lines) {
    const [name = "", since, seen] = line.split(" ");
    yield {
      name,
      sinceDay: since === undefined ? head.baseDay : Number(since),
      seenDay: seen === undefined ? fetchDay : Number(seen),
    };
  }
}

/** Undefined when there is none, or none that is whole. */
export function readCopy(folder: string, id: string): FeedCopy | undefined {
  const text = textOf(pathOf(folder, id));
  return text === undefined ? undefined : parseCopy(text, id);
}

/** Undefined unless the text is a complete copy of this list. */
export function parseCopy(text: string, id: string): FeedCopy | undefined {
  const [first = "", ...lines] = text.split("\n");
  const last = lines.pop(); // every line ends with a line feed
  const head = headOf(first);
  return head?.id === id && last === "" && head.names === lines.length
    ? { head, lines }
    : undefined;
}

/** The most octets that a head has. */
const HEAD_BYTES_MAX = 4_096;

/** The head alone, without looking at the names: cheap enough for the thread that serves. */
export function readHead(folder: string, id: string): CopyHead | undefined {
  let file: number | undefined;
  try {
    file = openSync(pathOf(folder, id), "r");
    const bytes = Buffer.alloc(HEAD_BYTES_MAX);
    const text = bytes.toString("utf8", 0, readSync(file, bytes, 0, HEAD_BYTES_MAX, 0));
    return headOf(text.slice(0, text.indexOf("\n")));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Undefined when it cannot be read. */
export function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function headOf(line: string): CopyHead | undefined {
  try {
    const head = JSON.parse(line) as Partial<CopyHead & { readonly v: number }>;
    const figures = [head.fetchedAtMs, head.baseDay, head.fetchedNames, head.names];
    const isOurs = head.v === VERSION && typeof head.id === "string";
    figures.push(...(head.observed ?? []));
    return isOurs && figures.every(Number.isSafeInteger) ? (head as CopyHead) : undefined;
  } catch {
    return undefined;
  }
}

/** Replaces the copy atomically: a reader sees the complete old or new one. */
export function writeCopy(folder: string, { head, lines }: FeedCopy): void {
  const text = [JSON.stringify({ v: VERSION, ...head }), ...lines, ""].join("\n");
  writeWhole(pathOf(folder, head.id), text);
}

/** A file that is never seen half written: under another name first, then renamed. */
export function writeWhole(path: string, text: string): void {
  const draft = `${path}.${randomBytes(8).toString("hex")}.tmp`;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(draft, text, { mode: 0o600, flush: true });
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}
