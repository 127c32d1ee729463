import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { openEmbedded } from "./database.ts";
import { inSlice } from "./transaction.ts";

for (const before of [1, 2]) {
  test(`statistics do not wait for the disk, and what comes after them does as before (${String(before)})`, async (t) => {
    const { db, close } = await openEmbedded(":memory:", 0);
    t.after(close);
    const waits = async (on = db): Promise<number | undefined> => {
      const { rows } = await sql<{ synchronous: number }>`pragma synchronous`.execute(on);
      return rows[0]?.synchronous;
    };
    await sql`pragma synchronous = ${sql.lit(before)}`.execute(db);
    assert.equal(await inSlice(db, (tx) => waits(tx.sql)), 1);
    assert.equal(await waits(), before);
    await assert.rejects(
      inSlice(db, () => Promise.reject(new Error("no"))),
      /no/,
    );
    assert.equal(await waits(), before);
  });
}
