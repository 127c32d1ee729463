import { createHash } from "node:crypto";
import { inflateRawSync } from "node:zlib";
import { sql } from "kysely";
import type { LearnedServer } from "../core/evidence/mail-servers/learn-mail-servers.ts";
import { packText } from "../store/pack.ts";
import { addRow, changeRows } from "../store/rows.ts";
import type { Db } from "../store/schema.ts";
import { inTransaction } from "../store/transaction.ts";
import { countChange } from "./rules/rule.ts";

/** A text in the database: the copy of a feed, the state of the feeds, learned servers or a round of learning. */
export interface FeedFile {
  readonly name: string;
  /** The SHA-256 of the text, so that damaged content is detected. */
  readonly version: string;
  readonly content: Uint8Array;
  readonly changedAtMs: number;
}

export const FILE_OCTETS_MAX = 8 * 1_048_576;

/** A longer text is not one of ours: the largest list has 3 MB. */
const TEXT_OCTETS_MAX = 64 * 1_048_576;

export const copyName = (id: string): string => `${id}.list`;
export const LEARNED_FILE = "learned.json";
export const STATE_FILE = "state.json";

const versionOf = (text: string): string => createHash("sha256").update(text).digest("hex");

export async function packFeedFile(
  name: string,
  text: string,
  changedAtMs: number,
): Promise<FeedFile> {
  return { name, version: versionOf(text), content: await packText(text), changedAtMs };
}

/** Undefined when there is none, or it is not what its version says. */
export function unpackFeedFile(file: FeedFile | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    const octets = inflateRawSync(file.content, { maxOutputLength: TEXT_OCTETS_MAX });
    const text = new TextDecoder("utf-8", { fatal: true }).decode(octets);
    return versionOf(text) === file.version ? text : undefined;
  } catch {
    return undefined;
  }
}

export function parseIf<T>(
  text: string | undefined,
  isValid: (value: unknown) => value is T,
): T | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return isValid(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export const parseLearned = (text: string | undefined): readonly LearnedServer[] =>
  parseIf(text, isServers) ?? [];

const isServers = (value: unknown): value is readonly LearnedServer[] =>
  Array.isArray(value) &&
  value.every((row) => {
    const [host, kind] = (Array.isArray(row) ? row : []) as readonly unknown[];
    const isHost = typeof host === "string" && /^[!-~]{1,255}$/.test(host);
    return isHost && (kind === "dedicated" || kind === "shared");
  });

/** Files of the lists, which all processes share. Rules are checked by `test/contracts/evidence/feed-files.ts`. */
export class FeedFiles {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async versions(): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#db.selectFrom("list_files").select(["name", "version"]).execute();
    return new Map(rows.map(({ name, version }) => [name, version]));
  }

  async read(...names: readonly string[]): Promise<readonly FeedFile[]> {
    const rows = await this.#db
      .selectFrom("list_files")
      .selectAll()
      .where("name", "in", names)
      .where(sql<number>`length(content)`, "<=", FILE_OCTETS_MAX)
      .execute();
    return rows.map(({ changed_at_ms, ...same }) => ({
      ...same,
      changedAtMs: Number(changed_at_ms),
    }));
  }

  /** False, and nothing is written, when what is there is not `replaces`: another process wrote meanwhile. */
  async write(file: FeedFile, replaces: string | undefined): Promise<boolean> {
    const { name, version, content, changedAtMs: changed_at_ms } = file;
    if (content.length > FILE_OCTETS_MAX) {
      throw new Error(`list file ${name}: more than ${String(FILE_OCTETS_MAX)} octets`);
    }
    const columns = { version, content, changed_at_ms };
    return await inTransaction(this.#db, async (tx) => {
      const { sql: db } = tx;
      const isWritten =
        replaces === undefined
          ? await addRow(db, "list_files", { name, ...columns })
          : (await changeRows(db, "list_files", { name, version: replaces }, columns)) > 0;
      const isInUse = name === LEARNED_FILE || name.endsWith(copyName(""));
      if (isWritten && isInUse) await countChange(tx);
      return isWritten;
    });
  }
}
