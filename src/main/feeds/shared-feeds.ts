import type { SqlDatabase } from "../../store/database.ts";
import { sqlFeedFiles } from "../../lists/feed-files.ts";
import type { Notices } from "../../store/notices.ts";
import type { Config } from "../settings/config.ts";
import type { SharedLists } from "./feed-jobs.ts";
import type { AccountStore } from "../parts/backing/store.ts";

/** The lists of all machines, through the database; `notices` spares the others the wait for their next look. */
export function sharedListsOf(db: SqlDatabase["db"], notices: Notices): SharedLists {
  return {
    files: sqlFeedFiles(db),
    tell: () => notices.tell("list_files"),
    hear: (listener) => notices.hear("list_files", listener),
  };
}

/** For a command, by the settings: nothing without DATABASE_URL. */
export function sharedByConfig(
  { databaseUrl }: Pick<Config, "databaseUrl">,
  { sql: { db }, notices }: Pick<AccountStore, "sql" | "notices">,
): { readonly shared?: SharedLists } {
  return databaseUrl === undefined ? {} : { shared: sharedListsOf(db, notices) };
}
