import assert from "node:assert/strict";
import { test } from "node:test";
import { withPostgres } from "../../test/services/with-postgres.ts";
import { manualClock } from "../../test/time/manual-clock.ts";
import { until } from "../../test/time/until.ts";
import { serversTrouble } from "../main/health.ts";
import { goneServers, keepPresence } from "./presence.ts";

withPostgres("a second server that is gone", (postgres) => {
  test("health: a server that was killed is told, one that stopped is not", async (t) => {
    const { db, close } = await postgres.open(0);
    t.after(close);
    const clock = manualClock();
    const failed = (fault: unknown): void => assert.fail(String(fault));
    const ends = ["web-1", "web-2"].map((name) => keepPresence({ db, clock, name, failed }));
    const names = async () =>
      (
        await db
          .selectFrom("installation")
          .select("name")
          .where("name", "like", "process %")
          .execute()
      ).length;
    await until(async () => (await names()) === 2);
    assert.equal(serversTrouble(await goneServers(db)), undefined);
    await db
      .insertInto("installation")
      .values({
        name: "process web-3",
        value: JSON.stringify({ startedMs: 1, seenMs: Date.now() - 90_000 }),
      })
      .execute();
    await db
      .updateTable("installation")
      .set({ value: JSON.stringify({ startedMs: 1, seenMs: Date.now() }) })
      .where("name", "in", ["process web-1", "process web-2"])
      .execute();
    const says = serversTrouble(await goneServers(db))?.says;
    assert.match(says ?? "", /^A server or worker is gone: web-3, last seen (?:89|9\d) s ago\.$/);
    await Promise.all(ends.map((end) => end()));
    assert.equal(await names(), 1);
  });
});
