import type { Kysely } from "kysely";
import type { SigningKey, SigningKeys } from "../../../ports/policy/signing-keys.ts";
import type { Database } from "../engine/schema.ts";
import { lockName } from "../engine/row-locks.ts";
import { inTransaction } from "../engine/transaction.ts";
import type { SigningKeyRow } from "../tables/policy.ts";

const signingKey = (row: SigningKeyRow): SigningKey => ({
  kid: row.kid,
  x: row.x,
  sealed: row.sealed,
  createdAtMs: row.created_at_ms,
  ...(row.retired_at_ms !== null && { retiredAtMs: row.retired_at_ms }),
});

const newRow = ({ kid, x, sealed, createdAtMs }: SigningKey): SigningKeyRow => ({
  kid,
  x,
  sealed,
  created_at_ms: createdAtMs,
  retired_at_ms: null,
});

export function sqlSigningKeys(db: Kysely<Database>): SigningKeys {
  return {
    agree: (key) =>
      inTransaction(db, async (tx) => {
        await lockName(tx, "signing_keys");
        const known = await tx.sql
          .selectFrom("signing_keys")
          .selectAll()
          .where("retired_at_ms", "is", null)
          .executeTakeFirst();
        if (known !== undefined) return signingKey(known);
        await tx.sql.insertInto("signing_keys").values(newRow(key)).execute();
        return key;
      }),
    rotate: (key) =>
      inTransaction(db, async (tx) => {
        await lockName(tx, "signing_keys");
        await tx.sql
          .updateTable("signing_keys")
          .set({ retired_at_ms: key.createdAtMs, sealed: "" })
          .where("retired_at_ms", "is", null)
          .execute();
        await tx.sql.insertInto("signing_keys").values(newRow(key)).execute();
      }),
    async list(retiredSinceMs) {
      const rows = await db
        .selectFrom("signing_keys")
        .selectAll()
        .where((build) =>
          build.or([
            build("retired_at_ms", "is", null),
            build("retired_at_ms", ">=", retiredSinceMs),
          ]),
        )
        .orderBy("created_at_ms", "desc")
        .execute();
      return rows.map(signingKey);
    },
    async prune(retiredBeforeMs) {
      const { numDeletedRows } = await db
        .deleteFrom("signing_keys")
        .where("retired_at_ms", "<", retiredBeforeMs)
        .executeTakeFirst();
      return Number(numDeletedRows);
    },
  };
}
