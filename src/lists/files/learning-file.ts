import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type {
  LearnedServer,
  MailSighting,
} from "../../core/evidence/mail-servers/learn-mail-servers.ts";
import type { MailServerKind } from "../../core/evidence/datasets.ts";
import { textOf, writeWhole } from "./feed-copy.ts";

export const LEARNED_FILE = "learned.json";

const pathIn = (folder: string): string => join(folder, LEARNED_FILE);

/** The last result of learning; empty if the file is missing or damaged. */
export function readLearned(folder: string): readonly LearnedServer[] {
  return parseLearned(textOf(pathIn(folder)) ?? "") ?? [];
}

/** Undefined unless the text is a list of servers. */
export function parseLearned(text: string): readonly LearnedServer[] | undefined {
  try {
    const servers: unknown = JSON.parse(text);
    return Array.isArray(servers) && servers.every(isServer) ? servers : undefined;
  } catch {
    return undefined;
  }
}

function isServer(value: unknown): value is LearnedServer {
  if (!Array.isArray(value)) return false;
  const [host, kind] = value as readonly unknown[];
  return typeof host === "string" && /^[!-~]{1,255}$/.test(host) && isKind(kind);
}

const isKind = (value: unknown): value is MailServerKind =>
  value === "dedicated" || value === "shared";

export function writeLearned(folder: string, servers: readonly LearnedServer[]): void {
  writeWhole(pathIn(folder), JSON.stringify(servers));
}

/** How far a round of learning has come. */
export interface LearningRound {
  /** The UTC day it was last worked on, in days since the Unix epoch. */
  readonly day: number;
  readonly isOver: boolean;
  /** Names up to this one, in the order of code units, were asked. */
  readonly lastName: string;
  readonly sightings: readonly MailSighting[];
}

/** Keeps a round over a restart. */
export interface LearningStore {
  /** Undefined when there is none, or none that can be read. */
  read(): Promise<LearningRound | undefined>;
  save(round: LearningRound): Promise<void>;
}

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
