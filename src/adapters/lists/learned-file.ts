import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { MailServerKind } from "../../core/datasets.ts";
import { writeWhole } from "./list-copy.ts";

/** A mail host, or an address that mail hosts have, and what it was learned to be. */
export type LearnedServer = readonly [host: string, kind: MailServerKind];

const pathIn = (folder: string): string => join(folder, "learned.json");

/** What was learned last; nothing when there is no such file or it is not whole. */
export function readLearned(folder: string): readonly LearnedServer[] {
  try {
    const servers: unknown = JSON.parse(readFileSync(pathIn(folder), "utf8"));
    return Array.isArray(servers) ? servers.filter(isServer) : [];
  } catch {
    return [];
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
