import type { Kysely } from "kysely";
import type { SignIn, SignIns, NewSignIn } from "./sign-in-records.ts";
import { pruneRows } from "../../store/prune-rows.ts";
import type { Database } from "../../store/schema.ts";
import type { SignInRow } from "../../store/tables/dashboard.ts";
import { inTransaction, type Tx } from "../../store/transaction.ts";

function signInOf(row: SignInRow): SignIn {
  return {
    id: row.id,
    accountId: row.account_id,
    createdAtMs: row.created_at_ms,
    lastSeenAtMs: row.last_seen_at_ms,
    expiresAtMs: row.expires_at_ms,
    clientAddress: row.client_address,
    userAgent: row.user_agent,
  };
}

const newRow = (made: NewSignIn): SignInRow => ({
  id: made.id,
  account_id: made.accountId,
  token_hash: made.tokenHash,
  created_at_ms: made.createdAtMs,
  last_seen_at_ms: made.lastSeenAtMs,
  expires_at_ms: made.expiresAtMs,
  client_address: made.clientAddress,
  user_agent: made.userAgent,
});

/** Browsers that an account is signed in with; the longest unused is signed out for a new one. */
const KEPT = 100;

async function createIn({ sql }: Tx, made: NewSignIn): Promise<void> {
  const last = await sql
    .selectFrom("login_sessions")
    .select("last_seen_at_ms")
    .where("account_id", "=", made.accountId)
    .orderBy("last_seen_at_ms", "desc")
    .limit(1)
    .offset(KEPT - 2)
    .executeTakeFirst();
  if (last !== undefined) {
    await sql
      .deleteFrom("login_sessions")
      .where("account_id", "=", made.accountId)
      .where("last_seen_at_ms", "<", last.last_seen_at_ms)
      .execute();
  }
  await sql.insertInto("login_sessions").values(newRow(made)).execute();
}

export function sqlSignIns(db: Kysely<Database>): SignIns {
  const alive = (nowMs: number) =>
    db.selectFrom("login_sessions").selectAll().where("expires_at_ms", ">", nowMs);
  return {
    create: (made) => inTransaction(db, (tx) => createIn(tx, made)),
    async find(tokenHash, nowMs) {
      const row = await alive(nowMs).where("token_hash", "=", tokenHash).executeTakeFirst();
      return row && signInOf(row);
    },
    async touch(id, { lastSeenAtMs, expiresAtMs, clientAddress }) {
      const seen = { last_seen_at_ms: lastSeenAtMs, expires_at_ms: expiresAtMs };
      const columns = { ...seen, client_address: clientAddress };
      await db.updateTable("login_sessions").set(columns).where("id", "=", id).execute();
    },
    async list(accountId, nowMs) {
      const rows = await alive(nowMs)
        .where("account_id", "=", accountId)
        .orderBy("last_seen_at_ms", "desc")
        .orderBy("id")
        .execute();
      return rows.map(signInOf);
    },
    async end(accountId, id) {
      const gone = await db
        .deleteFrom("login_sessions")
        .where("account_id", "=", accountId)
        .where("id", "=", id)
        .executeTakeFirst();
      return Number(gone.numDeletedRows) === 1;
    },
    async endAll(accountId, keptId) {
      const all = db.deleteFrom("login_sessions").where("account_id", "=", accountId);
      const some = keptId === undefined ? all : all.where("id", "!=", keptId);
      return Number((await some.executeTakeFirst()).numDeletedRows);
    },
    prune: (nowMs) =>
      pruneRows(db, {
        table: "login_sessions",
        key: ["id"],
        column: "expires_at_ms",
        before: nowMs + 1,
      }),
  };
}
