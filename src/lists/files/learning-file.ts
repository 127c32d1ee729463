import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LearningRound, LearningStore } from "../learning-store.ts";

export const LEARNING_FILE = "learning.json";

/** Keeps a round as one JSON file in the folder of the lists; written beside, then renamed. */
export function learningFile(folder: string): LearningStore {
  const path = join(folder, LEARNING_FILE);
  return {
    async read() {
      try {
        return parseRound(await readFile(path, "utf8"));
      } catch {
        return undefined;
      }
    },
    async save(round) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(`${path}.tmp`, JSON.stringify(round), { mode: 0o600 });
      await rename(`${path}.tmp`, path);
    },
  };
}

/** Undefined unless the text is a round. */
export function parseRound(text: string): LearningRound | undefined {
  try {
    const round: unknown = JSON.parse(text);
    return isRound(round) ? round : undefined;
  } catch {
    return undefined;
  }
}

function isRound(value: unknown): value is LearningRound {
  if (typeof value !== "object" || value === null) return false;
  const { day, isOver, lastName, sightings } = value as Partial<LearningRound>;
  return (
    Number.isSafeInteger(day) &&
    typeof isOver === "boolean" &&
    typeof lastName === "string" &&
    Array.isArray(sightings)
  );
}
