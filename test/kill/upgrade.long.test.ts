import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { gatepost } from "../e2e/service-process.ts";
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
    await client(apiKey).ended(url, session);
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
  ["postgresql"],
  missingServices(),
  "a list that version 0.1.0 left half done is finished on PostgreSQL, charged once",
  () => finish("postgresql"),
);

/** A checkout of an older version, built: KILL_OLDER=/path by hand. */
const OLDER = process.env["KILL_OLDER"];

/** Requests of an account that must all be answered with 200. */
function client(key: string) {
  const ask = async (url: string, body?: unknown): Promise<string> => {
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const reply = await fetch(url, { headers, ...sent });
    const text = await reply.text();
    assert.equal(reply.status, 200, text);
    return text;
  };
  const names = Array.from({ length: ENTRIES }, (_, index) => `n${String(index)}.example`);
  return {
    ask,
    queue: async (api: string): Promise<string> => {
      const text = await ask(`${api}/api/email`, { bulk: true, email: names });
      return (JSON.parse(text) as { session: string }).session;
    },
    ended: async (api: string, session: string): Promise<void> => {
      const view = async (): Promise<string | undefined> => {
        const body = await ask(`${api}/api/view/${session}`);
        return body.startsWith("{") ? undefined : body;
      };
      const list = await until(view, { what: "the end of the list", everyMs: 100 });
      assert.equal(list.trim().split("\n").length, ENTRIES);
    },
  };
}

async function roll(program: string): Promise<void> {
  const ground = await openGround("postgresql");
  try {
    const older = [ground.place("serve", program), ground.place("worker", program)];
    await revive(older);
    const words = ["account", "create", "ada@owner.example", "--tier", "pro", "--json"];
    const made = gatepost({ ...ground.home, program }, words);
    const { ask, queue, ended } = client((JSON.parse(made.out) as { api_key: string }).api_key);
    const before = older[0]?.running?.url ?? "";
    const first = await queue(before);
    let singles = 0;
    let isOver = false;
    const checking = (async () => {
      for (; !isOver; singles += 1) await ask(`${before}/api/email/jo@n1.example`);
    })();
    await revive(ground.places);
    const api = ground.places[0]?.running?.url ?? "";
    await ended(api, first);
    await ended(api, await queue(before));
    const last = await queue(api);
    isOver = true;
    await checking;
    for (const place of older) assert.equal(await place.stop("SIGTERM"), 0);
    await ended(api, last);
    const units = 3 * ENTRIES + singles;
    const isCharged = (): Promise<boolean> =>
      ground.look(async ({ db }) => {
        const days = await db.selectFrom("usage_days").select("units").execute();
        return days.reduce((sum, day) => sum + Number(day.units), 0) === units;
      });
    await until(isCharged, { what: `${String(units)} units`, everyMs: 200 });
    await assert.rejects(revive(older.slice(0, 1)), /run the newer version of gatepost/);
  } finally {
    await ground.close();
  }
}

if (OLDER !== undefined) {
  test("servers and workers of an older version serve on while newer ones migrate and take over", () =>
    roll(join(OLDER, "bin/gatepost.mjs")));
}
