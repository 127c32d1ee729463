import type { Kysely } from "kysely";
import { WEBHOOK_EVENTS } from "./webhook-store.ts";
import type { WebhookEndpoints, WebhookEvent } from "./webhook-store.ts";
import type { Database } from "../store/schema.ts";
import { inTransaction } from "../store/transaction.ts";

/** Endpoints of accounts. */
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
