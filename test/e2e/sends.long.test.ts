// The replays of public reports about messages, by the real program, and that nothing holds what they were about: on one
// server and on two, with a kill in the middle.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { test } from "node:test";
import { sql } from "kysely";
import { SYSTEMS } from "../../src/gate/hook-systems.ts";
import type { SqlDatabase } from "../../src/store/database.ts";
import { RECORDED } from "../policy/recorded-payloads.ts";
import { openTestStore } from "../process/test-process.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";
import { mailZone, missingServices, SECRET_KEY } from "../scaled/scaled-world.ts";
import { postgresPrograms } from "../services/postgres.ts";
import { until } from "../time/until.ts";
import {
  answerOf,
  asker,
  HOUR_MS,
  LATE_MS,
  type Replay,
  type Replayed,
  replayOnOne,
  replayOnTwo,
  says,
  type Servers,
  together,
} from "./replays.ts";
import { gatepost, type Home } from "./service-process.ts";

const ZONE = mailZone(["gmail.com", "outlook.com", "secretname.example"], 0);
const spelled = (at: number): string =>
  `${at % 2 === 0 ? "secret.local" : "secretlocal"}+${String(at)}@gmail.com`;
const person = (at: number): string => `secretlocal${String(at)}@secretname.example`;

/** Adds the hours of a fortnight before this one, in which an account sent this often to new mailboxes. */
const fortnight =
  (each: (back: number) => number): NonNullable<Replay["meanwhile"]> =>
  async (db, accountId, part) => {
    if (part !== 0) return;
    const hours = db.selectFrom("traffic").selectAll().where("kind", "=", "hour");
    const row = await hours.where("account_id", "=", accountId).executeTakeFirstOrThrow();
    const before = Array.from({ length: 336 }, (_, at) => at + 1).filter((back) => each(back) > 0);
    const rows = before.map((back) => {
      const last_ms = row.last_ms - back * HOUR_MS;
      const item = `${String(Math.floor(last_ms / HOUR_MS))}.before`;
      return { ...row, item, first_ms: last_ms, last_ms, count: each(back) };
    });
    await db.insertInto("traffic").values(rows).execute();
  };

const named = (at: number): string => `secretlocal${String(1_000 + at)}@gmail.com`;
const ADDRESS = "203.0.113.77";
const INVITER = "secretinviter";

const REPLAYS: Readonly<Record<string, Replay>> = {
  "a bot asks for 100 codes for one address: three go out": {
    email: spelled,
    parts: [
      (ask) => says(ask(0, 0, 1), "accept ok"),
      (ask) => says(ask(1, 1, 1), "accept ok"),
      async (ask) => {
        await says(ask(1, 2, 1), "accept ok");
        await says(ask(0, 3, 50), "reject too_often");
        await says(ask(1, 53, 47), "reject too_often");
      },
    ],
  },
  "a form against 200 strangers after a quiet fortnight: challenge from the 31st on": {
    email: person,
    meanwhile: fortnight((back) => (back % 8 === 0 ? 1 : 0)),
    parts: [
      (ask) => says(ask(0, 0, 10), "accept ok"),
      async (ask) => {
        await says(ask(1, 10, 20), "accept ok");
        await pause(LATE_MS);
        await says(ask(0, 30, 70), "challenge wave");
      },
      async (ask) => {
        await says(ask(0, 100, 50), "challenge wave");
        await says(ask(1, 150, 50), "challenge wave");
        await says(ask(1, 0, 1), "accept ok"); // known before
      },
    ],
  },
  "a launch of 500 real people: challenged, none refused": {
    email: person,
    parts: [
      (ask) => says(ask(0, 0, 25), "accept ok"),
      async (ask) => {
        await says(ask(1, 25, 5), "accept ok");
        await pause(LATE_MS);
        await says(ask(0, 30, 235), "challenge wave");
      },
      (ask) => says(ask(1, 265, 235), "challenge wave"),
    ],
  },
  "600 questions for one victim at two servers at once: three go out": {
    email: spelled,
    parts: [
      async (ask) => {
        const said = await together([ask(0, 0, 300), ask(1, 300, 300)]);
        assert.deepEqual(said, { "accept ok": 3, "reject too_often": 597 });
      },
      (ask) => says(ask(1, 600, 20), "reject too_often"),
      (ask) => says(ask(0, 620, 20), "reject too_often"),
    ],
  },
  "one address: review from the 21st sign-up in ten minutes on": {
    email: named,
    more: () => ({ count_by: JSON.stringify({ ip: ADDRESS }) }),
    parts: [
      (ask) => says(ask(0, 0, 10), "accept ok"),
      (ask) => says(ask(1, 10, 10), "accept ok"),
      async (ask) => {
        await says(ask(0, 20, 10), "review many");
        await says(ask(1, 30, 10), "review many");
      },
    ],
  },
  "an inviter with 60 strangers: 20 go out in ten minutes": {
    email: named,
    more: () => ({ for: "invite", count_by: JSON.stringify({ inviter: INVITER }) }),
    parts: [
      (ask) => says(ask(0, 0, 10), "accept ok"),
      (ask) => says(ask(1, 10, 10), "accept ok"),
      async (ask) => {
        await says(ask(0, 20, 20), "reject many");
        await says(ask(1, 40, 20), "reject many");
      },
    ],
  },
  "a quiet month: no wave, nobody held": {
    email: person,
    meanwhile: fortnight(() => 8),
    parts: [
      (ask) => says(ask(0, 0, 8), "accept ok"),
      (ask) => says(ask(1, 0, 8), "accept ok"), // the same people again
      (ask) => says(ask(0, 8, 40), "accept ok"), // up to six times the usual hour
    ],
  },
};

/** Comes to a page. Where servers share one store they count its rate there. */
const VISITOR = "198.51.100.78";

/** Tables that hold the domain itself: of all accounts together, and what an account reports. */
const WITH_DOMAINS = ["domain_mail", "feedback"];

/** What a report and all messages left behind: hashes of mailboxes, and domains where they are documented. */
async function assertHashed(database: SqlDatabase, folders: readonly string[]): Promise<void> {
  const { db } = database;
  const holding: string[] = [];
  for (const { name } of await db.introspection.getTables()) {
    const { rows } = await sql`select * from ${sql.table(name)}`.execute(db);
    const text = JSON.stringify(rows);
    if (text.includes("secretname")) holding.push(name);
    for (const value of [VISITOR, INVITER, ADDRESS]) assert.ok(!text.includes(value), name);
  }
  assert.deepEqual(holding.toSorted(), WITH_DOMAINS);
  for (const folder of folders) {
    const texts = assertNoneInClear(folder);
    const isStore = texts.some((text) => text.includes("secretname"));
    assert.ok(isStore, `the files of ${folder} are those of the store`);
  }
}

/** An address, or a value of `count_by`. */
const IN_CLEAR = /secret\.?local|@secretname|@gmail\.com|secretinviter|203\.0\.113\.77/i;

/** What all files of the folder hold; the fault says which of them has what. */
function assertNoneInClear(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => {
      const text = readFileSync(join(parentPath, name), "latin1");
      assert.equal(IN_CLEAR.exec(text)?.[0], undefined, `${parentPath}/${name}`);
      return text;
    });
}

function assertLogHashed(log: string): void {
  assert.doesNotMatch(log, IN_CLEAR);
  assert.ok(!log.includes(VISITOR));
}

async function assertMetricsHashed(url: string): Promise<void> {
  const reply = await fetch(`${url}/metrics`);
  assert.equal(reply.status, 200);
  assert.doesNotMatch(await reply.text(), IN_CLEAR);
}

/** While PostgreSQL serves, but nothing of the traffic within the deadline, no message goes out; then three do. */
async function assertLateWaits(servers: Servers, { db }: SqlDatabase, key: string): Promise<void> {
  const more = () => ({ for: "send", deadline_ms: "400" });
  const ask = asker(servers, key, { email: spelled, more });
  const asked = await db.transaction().execute(async (holder) => {
    await sql`lock table traffic in access exclusive mode`.execute(holder);
    return await together([ask(0, 0, 20), ask(1, 20, 20)]);
  });
  assert.deepEqual(asked, { "reject too_often": 40 });
  await pause(LATE_MS);
  const patient = asker(servers, key, { email: spelled });
  const then = await together([patient(0, 40, 20), patient(1, 60, 20), patient(0, 80, 1)]);
  const { "accept ok": sent = 0, "reject too_often": refused = 0 } = then;
  assert.equal(sent + refused, 41, JSON.stringify(then));
  // A place that is taken by an answer that a busy machine gives too late is nobody's.
  assert.ok(sent >= 1 && sent <= 3, JSON.stringify(then));
}

interface Marked extends Replayed {
  readonly home: Home;
}

/** A page, a hook and a report name the same people and places as the replays did; `home` is where commands run. */
async function useOtherDoors({ home, url, accounts: [account] }: Marked): Promise<void> {
  const { id, key } = account ?? assert.fail();
  await answerOf(url, "/api/feedback", key, { email: person(0), outcome: "bounce" });
  const made = (...words: readonly string[]) => {
    const { code, out, err } = gatepost(home, [...words, "--json"]);
    assert.equal(code, 0, err);
    return JSON.parse(out) as Readonly<Record<string, string>>;
  };
  const origin = "https://shop.example";
  const page = made("key", "create", id, "--publishable", "--origin", origin);
  const hook = made("hook", "create", id, "supabase");
  const post = async (path: string, body: string, headers: Readonly<Record<string, string>>) => {
    const json = { "content-type": "application/json", ...headers };
    // Where a busy machine lets a hook's time pass, the person is let in with 204.
    const reply = await until(async () => {
      const answer = await fetch(`${url}${path}`, { method: "POST", body, headers: json });
      return answer.status === 204 ? undefined : answer;
    });
    assert.equal(reply.status, 200);
    return await reply.text();
  };
  for (const at of Array.from({ length: 21 }).keys()) {
    const asked = JSON.stringify({ email: named(500 + at) });
    const from = { origin, "x-api-key": page["api_key"] ?? "", "x-forwarded-for": VISITOR };
    const said = await post("/api/decide", asked, from);
    assert.match(said, at < 20 ? /"accept"/ : /"review"/, "counted by the visitor's address");
    const payload = RECORDED.supabase.replace("SUB", named(600 + at)).replace("127.0.0.1", ADDRESS);
    const secret = hook["secret"] ?? "";
    const signature = SYSTEMS.supabase.sign?.(payload, secret, Date.now());
    await post(`/hooks/${hook["id"] ?? ""}`, payload, signature ?? {});
  }
  await pause(LATE_MS);
}

const BEHIND_PROXY = { GATEPOST_TRUST_PROXY: "127.0.0.1" };

test("the replays on one server that is killed, and what its files and its back-up hold", async () => {
  const atKill: Parameters<typeof replayOnOne>[3] = ({ home, service }) => {
    assertNoneInClear(home.directory);
    assert.doesNotMatch(service.log() + service.said(), IN_CLEAR);
  };
  const plan = { zone: ZONE, settings: BEHIND_PROXY };
  await replayOnOne(
    REPLAYS,
    plan,
    async (world) => {
      const { home, service, url } = world;
      await useOtherDoors(world);
      await assertMetricsHashed(url);
      const copies = temporaryFolder();
      const copied = gatepost(home, ["backup", join(copies, "copy.db")]);
      assert.equal(copied.code, 0, copied.err);
      await service.stop("SIGTERM");
      assertLogHashed(service.log() + service.said());
      const store = await openTestStore(home.directory);
      await assertHashed(store.sql, [home.directory, copies]);
      await store.close();
    },
    atKill,
  );
});

test(
  "the replays on two servers that see each other's messages within a second, and what files and dump hold",
  { skip: missingServices().length > 0 },
  async () => {
    const plan = { zone: ZONE, settings: BEHIND_PROXY };
    await replayOnTwo(REPLAYS, plan, async ({ world, servers, url, accounts, stop }) => {
      await assertLateWaits(servers, world.sql, (await world.account("pro")).apiKey);
      const { databaseUrl } = world.urls;
      const settings = {
        DATABASE_URL: databaseUrl,
        GATEPOST_SECRET_KEY: SECRET_KEY.toString("base64"),
      };
      const home = { directory: "", settings, remove: () => undefined };
      await useOtherDoors({ home, url, accounts });
      const waves = await world.sql.db.selectFrom("waves").selectAll().execute();
      assert.equal(waves.length, 2, "noted once by two servers: the form's and the launch's");
      await assertMetricsHashed(url);
      const log = await stop();
      assert.equal(log.split("gate.wave").length - 1, 2, "one log event each");
      assert.doesNotMatch(log, /secretname/i);
      assertLogHashed(log);
      const copies = temporaryFolder();
      const words = [`--file=${join(copies, "copy.sql")}`, databaseUrl];
      execFileSync(join(postgresPrograms() ?? "", "pg_dump"), words);
      await sql`checkpoint`.execute(world.sql.db);
      const said = await sql<{ data_directory: string }>`show data_directory`.execute(world.sql.db);
      await assertHashed(world.sql, [said.rows[0]?.data_directory ?? "", copies]);
    });
  },
);
