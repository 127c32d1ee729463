import { strict as assert } from "node:assert";
import { test, type TestContext } from "node:test";
import type { Report, Reports } from "../../../src/ports/evidence/reports.ts";
import type { Make } from "../contract.ts";

export interface ReportsWorld {
  readonly reports: Reports;
  readonly account: (id: string) => Promise<string>;
}

const report = (id: string, more: Partial<Report> = {}): Report => ({
  id,
  accountId: "a1",
  subject: "a.example",
  domain: "a.example",
  wrong: "disposable",
  reason: "it's ours",
  createdAtMs: 1_000,
  ...more,
});

/** The contract of every store of reports. `make` returns an empty one. */
export function reportsContract(name: string, make: Make<ReportsWorld>): void {
  const check = (rule: string, run: (reports: Reports) => Promise<void>) =>
    void test(`${name}: ${rule}`, async (t: TestContext) => {
      const { reports, account } = await make(t);
      await account("a1");
      await account("a2");
      await run(reports);
    });

  check("reports are returned complete, oldest first", async (reports) => {
    await reports.add(report("r1", { createdAtMs: 5 }), 0, 9);
    await reports.add(report("r2", { createdAtMs: 4 }), 0, 9);
    assert.deepEqual(await reports.find("r1"), report("r1", { createdAtMs: 5 }));
    assert.equal(await reports.find("r3"), undefined);
    assert.deepEqual(
      (await reports.open(9)).map(({ id }) => id),
      ["r2", "r1"],
    );
    assert.equal((await reports.open(1)).length, 1);
  });

  check("an account's limit counts its own reports since a time", async (reports) => {
    assert.equal(await reports.add(report("r0", { createdAtMs: 9 }), 10, 2), true);
    assert.equal(await reports.add(report("r1", { createdAtMs: 10 }), 10, 2), true);
    assert.equal(await reports.add(report("r2", { createdAtMs: 11 }), 10, 2), true);
    assert.equal(await reports.add(report("r3", { createdAtMs: 12 }), 10, 2), false);
    assert.equal(await reports.find("r3"), undefined);
    assert.equal(await reports.add(report("r4", { accountId: "a2" }), 10, 2), true);
  });

  check("parallel reports get exactly what is left", async (reports) => {
    const ids = Array.from({ length: 30 }, (_, n) => `r${String(n)}`);
    const kept = await Promise.all(ids.map((id) => reports.add(report(id), 0, 20)));
    assert.equal(kept.filter((isKept) => isKept).length, 20);
  });

  check("a report is resolved once and leaves the queue", async (reports) => {
    await reports.add(report("r1"), 0, 9);
    assert.equal(await reports.resolve("r1", "allow"), true);
    assert.equal(await reports.resolve("r1", "deny"), false);
    assert.equal(await reports.resolve("r2", "deny"), false);
    assert.deepEqual(await reports.open(9), []);
    assert.equal((await reports.find("r1"))?.resolution, "allow");
  });

  check("pruning deletes earlier reports", async (reports) => {
    await reports.add(report("r1", { createdAtMs: 9 }), 0, 9);
    await reports.add(report("r2", { createdAtMs: 10 }), 0, 9);
    assert.equal(await reports.prune(10), 1);
    assert.equal(await reports.find("r1"), undefined);
    assert.notEqual(await reports.find("r2"), undefined);
  });
}
