import { type Kysely, sql } from "kysely";
import type { Database } from "../store/schema.ts";

async function add(db: Kysely<Database>, file: SharedFile): Promise<boolean> {
  const { changedAtMs: changed_at_ms, ...same } = file;
  const made = await db
    .insertInto("list_files")
    .values({ ...same, changed_at_ms })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .returning("name")
    .executeTakeFirst();
  return made !== undefined;
}

async function replace(db: Kysely<Database>, file: SharedFile, replaces: string) {
  const { name, version, content, changedAtMs } = file;
  const { numUpdatedRows } = await db
    .updateTable("list_files")
    .set({ version, content, changed_at_ms: changedAtMs })
    .where("name", "=", name)
    .where("version", "=", replaces)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export function sqlFeedFiles(db: Kysely<Database>): FeedFiles {
  // Built once: every process asks it every 2 s.
  const all = db.selectFrom("list_files").select(["name", "version"]).compile();
  return {
    async versions() {
      const { rows } = await db.executeQuery(all);
      return new Map(rows.map(({ name, version }) => [name, version]));
    },
    async read(name) {
      const row = await db
        .selectFrom("list_files")
        .selectAll()
        .where("name", "=", name)
        .where(sql<number>`length(content)`, "<=", SHARED_BYTES_MAX)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const { changed_at_ms, ...same } = row;
      return { ...same, changedAtMs: Number(changed_at_ms) };
    },
    async write(file, replaces) {
      if (file.content.length > SHARED_BYTES_MAX) {
        throw new Error(`list file ${file.name}: more than ${String(SHARED_BYTES_MAX)} octets`);
      }
      return replaces === undefined ? await add(db, file) : await replace(db, file, replaces);
    },
  };
}

/** A file of the lists as machines share it. */
export interface SharedFile {
  readonly name: string;
  /** Changes with the content. */
  readonly version: string;
  /** Packed; at most `SHARED_BYTES_MAX`. */
  readonly content: Uint8Array;
  readonly changedAtMs: number;
}

/** More is neither stored nor read. */
export const SHARED_BYTES_MAX = 8 * 1_048_576;

/**
 * Files of the lists that all machines share. Every call ends in bounded time. Rules are checked by
 * `test/contracts/evidence/feed-files.ts`.
 */
export interface FeedFiles {
  /** Of every file by its name; cheap enough for every few seconds. */
  versions(): Promise<ReadonlyMap<string, string>>;
  /** Undefined when there is none, or one that is too large. */
  read(name: string): Promise<SharedFile | undefined>;
  /** False, and nothing is written, when what is there is not `replaces`: another wrote meanwhile. */
  write(file: SharedFile, replaces: string | undefined): Promise<boolean>;
}
