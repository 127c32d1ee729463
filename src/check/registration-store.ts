import { pruneRows } from "../store/prune.ts";
import { putRow } from "../store/rows.ts";
import type { Db } from "../store/schema.ts";
import type { RegistrationCache } from "./rdap/registration.ts";

export function sqlRegistrationCache(db: Db): RegistrationCache {
  return {
    async read(domain, nowMs) {
      const row = await db
        .selectFrom("registrations")
        .select(["registered_at_ms", "expires_at_ms"])
        .where("domain", "=", domain)
        .where("expires_at_ms", ">", nowMs)
        .executeTakeFirst();
      return (
        row && { registeredAtMs: row.registered_at_ms ?? undefined, expiresAtMs: row.expires_at_ms }
      );
    },
    save(domain, { registeredAtMs, expiresAtMs }) {
      const answer = { registered_at_ms: registeredAtMs ?? null, expires_at_ms: expiresAtMs };
      return putRow(db, "registrations", { domain }, answer);
    },
  };
}

export const pruneRegistrations = (db: Db, nowMs: number): Promise<number> =>
  pruneRows(db, {
    table: "registrations",
    key: ["domain"],
    column: "expires_at_ms",
    before: nowMs + 1,
  });
