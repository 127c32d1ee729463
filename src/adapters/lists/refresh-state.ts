import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ListRefusal } from "../../ports/list-refresh.ts";
import { writeWhole } from "./list-copy.ts";

/** When a source was last asked, and why its answer was not taken. */
export interface SourceState {
  readonly askedAtMs: number;
  readonly why?: ListRefusal;
  readonly detail?: string;
}

export type RefreshState = Readonly<Record<string, SourceState | undefined>>;

const pathIn = (folder: string): string => join(folder, "state.json");

/** What this process or another wrote last; nothing when there is no such file. */
export function readState(folder: string): RefreshState {
  try {
    const state: unknown = JSON.parse(readFileSync(pathIn(folder), "utf8"));
    return typeof state === "object" && state !== null ? (state as RefreshState) : {};
  } catch {
    return {};
  }
}

export function writeState(folder: string, state: RefreshState): void {
  writeWhole(pathIn(folder), JSON.stringify(state));
}

const generationIn = (folder: string): string => join(folder, "generation");

/** Changes whenever any process put a new copy of a list there; "" before the first. */
export function readGeneration(folder: string): string {
  try {
    return readFileSync(generationIn(folder), "utf8");
  } catch {
    return "";
  }
}

export const writeGeneration = (folder: string, generation: string): void =>
  writeWhole(generationIn(folder), generation);
