import type { ExpressionBuilder } from "kysely";
import { changeRows, countRows, deleteRows, findRow, insertRow, putRow } from "../store/rows.ts";
import { pruneRows } from "../store/prune.ts";
import type { Database, Db, WebhookDeliveryRow } from "../store/schema.ts";
import { inTransaction, type Tx } from "../store/transaction.ts";

export const WEBHOOK_EVENTS = [
  "test.ping",
  "bulk.completed",
  "gate.wave",
  "gate.alert",
  "service.health",
  "domain.dead",
  "domain.back",
  "domain.changed_hands",
  "domain.disposable",
] as const;
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
export type DeliveryState = WebhookDeliveryRow["state"];

export type Delivery = Pick<
  WebhookDeliveryRow,
  "id" | "account_id" | "event" | "session" | "data" | "queued_at_ms"
>;

/** `error` is in plain words; absent when the receiver accepted. */
export type DeliveryOutcome = Partial<
  Pick<WebhookDeliveryRow, "status" | "error" | "duration_ms" | "snippet">
>;

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
  readonly recent?: { readonly sinceMs: number; readonly most: number } | undefined;
}

/** The queue of deliveries and their log are one table: a row is written before the POST, completed after it. */
export class Deliveries {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  enqueue(delivery: Delivery, caps: EnqueueCaps): Promise<"queued" | "dropped" | "too_many"> {
    return inTransaction(this.#db, (tx) => enqueueIn(tx, delivery, caps));
  }

  /** Each once across all callers: accounts with the fewest open first, then the oldest. With `onlyId` that one alone. */
  async claim(
    nowMs: number,
    limits: DeliveryLimits,
    onlyId?: string,
  ): Promise<readonly WebhookDeliveryRow[]> {
    // Looked at outside the transaction first: the queue is empty nearly always, and this writes nothing.
    if ((await findRow(this.#db, "webhook_deliveries", { state: "queued" })) === undefined)
      return [];
    return inTransaction(this.#db, async (tx) => {
      await takeTurn(tx);
      const ids = await admitted(tx, limits, onlyId);
      return ids.length === 0 ? [] : begin(tx, ids, nowMs);
    });
  }

  async complete(id: string, state: "done" | "removed", outcome: DeliveryOutcome): Promise<void> {
    const sending = { id, state: "sending" } as const;
    await changeRows(this.#db, "webhook_deliveries", sending, { state, ...outcome });
  }

  find(id: string): Promise<WebhookDeliveryRow | undefined> {
    return findRow(this.#db, "webhook_deliveries", { id });
  }

  /** What was to be sent; undefined unless it is the account's and its attempt is over. */
  async sent(accountId: string, id: string): Promise<Delivery | undefined> {
    const row = await findRow(this.#db, "webhook_deliveries", { id, account_id: accountId });
    const isOver = row !== undefined && row.state !== "queued" && row.state !== "sending";
    return isOver ? row : undefined;
  }

  list(accountId: string, limit: number): Promise<readonly WebhookDeliveryRow[]> {
    return this.#db
      .selectFrom("webhook_deliveries")
      .selectAll()
      .where("account_id", "=", accountId)
      .orderBy("queued_at_ms", "desc")
      .orderBy("id", "desc")
      .limit(limit)
      .execute();
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
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async find(accountId: string): Promise<WebhookEndpoint | undefined> {
    const row = await findRow(this.#db, "webhook_endpoints", { account_id: accountId });
    if (row === undefined) return undefined;
    const { url, events, sealed_secret: sealedSecret } = row;
    return { accountId, url, events: eventsOf(events), sealedSecret };
  }

  save({ accountId, url, events, sealedSecret }: WebhookEndpoint): Promise<void> {
    const columns = { url, events: events.join(","), sealed_secret: sealedSecret };
    return putRow(this.#db, "webhook_endpoints", { account_id: accountId }, columns);
  }

  /** False when the account has no endpoint. */
  async change(
    account_id: string,
    { events, sealedSecret }: Partial<Pick<WebhookEndpoint, "events" | "sealedSecret">>,
  ): Promise<boolean> {
    const columns = {
      ...(events !== undefined && { events: events.join(",") }),
      ...(sealedSecret !== undefined && { sealed_secret: sealedSecret }),
    };
    return (await changeRows(this.#db, "webhook_endpoints", { account_id }, columns)) > 0;
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

/**
 * The waiting deliveries that may begin, in the order they should. First ones of their accounts take any place; further
 * ones only those that are set aside for them.
 */
async function admitted(
  { sql }: Tx,
  { perAccount, inAll, beyondFirst }: DeliveryLimits,
  onlyId: string | undefined,
): Promise<readonly string[]> {
  const open = sql
    .selectFrom("webhook_deliveries")
    .select(["id", "state", "queued_at_ms"])
    .select(rankInAccount)
    .where((eb) =>
      eb.or([
        eb("state", "=", "sending"),
        eb.and(onlyId === undefined ? { state: "queued" } : { state: "queued", id: onlyId }),
      ]),
    );
  const rows = await sql
    .selectFrom(open.as("open"))
    .selectAll()
    .where("rank", "<=", perAccount)
    .orderBy("rank")
    .orderBy("queued_at_ms")
    .orderBy("id")
    .execute();
  const sending = rows.filter(({ state }) => state === "sending");
  let free = inAll - sending.length;
  let further = beyondFirst - sending.filter(({ rank }) => Number(rank) > 1).length;
  return rows.flatMap(({ id, state, rank }) => {
    const isFirst = Number(rank) === 1;
    if (state === "sending" || free <= 0 || (!isFirst && further <= 0)) return [];
    free -= 1;
    if (!isFirst) further -= 1;
    return [id];
  });
}

/** Those under way first ("sending" is behind "queued" in the alphabet), then by age. */
const rankInAccount = ({ fn }: ExpressionBuilder<Database, "webhook_deliveries">) =>
  fn
    .agg<number>("row_number")
    .over((over) =>
      over.partitionBy("account_id").orderBy("state", "desc").orderBy("queued_at_ms").orderBy("id"),
    )
    .as("rank");

async function begin(
  { sql }: Tx,
  ids: readonly string[],
  nowMs: number,
): Promise<readonly WebhookDeliveryRow[]> {
  const rows = await sql
    .updateTable("webhook_deliveries")
    .set({ state: "sending", attempted_at_ms: nowMs })
    .where("id", "in", ids)
    .where("state", "=", "queued")
    .returningAll()
    .execute();
  return rows.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
}

export async function enqueueIn(
  tx: Tx,
  delivery: Delivery,
  { waiting, recent }: EnqueueCaps,
): Promise<"queued" | "dropped" | "too_many"> {
  await takeTurn(tx); // two at the edge of a cap must not both pass
  const { account_id, event } = delivery;
  if (recent !== undefined) {
    const sent = await countOf(tx, { account_id, event }, recent.sinceMs);
    if (sent >= recent.most) return "too_many";
  }
  const queued = await countOf(tx, { account_id, state: "queued" });
  const state = queued >= waiting ? "dropped" : "queued";
  await insertRow(tx.sql, "webhook_deliveries", { ...delivery, state, ...NOT_ATTEMPTED });
  return state;
}

const NOT_ATTEMPTED = {
  attempted_at_ms: null,
  duration_ms: null,
  status: null,
  error: null,
  snippet: null,
};

function countOf(
  { sql }: Tx,
  is: Partial<WebhookDeliveryRow>,
  sinceMs = Number.MIN_SAFE_INTEGER,
): Promise<number> {
  return countRows(
    sql
      .selectFrom("webhook_deliveries")
      .where((eb) => eb.and(is))
      .where("queued_at_ms", ">", sinceMs),
  );
}
