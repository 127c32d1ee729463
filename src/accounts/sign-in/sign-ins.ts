import { createHash } from "node:crypto";
import type { Kysely } from "kysely";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { DAY_MS } from "../../core/calendar.ts";
import { changeRows, deleteRows, insertRow, pruneRows } from "../../store/rows.ts";
import type { Database, SignInRow } from "../../store/schema.ts";
import { inTransaction, type Tx } from "../../store/transaction.ts";
import type { Account, Accounts } from "../accounts-store.ts";
import type { AccountService } from "../accounts.ts";

export interface SignIn {
  readonly id: string;
  readonly accountId: string;
  readonly createdAtMs: number;
  readonly lastSeenAtMs: number;
  readonly expiresAtMs: number;
  readonly clientAddress: string;
  readonly userAgent: string;
}

export interface NewSignIn extends SignIn {
  readonly tokenHash: string;
}

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
  await insertRow(sql, "login_sessions", newRow(made));
}

/** Signed-in browsers. Rules are checked by `test/contracts/account/sign-ins.ts`. */
export class SignIns {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /** Beyond 100 of an account the longest unused end. */
  create(made: NewSignIn): Promise<void> {
    return inTransaction(this.#db, (tx) => createIn(tx, made));
  }

  #alive(nowMs: number) {
    const all = this.#db.selectFrom("login_sessions").selectAll();
    return all.where("expires_at_ms", ">", nowMs);
  }

  async find(tokenHash: string, nowMs: number): Promise<SignIn | undefined> {
    const row = await this.#alive(nowMs).where("token_hash", "=", tokenHash).executeTakeFirst();
    return row && signInOf(row);
  }

  async touch(id: string, { lastSeenAtMs, expiresAtMs, clientAddress }: Seen): Promise<void> {
    const seen = { last_seen_at_ms: lastSeenAtMs, expires_at_ms: expiresAtMs };
    const columns = { ...seen, client_address: clientAddress };
    await changeRows(this.#db, "login_sessions", { id }, columns);
  }

  async list(accountId: string, nowMs: number): Promise<readonly SignIn[]> {
    const all = this.#alive(nowMs).orderBy("last_seen_at_ms", "desc").orderBy("id");
    return (await all.where("account_id", "=", accountId).execute()).map(signInOf);
  }

  async end(accountId: string, id: string): Promise<boolean> {
    return (await deleteRows(this.#db, "login_sessions", { account_id: accountId, id })) === 1;
  }

  async endAll(accountId: string, keptId = ""): Promise<number> {
    const all = this.#db.deleteFrom("login_sessions").where("account_id", "=", accountId);
    return Number((await all.where("id", "!=", keptId).executeTakeFirst()).numDeletedRows);
  }

  prune(nowMs: number): Promise<number> {
    const pruning = { table: "login_sessions", key: ["id"], column: "expires_at_ms" } as const;
    return pruneRows(this.#db, { ...pruning, before: nowMs + 1 });
  }
}

type Seen = Pick<SignIn, "lastSeenAtMs" | "expiresAtMs" | "clientAddress">;

export const IDLE_MS = 14 * DAY_MS;

export const LIFE_MS = 90 * DAY_MS;

/** How exactly "last seen" is kept: every request would be a write. */
const TOUCH_AFTER_MS = 5 * 60_000;

const TOKEN_BYTES = 32;
const USER_AGENT_MAX = 300;

const TOKEN_SHAPE = /^[\w-]{43}$/;

export interface Visitor {
  readonly clientAddress: string;
  readonly userAgent: string;
}

export interface SignedIn {
  readonly account: Account;
  readonly session: SignIn;
}

export interface StartedSession {
  readonly session: SignIn;
  readonly token: string;
}

interface SignInDeps {
  readonly sessions: SignIns;
  readonly accounts: Pick<Accounts, "find">;
  readonly ids: Ids;
  readonly clock: Pick<Clock, "nowMs">;
}

export interface SignInService {
  start(account: Pick<Account, "id">, visitor: Visitor): Promise<StartedSession>;
  /** Whose token it is; undefined for a malformed, unknown or expired one. */
  identify(token: string, visitor: Visitor): Promise<SignedIn | undefined>;
}

const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");

export function createSignIns(deps: SignInDeps): SignInService {
  return {
    start: (account, visitor) => start(account, visitor, deps),
    async identify(token, visitor) {
      if (!TOKEN_SHAPE.test(token)) return undefined;
      const session = await deps.sessions.find(hashOf(token), deps.clock.nowMs());
      const account = session && (await deps.accounts.find(session.accountId));
      if (session === undefined || account === undefined) return undefined;
      await touch(session, visitor, deps);
      return { account, session };
    },
  };
}

async function start(
  account: Pick<Account, "id">,
  visitor: Visitor,
  { sessions, ids, clock }: SignInDeps,
): Promise<StartedSession> {
  const token = Buffer.from(ids.bytes(TOKEN_BYTES)).toString("base64url");
  const nowMs = clock.nowMs();
  const session: SignIn = {
    id: ids.hex32(),
    accountId: account.id,
    createdAtMs: nowMs,
    lastSeenAtMs: nowMs,
    expiresAtMs: nowMs + IDLE_MS,
    clientAddress: visitor.clientAddress,
    userAgent: visitor.userAgent.slice(0, USER_AGENT_MAX),
  };
  await sessions.create({ ...session, tokenHash: hashOf(token) });
  return { session, token };
}

async function touch(
  session: SignIn,
  { clientAddress }: Visitor,
  { sessions, clock }: SignInDeps,
): Promise<void> {
  const nowMs = clock.nowMs();
  const isFresh = nowMs - session.lastSeenAtMs < TOUCH_AFTER_MS;
  if (isFresh && clientAddress === session.clientAddress) return;
  const expiresAtMs = Math.min(session.createdAtMs + LIFE_MS, nowMs + IDLE_MS);
  await sessions.touch(session.id, { lastSeenAtMs: nowMs, expiresAtMs, clientAddress });
}

/** The same accounts; a password that is set signs every browser out: so an account is taken back from a thief. */
export function endingSessions(
  accounts: AccountService,
  sessions: Pick<SignIns, "endAll">,
): AccountService {
  return {
    ...accounts,
    async setPassword(id, password) {
      const answer = await accounts.setPassword(id, password);
      if (answer === "changed") await sessions.endAll(id);
      return answer;
    },
  };
}
