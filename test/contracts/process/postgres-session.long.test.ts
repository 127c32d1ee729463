import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { memoryNotices, TOPICS } from "../../../src/store/notices.ts";
import {
  type DirectSession,
  postgresTeller,
  tellIn,
} from "../../../src/store/postgres-database.ts";
import { inTransaction } from "../../../src/store/transaction.ts";
import { withPostgres } from "../../services/with-postgres.ts";
import { realClock } from "../../time/real-clock.ts";
import { until } from "../../time/until.ts";
import { recordingLog } from "../stores.ts";
import { noticesContract } from "./notices.ts";

noticesContract("memory", () => {
  const here = memoryNotices();
  return Promise.resolve({ here, there: here });
});

withPostgres("the session that hears notices and holds locks", ({ open, again, server }) => {
  const openTwo = async (t: TestContext) => {
    const log = recordingLog();
    const [one, other] = [await open(0), await again(0)];
    const sessions = [one, other].map((sql) => sql.openSession({ clock: realClock, log }));
    const [here, there] = sessions as [DirectSession, DirectSession];
    t.after(async () => {
      await Promise.all(sessions.map((session) => session.close()));
      await Promise.all([one.close(), other.close()]);
    });
    await Promise.all([here.listens, there.listens]);
    return { here, there, log, db: one.db };
  };
  const cutAll = (): Promise<void> =>
    server().run(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'gatepost notices'",
    );

  noticesContract("PostgreSQL", async (t) => {
    const { here, there } = await openTwo(t);
    return { here: here.notices, there: there.notices };
  });

  test("a session that was cut off hears of everything when it listens again", async (t) => {
    const { there, log } = await openTwo(t);
    const heard = new Set<string>();
    for (const topic of TOPICS) there.notices.hear(topic, () => heard.add(topic));
    await cutAll();
    await until(() => heard.size === TOPICS.length, { what: "every topic" });
    assert.ok(log.lines.includes("warn notices.unavailable"));
    assert.ok(log.lines.includes("info notices.available"));
  });

  test("a notice in a transaction is heard when it is committed, and not when it is undone", async (t) => {
    const { there, db } = await openTwo(t);
    const heard: string[] = [];
    for (const topic of ["jobs", "lists"] as const) {
      there.notices.hear(topic, () => heard.push(topic));
    }
    await inTransaction(db, async (tx) => {
      await tellIn(tx, "jobs");
      tx.abandon();
    });
    await inTransaction(db, async (tx) => tellIn(tx, "lists"));
    await until(() => heard.length > 0, { what: "a notice" });
    assert.deepEqual(heard, ["lists"]);
  });

  test("a command's notices are on their way when it ends", async (t) => {
    const { there, db } = await openTwo(t);
    const heard: string[] = [];
    there.notices.hear("accounts", () => heard.push("accounts"));
    const teller = postgresTeller(db);
    teller.tell("accounts");
    await teller.sent();
    await until(() => heard.length > 0, { what: "a notice" });
  });

  test("one of two has a duty until it resigns, and duties are independent", async (t) => {
    const { here, there } = await openTwo(t);
    const ignore = (): void => undefined;
    assert.equal(await here.elections.take("feeds", ignore), true);
    assert.equal(await here.elections.take("feeds", ignore), true, "it still has it");
    assert.equal(await there.elections.take("feeds", ignore), false);
    assert.equal(await there.elections.take("sessions", ignore), true);
    await there.elections.resign("feeds");
    assert.equal(await there.elections.take("feeds", ignore), false, "only its holder resigns it");
    await here.elections.resign("feeds");
    assert.equal(await there.elections.take("feeds", ignore), true);
  });

  test("a session that ends loses its duties, says so, and another gets them", async (t) => {
    const { here, there } = await openTwo(t);
    let lost = 0;
    assert.equal(await here.elections.take("feeds", () => (lost += 1)), true);
    await cutAll();
    await until(() => lost === 1, { what: "the loss" });
    const isTaken = async (): Promise<boolean> =>
      there.elections.take("feeds", () => undefined).catch(() => false);
    await until(isTaken, { what: "another holder" });
    assert.equal(lost, 1);
  });
});
