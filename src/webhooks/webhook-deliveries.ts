import type { Kysely } from "kysely";
import type {
  Deliveries,
  Delivery,
  DeliveryOutcome,
  EnqueueCaps,
  LoggedDelivery,
} from "./webhook-store.ts";
import { pruneRows } from "../store/prune-rows.ts";
import type { Database } from "../store/schema.ts";
import type { WebhookDeliveryRow } from "../store/tables/webhooks.ts";
import { inTransaction, type Tx } from "../store/transaction.ts";
import { claimDeliveries, takeTurn } from "./webhook-claims.ts";

/** The queue of deliveries and their log. */
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
