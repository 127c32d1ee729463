import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { openEmbedded } from "../../src/adapters/sql/engine/database.ts";
import {
  type BulkProcess,
  count,
  crashDirectory,
  type Death,
  dieAndGoOn,
  lastWord,
  startBulkProcess,
  unfaulted,
} from "../bulk/bulk-crash.ts";
import { domains } from "../bulk/bulk-world.ts";
import { until } from "../time/until.ts";

/** Stages after which leased chunks become free when their leases end. */
const deaths: readonly Death[] = [
  { name: "with its first chunk claimed", stage: "claimed", times: 1, isThere: true, events: 1 },
  { name: "in the middle of a chunk", stage: "mid_chunk", times: 2, isThere: true, events: 1 },
  { name: "before a result is stored", stage: "before_result", times: 2, isThere: true, events: 1 },
  {
    name: "with a result counted but not committed",
    stage: "result_counted",
    times: 2,
    isThere: true,
    events: 1,
  },
  { name: "after a result is stored", stage: "after_result", times: 1, isThere: true, events: 1 },
  {
    name: "with the last result counted but not committed",
    stage: "result_counted",
    times: 3,
    isThere: true,
    events: 1,
  },
];

test("a worker killed with leased chunks loses nothing", async (t) => {
  const want = await unfaulted(t);
  await Promise.all(
    deaths.map((death) => t.test(`killed ${death.name}`, (t) => dieAndGoOn(t, death, want))),
  );
});

test("a job finishes although its worker is killed again and again", async (t) => {
  const dataDir = await crashDirectory(t);
  const text = domains(1_200);
  for (const stage of ["claimed", "mid_chunk", "before_result", "result_counted"]) {
    const dying = startBulkProcess(t, { dataDir, text, dieAt: { stage, times: 1 } });
    assert.equal(await dying.ended(), "SIGKILL");
  }
  const last = startBulkProcess(t, { dataDir, text });
  assert.equal(await last.ended(), null);
  const { state, units } = lastWord(last);
  assert.deepEqual([state, units], ["completed", 1_200]);
});

/** Suspends a process between two transactions, because a suspended process with SQLite's write lock blocks all others. */
async function stopWithoutLock({ child }: BulkProcess, dataDir: string): Promise<void> {
  const { db, close } = await openEmbedded(dataDir, Date.now());
  await sql`pragma busy_timeout = 0`.execute(db);
  const isFree = async (): Promise<boolean> => {
    child.kill("SIGSTOP");
    try {
      await sql`begin immediate`.execute(db);
      await sql`rollback`.execute(db);
      return true;
    } catch {
      child.kill("SIGCONT");
      return false;
    }
  };
  await until(isFree, { what: "a moment without a transaction", everyMs: 20 });
  await close();
}

test("a worker suspended for longer than its lease writes nothing", async (t) => {
  const dataDir = await crashDirectory(t);
  const stopped = startBulkProcess(t, { dataDir, text: domains(1_200), waits: true });
  await until(() => count(stopped.lines, "idle") > 0, { what: "a worker that holds every chunk" });
  await stopWithoutLock(stopped, dataDir);
  const other = startBulkProcess(t, { dataDir });
  assert.equal(await other.ended(), null);
  assert.deepEqual([lastWord(other).state, lastWord(other).units], ["completed", 1_200]);
  const before = stopped.lines.length;
  stopped.child.kill("SIGCONT");
  stopped.child.stdin?.end("check");
  assert.equal(await stopped.ended(), null);
  const late = stopped.lines.slice(before).filter((line) => line.kind === "stored");
  assert.ok(late.length > 0);
  assert.ok(late.every((line) => line.outcome === "late"));
  assert.deepEqual(lastWord(stopped).results, lastWord(other).results);
  assert.equal(count(stopped.lines, "event") + count(other.lines, "event"), 1);
});
