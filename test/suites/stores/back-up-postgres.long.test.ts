import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { Accounts } from "../../../src/accounts/accounts-store.ts";
import { manualClock } from "../../time/manual-clock.ts";
import { Credits } from "../../../src/accounts/credits.ts";
import type { SqlDatabase } from "../../../src/store/database.ts";
import { endRestored } from "../../../src/bulk/jobs/housekeeping.ts";
import { CHUNK_ENTRIES } from "../../../src/core/batch/batch-chunk.ts";
import {
  allValid,
  type BulkStores,
  claim,
  newJob,
  openBulkStores,
  termsFor,
} from "../../contracts/bulk/bulk-stores.ts";
import { postgresPrograms } from "../../services/postgres.ts";
import { openPatiently, withPostgres } from "../../services/with-postgres.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";

const UNITS = 600;
const GRANTED = 1_000;
const run = promisify(execFile);

interface Written {
  readonly stores: BulkStores;
  readonly session: string;
}

/** A batch paid by credits with one of its two chunks checked. */
async function halfDone(t: TestContext, place: () => Promise<SqlDatabase>): Promise<Written> {
  const stores = await openBulkStores(t, { place });
  const { clock, credits, jobs, chunks } = stores;
  const nowMs = clock.nowMs();
  await credits.grant("a1", GRANTED, "start");
  const order = newJob(stores, UNITS);
  const made = await jobs.create(order, termsFor(order, { purses: "credits" }));
  assert.equal(made.kind, "accepted");
  await chunks.complete(await claim(stores), allValid(CHUNK_ENTRIES), { nowMs, conclusive: true });
  return { stores, session: order.session };
}

async function balanceIn({ db }: SqlDatabase): Promise<number> {
  const account = await new Accounts(db).find("a1");
  const entries = await new Credits(db, { clock: manualClock() }).entries("a1", 100);
  const sum = entries.reduce((total, { amount }) => total + amount, 0);
  assert.equal(account?.creditBalance, sum);
  return sum;
}

withPostgres("back-up and restore of PostgreSQL", ({ server, database }) => {
  test("pg_dump during use and pg_restore give a consistent database that can be settled", async (t) => {
    const programs = postgresPrograms() ?? "";
    const folder = temporaryFolder();
    const dump = join(folder, "copy.dump");
    const url = await database();
    const { stores, session } = await halfDone(t, () => openPatiently(url, 0));
    const nowMs = stores.clock.nowMs();

    await run(join(programs, "pg_dump"), ["--format=custom", `--file=${dump}`, url]);
    const rest = UNITS - CHUNK_ENTRIES;
    await stores.chunks.complete(await claim(stores), allValid(rest), { nowMs, conclusive: true });
    assert.equal((await stores.sessions.find(session, nowMs))?.state, "completed");

    const target = await server().createDatabase();
    const words = ["--no-owner", "--exit-on-error", `--dbname=${target}`, dump];
    await run(join(programs, "pg_restore"), words);
    const restored = await openPatiently(target, nowMs);
    t.after(() => restored.close());
    assert.equal(await balanceIn(restored), GRANTED - UNITS);
    const ended = await endRestored(restored.db, nowMs);
    assert.deepEqual(ended, { jobs: 1, webhooks: 0, signIns: 0 });
    assert.equal(await balanceIn(restored), GRANTED - CHUNK_ENTRIES);
    assert.equal(await balanceIn(stores.sql), GRANTED - UNITS, "the original is unchanged");
  });
});
