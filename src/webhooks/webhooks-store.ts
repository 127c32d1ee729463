import type { ExpressionBuilder, Kysely } from "kysely";
import {
  type Deliveries,
  type Delivery,
  type DeliveryLimits,
  type DeliveryOutcome,
  type EnqueueCaps,
  type LoggedDelivery,
  WEBHOOK_EVENTS,
  type WebhookEndpoints,
  type WebhookEvent,
} from "./webhook-store.ts";
import type { Database, WebhookDeliveryRow } from "../store/schema.ts";
import { type Tx, inTransaction } from "../store/transaction.ts";
import { pruneRows } from "../store/rows.ts";

interface Claim {
  readonly nowMs: number;
  readonly limits: DeliveryLimits;
  readonly onlyId: string | undefined;
}

async function claimDeliveries(db: Kysely<Database>, claim: Claim): Promise<readonly Delivery[]> {
  // Looked at outside the transaction first: the queue is empty nearly always, and this writes nothing.
  if (!(await isAnyQueued(db))) return [];
  return inTransaction(db, async (tx) => {
    await takeTurn(tx);
    const busy = await busyAccounts(tx);
    const ids = admit(await candidates(tx, busy, claim), busy, claim.limits);
    return ids.length === 0 ? [] : begin(tx, ids, claim.nowMs);
  });
}

async function takeTurn({ sql }: Tx): Promise<void> {
  await sql
    .updateTable("webhook_claims")
    .set(({ eb }) => ({ claims: eb("claims", "+", 1) }))
    .where("id", "=", 1)
    .execute();
}

async function isAnyQueued(db: Kysely<Database>): Promise<boolean> {
  const query = db.selectFrom("webhook_deliveries").select("id").where("state", "=", "queued");
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}

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
async function candidates({ sql }: Tx, busy: Busy, claim: Claim): Promise<readonly Candidate[]> {
  const { limits, onlyId } = claim;
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

export function sqlDeliveries(db: Kysely<Database>): Deliveries {
  return {
    enqueue: (delivery, caps) => inTransaction(db, (tx) => enqueue(tx, delivery, caps)),
    claim: (nowMs, limits, onlyId) => claimDeliveries(db, { nowMs, limits, onlyId }),
    async complete(id, state, outcome) {
      await db
        .updateTable("webhook_deliveries")
        .set({ state, ...outcomeColumns(outcome) })
        .where("id", "=", id)
        .where("state", "=", "sending")
        .execute();
    },
    async find(id) {
      const row = await select(db).where("id", "=", id).executeTakeFirst();
      return row && loggedOf(row);
    },
    async sent(accountId, id) {
      const row = await db
        .selectFrom("webhook_deliveries")
        .selectAll()
        .where("id", "=", id)
        .where("account_id", "=", accountId)
        .where("state", "not in", ["queued", "sending"])
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const { event, session, data, queued_at_ms: queuedAtMs } = row;
      return { id, accountId, event, data, queuedAtMs, ...(session !== null && { session }) };
    },
    async list(accountId, limit) {
      const rows = await select(db)
        .where("account_id", "=", accountId)
        .orderBy("queued_at_ms", "desc")
        .orderBy("id", "desc")
        .limit(limit)
        .execute();
      return rows.map(loggedOf);
    },
    async interrupt(startedBeforeMs) {
      const { numUpdatedRows } = await db
        .updateTable("webhook_deliveries")
        .set({ state: "interrupted" })
        .where("state", "=", "sending")
        .where("attempted_at_ms", "<", startedBeforeMs)
        .executeTakeFirst();
      return Number(numUpdatedRows);
    },
    prune: (queuedBeforeMs) =>
      pruneRows(db, {
        table: "webhook_deliveries",
        key: ["id"],
        column: "queued_at_ms",
        before: queuedBeforeMs,
      }),
  };
}

async function enqueue(
  tx: Tx,
  delivery: Delivery,
  { waiting, recent }: EnqueueCaps,
): Promise<"queued" | "dropped" | "too_many"> {
  await takeTurn(tx); // two at the edge of a cap must not both pass
  if (recent !== undefined && (await recentOf(tx, delivery, recent.sinceMs)) >= recent.most) {
    return "too_many";
  }
  const state = (await waitingOf(tx, delivery.accountId)) >= waiting ? "dropped" : "queued";
  await tx.sql.insertInto("webhook_deliveries").values(newRow(delivery, state)).execute();
  return state;
}

async function recentOf(tx: Tx, { accountId, event }: Delivery, sinceMs: number): Promise<number> {
  const { count } = await tx.sql
    .selectFrom("webhook_deliveries")
    .select(({ fn }) => fn.countAll().as("count"))
    .where("account_id", "=", accountId)
    .where("queued_at_ms", ">", sinceMs)
    .where("event", "=", event)
    .executeTakeFirstOrThrow();
  return Number(count);
}

async function waitingOf(tx: Tx, accountId: string): Promise<number> {
  const { count } = await tx.sql
    .selectFrom("webhook_deliveries")
    .select(({ fn }) => fn.countAll().as("count"))
    .where("state", "=", "queued")
    .where("account_id", "=", accountId)
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

function outcomeColumns({ status, error, durationMs, snippet }: DeliveryOutcome) {
  return {
    status: status ?? null,
    error: error ?? null,
    duration_ms: durationMs,
    snippet: snippet ?? null,
  };
}

const LOGGED = [
  "id",
  "event",
  "session",
  "state",
  "queued_at_ms",
  "attempted_at_ms",
  "duration_ms",
  "status",
  "error",
  "snippet",
] as const;

const select = (db: Kysely<Database>) => db.selectFrom("webhook_deliveries").select(LOGGED);

/** Keys whose column is null are left out. */
function loggedOf(row: Pick<WebhookDeliveryRow, (typeof LOGGED)[number]>): LoggedDelivery {
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

export function sqlWebhookEndpoints(db: Kysely<Database>): WebhookEndpoints {
  const change = async (
    accountId: string,
    columns: { readonly events: string } | { readonly sealed_secret: string },
  ): Promise<boolean> => {
    const { numUpdatedRows } = await db
      .updateTable("webhook_endpoints")
      .set(columns)
      .where("account_id", "=", accountId)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  };
  return {
    async find(accountId) {
      const row = await db
        .selectFrom("webhook_endpoints")
        .selectAll()
        .where("account_id", "=", accountId)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const { url, events, sealed_secret: sealedSecret } = row;
      return { accountId, url, events: eventsOf(events), sealedSecret };
    },
    async save({ accountId, url, events, sealedSecret }) {
      const columns = { url, events: events.join(","), sealed_secret: sealedSecret };
      await db
        .insertInto("webhook_endpoints")
        .values({ account_id: accountId, ...columns })
        .onConflict((conflict) => conflict.column("account_id").doUpdateSet(columns))
        .execute();
    },
    setEvents: (accountId, events) => change(accountId, { events: events.join(",") }),
    setSecret: (accountId, sealedSecret) => change(accountId, { sealed_secret: sealedSecret }),
    remove: (accountId) => removeEndpoint(db, accountId),
  };
}

const eventsOf = (column: string): readonly WebhookEvent[] =>
  WEBHOOK_EVENTS.filter((event) => column.split(",").includes(event));

function removeEndpoint(db: Kysely<Database>, accountId: string): Promise<boolean> {
  return inTransaction(db, async ({ sql }) => {
    const { numDeletedRows } = await sql
      .deleteFrom("webhook_endpoints")
      .where("account_id", "=", accountId)
      .executeTakeFirst();
    await sql
      .updateTable("webhook_deliveries")
      .set({ state: "removed" })
      .where("account_id", "=", accountId)
      .where("state", "=", "queued")
      .execute();
    return numDeletedRows > 0n;
  });
}
