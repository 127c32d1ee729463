import { strict as assert } from "node:assert";
import { test, type TestContext } from "node:test";
import { newJob, openBulkStores, termsFor } from "../../test/contracts/bulk/bulk-stores.ts";
import { openCutLine } from "../../test/services/cut-line.ts";
import { withPostgres } from "../../test/services/with-postgres.ts";
import { until } from "../../test/time/until.ts";
import { storeDownOf } from "../base/store-down.ts";
import { openPostgres } from "./postgres-database.ts";

withPostgres("what gets no answer from PostgreSQL", ({ server, database }) => {
  /** Stores behind a line that can be cut, and the same database without the line. */
  async function openWorld(t: TestContext) {
    const url = await database();
    const line = await openCutLine(server().port);
    t.after(() => line.close());
    const direct = await openPostgres(url, 0);
    t.after(() => direct.close());
    const far = new URL(url);
    far.port = String(line.port);
    const place = (nowMs: number) => openPostgres(far.href, nowMs);
    return { line, direct, stores: await openBulkStores(t, { place }) };
  }

  for (const [where, text, isWritten] of [
    ["whose commit got no answer", "commit", true],
    ["that was cut before its commit", "insert into", false],
  ] as const) {
    test(`a batch of counts ${where} counts once when it is added again`, async (t) => {
      const { line, stores, direct } = await openWorld(t);
      const add = (units: number) => stores.usage.add([{ owner: "account:a1", day: 7, units }]);
      const inLedger = async (): Promise<number> => {
        const rows = await direct.db.selectFrom("usage_days").selectAll().execute();
        return rows.find(({ day }) => day === 7)?.units ?? 0;
      };
      await add(1);
      for (const units of [10, 200]) {
        line.loseAnswerTo(text);
        const before = await inLedger();
        await assert.rejects(add(units), (fault) => storeDownOf(fault) !== undefined);
        if (isWritten) {
          await until(async () => (await inLedger()) === before + units);
        }
        await add(units + 1);
        assert.equal(await inLedger(), before + units + 1);
      }
      line.loseAnswerTo(text);
      await assert.rejects(add(1_000));
      line.loseAnswerTo(text);
      await assert.rejects(add(1_000));
      await add(1_000);
      await add(5);
      assert.equal(await inLedger(), 1 + 11 + 201 + 1_000 + 5);
    });
  }

  test("a chunk whose claim got no answer is free when its lease is over, renewed or not", async (t) => {
    const { line, stores } = await openWorld(t);
    const { clock } = stores;
    const order = newJob(stores, 1_000);
    assert.equal((await stores.jobs.create(order, termsFor(order))).kind, "accepted");
    const lease = (worker = "w1") => ({ worker, nowMs: clock.nowMs(), leaseMs: 3_000 });
    const claim = (token: string, worker = "w1") => stores.chunks.claim(lease(worker), token);
    line.loseAnswerTo("commit");
    await assert.rejects(claim("lost"), (fault) => storeDownOf(fault) !== undefined);
    assert.equal((await claim("kept"))?.number, 1);
    clock.advance(2_000);
    await stores.chunks.renew({ ...lease(), tokens: ["kept"] }, 0);
    clock.advance(1_000);
    assert.equal((await claim("next", "w2"))?.number, 0);
    assert.equal(await claim("none", "w2"), undefined);
  });
});
