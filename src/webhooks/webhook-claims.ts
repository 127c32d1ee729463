import type { ExpressionBuilder, Kysely } from "kysely";
import type { Delivery, DeliveryLimits } from "./webhook-store.ts";
import type { Database } from "../store/schema.ts";
import type { WebhookDeliveryRow } from "../store/tables/webhooks.ts";
import { inTransaction, type Tx } from "../store/transaction.ts";

export interface Claim {
  readonly nowMs: number;
  readonly limits: DeliveryLimits;
  readonly onlyId: string | undefined;
}

/** Moves what there is room for from `queued` to `sending`. */
export async function claimDeliveries(
  db: Kysely<Database>,
  claim: Claim,
): Promise<readonly Delivery[]> {
  // Looked at outside the transaction first: the queue is empty nearly always, and this writes nothing.
  if (!(await isAnyQueued(db))) return [];
  return inTransaction(db, async (tx) => {
    await takeTurn(tx);
    const busy = await busyAccounts(tx);
    const ids = admit(await candidates(tx, busy, claim), busy, claim.limits);
    return ids.length === 0 ? [] : begin(tx, ids, claim.nowMs);
  });
}

/** Makes everybody who does the same wait until this transaction ends, on PostgreSQL too. */
export async function takeTurn({ sql }: Tx): Promise<void> {
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

/** How many deliveries of each account are under way. */
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
