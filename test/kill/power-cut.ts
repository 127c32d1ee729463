import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Chance } from "../sim/chance.ts";

/** Of SQLite's write-ahead log: its header, and the header of each page in it. */
const HEADER = 32;
const FRAME_HEADER = 24;

/** In the shared index: how many frames a checkpoint began to copy; it synced the log before. */
const COPIED_AT = 128;

interface Notes {
  /** What `dying.ts` wrote. */
  readonly synced: string;
  readonly index: Buffer;
}

/** How many frames of the log of this salt, which changes when a log begins anew, the disk has for certain. */
function syncedFrames({ synced, index }: Notes, salt: string): number {
  const lines = synced.split("\n").filter((line) => line.startsWith(salt));
  const copied = index.toString("hex", 32, 40) === salt ? index.readUInt32LE(COPIED_AT) : 0;
  return Math.max(copied, ...lines.map((line) => Number(line.split(" ")[1])));
}

/**
 * Makes the files of a database whose process was killed what they may be after a failure of the machine: of what was
 * not synced, some is there, some is lost and some is torn. That is the log behind the last commit that waited for the
 * disk, and the pages that the log still holds, which a checkpoint may have been writing.
 */
export function cutPower(dataDir: string, chance: Chance): void {
  const file = join(dataDir, "gatepost.db");
  const log = `${file}-wal`;
  if (!existsSync(log)) return;
  const octets = readFileSync(log);
  const notes = {
    synced: readFileSync(join(dataDir, "test", "synced"), "utf8"),
    index: readFileSync(`${file}-shm`),
  };
  rmSync(`${file}-shm`); // memory of the machine
  if (octets.length < HEADER) return;
  const pageSize = octets.readUInt32BE(8);
  const frames = syncedFrames(notes, octets.toString("hex", 16, 24));
  const synced = frames === 0 ? 0 : HEADER + frames * (pageSize + FRAME_HEADER);
  tearPages(file, octets.subarray(HEADER, synced), { pageSize, chance });
  const kept = synced + chance.below(octets.length - synced + 1);
  for (let torn = chance.below(3); torn > 0 && kept > synced; torn -= 1) {
    octets.writeUInt8(chance.below(256), synced + chance.below(kept - synced));
  }
  writeFileSync(log, octets.subarray(0, kept));
}

/** A page that the synced log holds may be half written: the log has it whole. */
function tearPages(
  file: string,
  frames: Buffer,
  { pageSize, chance }: { readonly pageSize: number; readonly chance: Chance },
): void {
  const database = readFileSync(file);
  for (let at = 0; at + FRAME_HEADER + pageSize <= frames.length; at += FRAME_HEADER + pageSize) {
    const begin = (frames.readUInt32BE(at) - 1) * pageSize;
    if (begin + pageSize > database.length || !chance.isTrue(0.2)) continue;
    const from = begin + chance.below(pageSize);
    database.fill(chance.below(256), from, begin + pageSize);
  }
  writeFileSync(file, database);
}
