import type { ExpressionBuilder, Kysely } from "kysely";
import { changeRows, deleteRows, findRow, insertRow, pruneRows } from "../store/rows.ts";
import type { Database, WebhookDeliveryRow } from "../store/schema.ts";
import { inTransaction, type Tx } from "../store/transaction.ts";

export const WEBHOOK_EVENTS = ["test.ping", "bulk.completed"] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

export interface WebhookEndpoint {
  readonly accountId: string;
  /** Absolute, https, as `webhooks/configure.ts` writes it. */
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  /** By `SecretBox`, about the account's id. */
  readonly sealedSecret: string;
}

/**
 * `sending` begins with the claim and ends with the outcome in `done`, or in `interrupted` when the process
 * died. `removed`: the endpoint was gone before the attempt. `dropped`: too many were waiting already.
 */
export type DeliveryState = "queued" | "sending" | "done" | "removed" | "interrupted" | "dropped";

export interface Delivery {
  readonly id: string;
  readonly accountId: string;
  readonly event: WebhookEvent;
  readonly session?: string;
  readonly data: string;
  readonly queuedAtMs: number;
}

export interface DeliveryOutcome {
  readonly status?: number;
  /** In plain words; absent when the receiver accepted. */
  readonly error?: string;
  readonly durationMs: number;
  readonly snippet?: string;
}

export interface LoggedDelivery extends Partial<DeliveryOutcome> {
  readonly id: string;
  readonly event: WebhookEvent;
  readonly session?: string;
  readonly state: DeliveryState;
  readonly queuedAtMs: number;
  readonly attemptedAtMs?: number;
}

export interface DeliveryLimits {
  readonly perAccount: number;
  readonly inAll: number;
  /** Of `inAll`, how many places may be an account's second or a further one. */
  readonly beyondFirst: number;
}

export interface EnqueueCaps {
  /** Queued deliveries of one account; one more is logged as `dropped`. */
  readonly waiting: number;
  /** Deliveries of the same account and event since then; one more is not even logged. */
  readonly recent?: { readonly sinceMs: number; readonly most: number };
}

/** The queue of deliveries and their log are one table: a row is written before the POST, completed after it. */
export class Deliveries {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  enqueue(delivery: Delivery, caps: EnqueueCaps): Promise<"queued" | "dropped" | "too_many"> {
    return inTransaction(this.#db, (tx) => enqueue(tx, delivery, caps));
  }

  /** Each once across all callers: accounts with the fewest open first, then the oldest. With `onlyId` that one alone. */
  async claim(
    nowMs: number,
    limits: DeliveryLimits,
    onlyId?: string,
  ): Promise<readonly Delivery[]> {
    // Looked at outside the transaction first: the queue is empty nearly always, and this writes nothing.
    if ((await findRow(this.#db, "webhook_deliveries", { state: "queued" })) === undefined)
      return [];
    return inTransaction(this.#db, async (tx) => {
      await takeTurn(tx);
      const busy = await busyAccounts(tx);
      const ids = admit(await candidates(tx, busy, { limits, onlyId }), busy, limits);
      return ids.length === 0 ? [] : begin(tx, ids, nowMs);
    });
  }

  async complete(id: string, state: "done" | "removed", outcome: DeliveryOutcome): Promise<void> {
    const { status = null, error = null, durationMs, snippet = null } = outcome;
    const columns = { state, status, error, duration_ms: durationMs, snippet };
    await changeRows(this.#db, "webhook_deliveries", { id, state: "sending" }, columns);
  }

  async find(id: string): Promise<LoggedDelivery | undefined> {
    const row = await findRow(this.#db, "webhook_deliveries", { id });
    return row && loggedOf(row);
  }

  /** What was to be sent; undefined unless it is the account's and its attempt is over. */
  async sent(accountId: string, id: string): Promise<Delivery | undefined> {
    const row = await findRow(this.#db, "webhook_deliveries", { id, account_id: accountId });
    const isOver = row !== undefined && row.state !== "queued" && row.state !== "sending";
    return isOver ? deliveryOf(row) : undefined;
  }

  /** Newest first. */
  async list(accountId: string, limit: number): Promise<readonly LoggedDelivery[]> {
    const rows = await this.#db
      .selectFrom("webhook_deliveries")
      .selectAll()
      .where("account_id", "=", accountId)
      .orderBy("queued_at_ms", "desc")
      .orderBy("id", "desc")
      .limit(limit)
      .execute();
    return rows.map(loggedOf);
  }

  /** Ends as `interrupted` what has been `sending` since before then; returns how many. */
  async interrupt(startedBeforeMs: number): Promise<number> {
    const { numUpdatedRows } = await this.#db
      .updateTable("webhook_deliveries")
      .set({ state: "interrupted" })
      .where("state", "=", "sending")
      .where("attempted_at_ms", "<", startedBeforeMs)
      .executeTakeFirst();
    return Number(numUpdatedRows);
  }

  prune(queuedBeforeMs: number): Promise<number> {
    const [column, before] = ["queued_at_ms", queuedBeforeMs] as const;
    return pruneRows(this.#db, { table: "webhook_deliveries", key: ["id"], column, before });
  }
}

/** One endpoint an account. Rules: `test/contracts/webhooks/webhook-store.ts`. */
export class WebhookEndpoints {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  async find(accountId: string): Promise<WebhookEndpoint | undefined> {
    const row = await findRow(this.#db, "webhook_endpoints", { account_id: accountId });
    if (row === undefined) return undefined;
    const { url, events, sealed_secret: sealedSecret } = row;
    return { accountId, url, events: eventsOf(events), sealedSecret };
  }

  async save({ accountId, url, events, sealedSecret }: WebhookEndpoint): Promise<void> {
    const columns = { url, events: events.join(","), sealed_secret: sealedSecret };
    await this.#db
      .insertInto("webhook_endpoints")
      .values({ account_id: accountId, ...columns })
      .onConflict((conflict) => conflict.column("account_id").doUpdateSet(columns))
      .execute();
  }

  /** False when the account has no endpoint, here and below. */
  async setEvents(accountId: string, events: readonly WebhookEvent[]): Promise<boolean> {
    const columns = { events: events.join(",") };
    return (
      (await changeRows(this.#db, "webhook_endpoints", { account_id: accountId }, columns)) > 0
    );
  }

  async setSecret(accountId: string, sealedSecret: string): Promise<boolean> {
    const columns = { sealed_secret: sealedSecret };
    return (
      (await changeRows(this.#db, "webhook_endpoints", { account_id: accountId }, columns)) > 0
    );
  }

  /** Removes the endpoint and ends the deliveries still queued as `removed`, in one step. */
  remove(accountId: string): Promise<boolean> {
    return inTransaction(this.#db, async ({ sql }) => {
      const queued = { account_id: accountId, state: "queued" } as const;
      const removed = await deleteRows(sql, "webhook_endpoints", { account_id: accountId });
      await changeRows(sql, "webhook_deliveries", queued, { state: "removed" });
      return removed > 0;
    });
  }
}

const eventsOf = (column: string): readonly WebhookEvent[] =>
  WEBHOOK_EVENTS.filter((event) => column.split(",").includes(event));

/** Makes everybody who does the same wait until this transaction ends, on PostgreSQL too. */
async function takeTurn({ sql }: Tx): Promise<void> {
  await sql
    .updateTable("webhook_claims")
    .set(({ eb }) => ({ claims: eb("claims", "+", 1) }))
    .where("id", "=", 1)
    .execute();
}

/** Deliveries of each account under way. */
type Busy = ReadonlyMap<string, number>;

async function busyAccounts({ sql }: Tx): Promise<Busy> {
  const rows = await sql
    .selectFrom("webhook_deliveries")
    .select(["account_id", ({ fn }) => fn.countAll().as("count")])
    .where("state", "=", "sending")
    .groupBy("account_id")
    .execute();
  return new Map(rows.map((row) => [row.account_id, Number(row.count)]));
}

interface Candidate {
  readonly id: string;
  /** 1: it would be the only one of its account under way. */
  readonly rank: number;
}

/** The waiting deliveries that could begin by their account's own limit, in the order they should. */
async function candidates(
  { sql }: Tx,
  busy: Busy,
  { limits, onlyId }: { readonly limits: DeliveryLimits; readonly onlyId: string | undefined },
): Promise<readonly Candidate[]> {
  const places = sql
    .selectFrom("webhook_deliveries")
    .select(["id", "account_id", "queued_at_ms"])
    .select(placeInAccount)
    .where("state", "=", "queued")
    .$if(onlyId !== undefined, (query) => query.where("id", "=", onlyId ?? ""));
  const rows = await sql
    .selectFrom(places.as("waiting"))
    .select(["id", "account_id", "place"])
    .where("place", "<=", limits.perAccount)
    .orderBy("place")
    .orderBy("queued_at_ms")
    .orderBy("id")
    .execute();
  return rows
    .map((row) => ({ id: row.id, rank: Number(row.place) + (busy.get(row.account_id) ?? 0) }))
    .filter(({ rank }) => rank <= limits.perAccount)
    .sort((a, b) => a.rank - b.rank);
}

const placeInAccount = ({ fn }: ExpressionBuilder<Database, "webhook_deliveries">) =>
  fn
    .agg<number>("row_number")
    .over((over) => over.partitionBy("account_id").orderBy("queued_at_ms").orderBy("id"))
    .as("place");

/** First deliveries take any place; further ones of an account only those that are set aside for them. */
function admit(
  waiting: readonly Candidate[],
  busy: Busy,
  { inAll, beyondFirst }: DeliveryLimits,
): readonly string[] {
  const counts = [...busy.values()];
  let free = inAll - counts.reduce((sum, count) => sum + count, 0);
  let further = beyondFirst - counts.reduce((sum, count) => sum + count - 1, 0);
  const admitted: string[] = [];
  for (const { id, rank } of waiting) {
    if (free <= 0) break;
    if (rank > 1 && further <= 0) continue;
    if (rank > 1) further -= 1;
    free -= 1;
    admitted.push(id);
  }
  return admitted;
}

async function begin(
  { sql }: Tx,
  ids: readonly string[],
  nowMs: number,
): Promise<readonly Delivery[]> {
  const rows = await sql
    .updateTable("webhook_deliveries")
    .set({ state: "sending", attempted_at_ms: nowMs })
    .where("id", "in", ids)
    .where("state", "=", "queued")
    .returningAll()
    .execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => {
    const row = byId.get(id);
    return row === undefined ? [] : [deliveryOf(row)];
  });
}

function deliveryOf(row: WebhookDeliveryRow): Delivery {
  return {
    id: row.id,
    accountId: row.account_id,
    event: row.event,
    ...(row.session === null ? {} : { session: row.session }),
    data: row.data,
    queuedAtMs: row.queued_at_ms,
  };
}

async function enqueue(
  tx: Tx,
  delivery: Delivery,
  { waiting, recent }: EnqueueCaps,
): Promise<"queued" | "dropped" | "too_many"> {
  await takeTurn(tx); // two at the edge of a cap must not both pass
  const { accountId: account_id, event } = delivery;
  if (recent !== undefined) {
    const sent = await countOf(tx, { account_id, event }, recent.sinceMs);
    if (sent >= recent.most) return "too_many";
  }
  const queued = await countOf(tx, { account_id, state: "queued" });
  const state = queued >= waiting ? "dropped" : "queued";
  await insertRow(tx.sql, "webhook_deliveries", newRow(delivery, state));
  return state;
}

async function countOf(
  { sql }: Tx,
  is: Partial<WebhookDeliveryRow>,
  sinceMs = Number.MIN_SAFE_INTEGER,
): Promise<number> {
  const { count } = await sql
    .selectFrom("webhook_deliveries")
    .select(({ fn }) => fn.countAll().as("count"))
    .where((eb) => eb.and(is))
    .where("queued_at_ms", ">", sinceMs)
    .executeTakeFirstOrThrow();
  return Number(count);
}

function newRow(delivery: Delivery, state: "queued" | "dropped"): WebhookDeliveryRow {
  return {
    id: delivery.id,
    account_id: delivery.accountId,
    event: delivery.event,
    session: delivery.session ?? null,
    data: delivery.data,
    state,
    queued_at_ms: delivery.queuedAtMs,
    attempted_at_ms: null,
    duration_ms: null,
    status: null,
    error: null,
    snippet: null,
  };
}

/** Keys whose column is null are left out. */
function loggedOf(row: WebhookDeliveryRow): LoggedDelivery {
  const { id, event, state } = row;
  const more = {
    session: row.session,
    attemptedAtMs: row.attempted_at_ms,
    durationMs: row.duration_ms,
    status: row.status,
    error: row.error,
    snippet: row.snippet,
  };
  const known = Object.entries(more).filter(([, value]) => value !== null);
  return { id, event, state, queuedAtMs: row.queued_at_ms, ...Object.fromEntries(known) };
}
