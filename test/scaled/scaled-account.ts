import assert from "node:assert/strict";
import type { SqlDatabase } from "../../src/store/database.ts";
import { WebhookEndpoints } from "../../src/webhooks/webhooks-store.ts";
import { createSecretBox } from "../../src/base/secrets.ts";
import type { AccountStore } from "../../src/main/store.ts";
import type { Answered } from "../http/strict-client.ts";
import { until } from "../time/until.ts";

/** An account and its requests, to any API process. */
export interface ScaledAccount {
  readonly accountId: string;
  readonly apiKey: string;
  get(base: string, path: string): Promise<Answered>;
  post(base: string, path: string, form: Readonly<Record<string, string>>): Promise<Answered>;
  remove(base: string, path: string): Promise<Answered>;
  /** Queues a batch; returns its session. If a store was too slow it is sent again, as clients must. */
  queue(base: string, text: string): Promise<string>;
  /** Waits for the end of a job; returns the state that the view shows. */
  ended(base: string, session: string): Promise<string>;
  /** Every entry of a finished session with its result. */
  results(base: string, session: string): Promise<string>;
  /** What the database holds for the account. */
  books(): Promise<Books>;
}

export interface Books {
  /** Units of today in the ledger. */
  readonly units: number;
  readonly balance: number;
  readonly creditSum: number;
  readonly runningJobs: number;
  /** Deliveries of bulk.completed by session. */
  readonly webhooks: ReadonlyMap<string, number>;
}

interface AccountParts {
  readonly sql: SqlDatabase;
  readonly store: AccountStore;
  readonly tier: "free" | "starter" | "pro";
  readonly secretKey: Uint8Array;
}

let made = 0;
/** A poll costs the service a query. */
const POLL_MS = 50;
/** For a few seconds of work on a slow machine, after leases of dead workers. */
const JOB_WITHIN_MS = 180_000;
const ENDS: ReadonlySet<string> = new Set(["completed", "failed", "gone"]);

export async function openScaledAccount(parts: AccountParts): Promise<ScaledAccount> {
  const { sql, store, tier, secretKey } = parts;
  made += 1;
  const email = `account${String(made)}@owner.example`;
  const created = await store.accounts.create({
    email,
    tier,
    origin: "operator",
    isAdmin: false,
  });
  assert.ok(created.kind === "created");
  const accountId = created.account.id;
  const key = await store.keys.create(accountId, "test");
  await new WebhookEndpoints(sql.db).save({
    accountId,
    url: "https://receiver.example/hook", // no such name: nothing is dialled, and the attempt is logged
    events: [],
    sealedSecret: createSecretBox(secretKey).seal("a".repeat(64), accountId),
  });
  const headers = { "x-api-key": key.apiKey };
  const ask = async (url: string, init: RequestInit = {}): Promise<Answered> => {
    const answer = await fetch(url, { ...init, headers });
    return {
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: await answer.text(),
    };
  };
  const self: ScaledAccount = {
    accountId,
    apiKey: key.apiKey,
    get: (base, path) => ask(base + path),
    post: (base, path, form) =>
      ask(base + path, { method: "POST", body: new URLSearchParams(form) }),
    remove: (base, path) => ask(base + path, { method: "DELETE" }),
    async queue(base, text) {
      const send = async (): Promise<Answered | undefined> => {
        const answered = await self.post(base, "/api/domain", { domain: text, bulk: "true" });
        return answered.status === 503 ? undefined : answered;
      };
      const answer = await until(send, { what: "a list that is queued", everyMs: POLL_MS });
      assert.equal(answer.status, 200, answer.body.slice(0, 300));
      const { session, status } = JSON.parse(answer.body) as { session: string; status?: string };
      assert.equal(status, "pending");
      return session;
    },
    ended: (base, session) =>
      until(
        async () => {
          const answer = await self.get(base, `/api/view/${session}`).catch(() => undefined);
          const status = answer === undefined ? "nobody answers" : stateIn(answer);
          return ENDS.has(status) ? status : undefined;
        },
        { what: "the end of the job", withinMs: JOB_WITHIN_MS, everyMs: POLL_MS },
      ),
    async results(base, session) {
      const answer = await self.get(base, `/api/view/${session}/json`);
      assert.equal(answer.status, 200, answer.body.slice(0, 300));
      return answer.body.replaceAll(session, "");
    },
    books: () => booksOf(sql, accountId),
  };
  return self;
}

/** The view is JSON while a job runs, and the list of valid entries afterwards. */
function stateIn({ status, body }: Answered): string {
  if (status === 404) return "gone";
  if (status !== 200) return `answered ${String(status)}`;
  if (!body.startsWith("{")) return "completed";
  return (JSON.parse(body) as { status?: string }).status ?? "completed";
}

async function booksOf({ db }: SqlDatabase, accountId: string): Promise<Books> {
  const owner = `account:${accountId}`;
  const days = await db
    .selectFrom("usage_days")
    .select("units")
    .where("owner", "=", owner)
    .execute();
  const entries = await db
    .selectFrom("credit_entries")
    .select("amount")
    .where("account_id", "=", accountId)
    .execute();
  const { credit_balance: balance } = await db
    .selectFrom("accounts")
    .select("credit_balance")
    .where("id", "=", accountId)
    .executeTakeFirstOrThrow();
  const running = await db
    .selectFrom("jobs")
    .select("session")
    .where("owner", "=", owner)
    .where("is_running", "=", 1)
    .execute();
  const deliveries = await db
    .selectFrom("webhook_deliveries")
    .select("session")
    .where("account_id", "=", accountId)
    .execute();
  const webhooks = new Map<string, number>();
  for (const { session } of deliveries) {
    webhooks.set(session ?? "", (webhooks.get(session ?? "") ?? 0) + 1);
  }
  return {
    units: days.reduce((sum, { units }) => sum + Number(units), 0),
    balance: Number(balance),
    creditSum: entries.reduce((sum, { amount }) => sum + Number(amount), 0),
    runningJobs: running.length,
    webhooks,
  };
}
