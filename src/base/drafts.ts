import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

/** A file on its way to its name: "<name>.<random>.tmp". An older one was abandoned. */
const DRAFT = /\.[0-9a-f]{16,32}\.tmp$/;
const DEAD_AFTER_MS = 3_600_000;

/** Deletes what killed processes left in mid write; what is younger than an hour may be another process's. How many. */
export function sweepDrafts(folders: readonly string[], nowMs: number): number {
  return folders.flatMap(draftsIn).filter((path) => sweep(path, nowMs)).length;
}

function draftsIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => DRAFT.test(name))
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

function sweep(path: string, nowMs: number): boolean {
  try {
    const facts = statSync(path);
    if (!facts.isFile() || nowMs - facts.mtimeMs <= DEAD_AFTER_MS) return false;
    rmSync(path);
    return true;
  } catch {
    return false;
  }
}
