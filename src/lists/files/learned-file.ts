import { join } from "node:path";
import type { MailServerKind } from "../../core/evidence/datasets.ts";
import type { LearnedServer } from "../../core/evidence/mail-servers/learn-mail-servers.ts";
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
