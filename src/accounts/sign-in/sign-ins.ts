import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { storeDownOf } from "../../base/store-down.ts";
import { DAY_MS } from "../../core/calendar.ts";
import { changeRows, deleteRows, insertRow } from "../../store/rows.ts";
import { keepNewest, pruneRows } from "../../store/prune.ts";
import type { Db, SignInRow } from "../../store/schema.ts";
import { inTransaction } from "../../store/transaction.ts";
import type { Account, Accounts } from "../accounts-store.ts";

const KEPT = 100;

/** Signed-in browsers. Rules are checked by `test/contracts/account/sign-ins.ts`. */
export class SignIns {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Beyond 100 of an account the longest unused end. */
  create(made: SignInRow): Promise<void> {
    return inTransaction(this.#db, async (tx) => {
      const column = "last_seen_at_ms";
      await keepNewest(tx, "login_sessions", made.account_id, KEPT - 1, { column });
      await insertRow(tx.sql, "login_sessions", made);
    });
  }

  #alive(nowMs: number) {
    const all = this.#db.selectFrom("login_sessions").selectAll();
    return all.where("expires_at_ms", ">", nowMs);
  }

  find(tokenHash: string, nowMs: number): Promise<SignInRow | undefined> {
    return this.#alive(nowMs).where("token_hash", "=", tokenHash).executeTakeFirst();
  }

  async touch(id: string, seen: Seen): Promise<void> {
    await changeRows(this.#db, "login_sessions", { id }, seen);
  }

  async list(accountId: string, nowMs: number): Promise<readonly SignInRow[]> {
    const all = this.#alive(nowMs).orderBy("last_seen_at_ms", "desc").orderBy("id");
    return await all.where("account_id", "=", accountId).execute();
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

type Seen = Pick<SignInRow, "last_seen_at_ms" | "expires_at_ms" | "client_address">;

export const IDLE_MS = 14 * DAY_MS;

export const LIFE_MS = 90 * DAY_MS;

/** How exactly "last seen" is kept: every request would be a write. */
const TOUCH_AFTER_MS = 5 * 60_000;

export interface Visitor {
  readonly clientAddress: string;
  readonly userAgent: string;
}

export interface SignedIn {
  readonly account: Account;
  readonly session: SignInRow;
}

interface SignInsDeps {
  readonly sessions: SignIns;
  readonly accounts: Pick<Accounts, "find">;
  readonly ids: Ids;
  readonly clock: Pick<Clock, "nowMs">;
}

const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");

/** How long a browser is known without the store, for pages that say what is wrong. */
const REMEMBERED_MS = 3_600_000;

export class SignInService {
  readonly #deps: SignInsDeps;
  readonly #remembered = new LRUCache<string, SignedIn & { readonly seenMs: number }>({
    max: 1_000,
  });

  constructor(deps: SignInsDeps) {
    this.#deps = deps;
  }

  async start({ id }: Pick<Account, "id">, visitor: Visitor) {
    const { sessions, ids, clock } = this.#deps;
    const token = Buffer.from(ids.bytes(32)).toString("base64url");
    const nowMs = clock.nowMs();
    const session: SignInRow = {
      id: ids.hex32(),
      account_id: id,
      token_hash: hashOf(token),
      created_at_ms: nowMs,
      last_seen_at_ms: nowMs,
      expires_at_ms: nowMs + IDLE_MS,
      client_address: visitor.clientAddress,
      user_agent: visitor.userAgent.slice(0, 300),
    };
    await sessions.create(session);
    return { session, token };
  }

  async identify(token: string, visitor: Visitor): Promise<SignedIn | undefined> {
    if (!/^[\w-]{43}$/.test(token)) return undefined;
    const { sessions, accounts, clock } = this.#deps;
    const nowMs = clock.nowMs();
    const session = await sessions.find(hashOf(token), nowMs);
    const account = session && (await accounts.find(session.account_id));
    if (session === undefined || account === undefined) {
      this.#remembered.delete(hashOf(token));
      return undefined;
    }
    this.#remembered.set(hashOf(token), { account, session, seenMs: nowMs });
    await this.#touch(session, visitor.clientAddress, nowMs).catch((fault: unknown) => {
      if (storeDownOf(fault) === undefined) throw fault; // a disk that is full signs nobody out
    });
    return { account, session };
  }

  /** Who this was in the last hour: for the few answers that are given while the store is away. */
  remembered(token: string): SignedIn | undefined {
    const known = this.#remembered.get(hashOf(token));
    if (known === undefined) return undefined;
    return this.#deps.clock.nowMs() - known.seenMs < REMEMBERED_MS ? known : undefined;
  }

  async #touch(session: SignInRow, client_address: string, nowMs: number): Promise<void> {
    const isFresh = nowMs - session.last_seen_at_ms < TOUCH_AFTER_MS;
    if (isFresh && client_address === session.client_address) return;
    const expires_at_ms = Math.min(session.created_at_ms + LIFE_MS, nowMs + IDLE_MS);
    const seen = { last_seen_at_ms: nowMs, expires_at_ms, client_address };
    await this.#deps.sessions.touch(session.id, seen);
  }
}

export type StartedSession = Awaited<ReturnType<SignInService["start"]>>;
