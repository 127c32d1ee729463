import assert from "node:assert/strict";
import { test } from "node:test";
import { testWith } from "../process/require-tool.ts";
import { missingServices } from "../scaled/scaled-world.ts";
import { until } from "../time/until.ts";
import { type Ground, openGround } from "./ground.ts";
import { leaveOlder } from "./older.ts";
import { revive } from "./rounds.ts";

const ENTRIES = 700;

async function finish(kind: Ground["kind"]): Promise<void> {
  const ground = await openGround(kind);
  try {
    const { apiKey, session } = await leaveOlder(ground);
    await revive(ground.places);
    const url = ground.places[0]?.running?.url ?? "";
    const view = async (): Promise<string | undefined> => {
      const headers = { "x-api-key": apiKey };
      const reply = await fetch(`${url}/api/view/${session}`, { headers });
      const body = await reply.text();
      assert.equal(reply.status, 200, body);
      return body.startsWith("{") ? undefined : body;
    };
    const list = await until(view, { what: "the end of the list", everyMs: 100 });
    assert.equal(list.trim().split("\n").length, ENTRIES);
    await ground.look(async ({ db }) => {
      const days = await db.selectFrom("usage_days").select("units").execute();
      assert.deepEqual(
        days.map(({ units }) => Number(units)),
        [ENTRIES],
      );
      const running = db.selectFrom("jobs").select("session").where("is_running", "=", 1);
      assert.deepEqual(await running.execute(), []);
    });
    for (const place of ground.places) assert.equal(await place.stop("SIGTERM"), 0);
  } finally {
    await ground.close();
  }
}

test("a list that version 0.1.0 left half done is finished on SQLite, charged once", () =>
  finish("sqlite"));

testWith(
  ["postgresql", "redis-server"],
  missingServices(),
  "a list that version 0.1.0 left half done is finished on PostgreSQL, charged once",
  () => finish("postgresql"),
);
