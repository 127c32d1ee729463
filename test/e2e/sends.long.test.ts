// The replays of public reports about messages, by the real program: on one server and on two, with a kill in the middle.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { test } from "node:test";
import { sql } from "kysely";
import type { SqlDatabase } from "../../src/store/database.ts";
import { openTestStore } from "../process/test-process.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";
import { mailZone, missingServices, openScaledWorld } from "../scaled/scaled-world.ts";
import { startService } from "./service-process.ts";
import { createAccount, startServiceWorld } from "./service-world.ts";

const ZONE = mailZone(["gmail.com", "secretname.example"], 0);
const RATE = { rate_per_minute: 100_000 };

/** What a kill may lose, and how late another server may see it. */
const LATE_MS = 2_500;
const HOUR_MS = 3_600_000;
const AT_ONCE = 10;

const spelled = (at: number): string =>
  `${at % 2 === 0 ? "secret.local" : "secretlocal"}+${String(at)}@gmail.com`;
const person = (at: number): string => `secretlocal${String(at)}@secretname.example`;

/** Servers of one store, of which each question names one. */
interface Servers {
  readonly url: (server: 0 | 1) => string;
  /** Ends the first as a power cut would, and starts it again. While it is away, `meanwhile` may change the store. */
  readonly kill: (meanwhile: (database: SqlDatabase) => Promise<void>) => Promise<void>;
}

async function answerOf(url: string, path: string, key: string, body: Record<string, string>) {
  const headers = { "x-api-key": key };
  const init = { method: "POST", body: new URLSearchParams(body), headers };
  const reply = await fetch(`${url}${path}`, init);
  assert.equal(reply.status, 200);
  return (await reply.json()) as { readonly decision: string; readonly reason: string };
}

type Said = Readonly<Record<string, number>>;

/** Asks a server about this many mailboxes, from the number `from` on. */
function asker({ url }: Servers, key: string, email: (at: number) => string) {
  return async (server: 0 | 1, from: number, count: number): Promise<Said> => {
    const said: Record<string, number> = {};
    let next = from;
    const asking = async (): Promise<void> => {
      while (next < from + count) {
        const asked = { email: email(next++), for: "send" };
        const { decision, reason } = await answerOf(url(server), "/api/decide", key, asked);
        said[`${decision} ${reason}`] = (said[`${decision} ${reason}`] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, asking));
    return said;
  };
}

/** Adds the hours of a fortnight before this one, in which an account sent this often to new mailboxes. */
async function addFortnight(
  { db }: SqlDatabase,
  accountId: string,
  each: (back: number) => number,
): Promise<void> {
  const hours = db.selectFrom("traffic").selectAll().where("kind", "=", "hour");
  const row = await hours.where("account_id", "=", accountId).executeTakeFirstOrThrow();
  const before = Array.from({ length: 336 }, (_, at) => at + 1).filter((back) => each(back) > 0);
  const rows = before.map((back) => {
    const last_ms = row.last_ms - back * HOUR_MS;
    const item = `${String(Math.floor(last_ms / HOUR_MS))}.before`;
    return { ...row, item, first_ms: last_ms, last_ms, count: each(back) };
  });
  await db.insertInto("traffic").values(rows).execute();
}

type Ask = ReturnType<typeof asker>;

interface Replay {
  readonly email: (at: number) => string;
  /** Messages an hour in the fortnight before, which is there after the first part. */
  readonly fortnight?: (back: number) => number;
  /** After each but the last a server is killed. */
  readonly parts: readonly [(ask: Ask) => unknown, (ask: Ask) => unknown, (ask: Ask) => unknown];
}

async function says(asked: Promise<Said>, want: string): Promise<void> {
  assert.deepEqual(Object.keys(await asked), [want]);
  await pause(LATE_MS);
}

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
    fortnight: (back) => (back % 8 === 0 ? 1 : 0),
    parts: [
      (ask) => says(ask(0, 0, 10), "accept ok"),
      async (ask) => {
        await says(ask(1, 10, 20), "accept ok");
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
        await says(ask(0, 30, 235), "challenge wave");
      },
      (ask) => says(ask(1, 265, 235), "challenge wave"),
    ],
  },
  "a quiet month: no wave, nobody held": {
    email: person,
    fortnight: () => 8,
    parts: [
      (ask) => says(ask(0, 0, 8), "accept ok"),
      (ask) => says(ask(1, 0, 8), "accept ok"), // the same people again
      (ask) => says(ask(0, 8, 40), "accept ok"), // up to six times the usual hour
    ],
  },
};

interface ReplayAccount {
  readonly id: string;
  readonly key: string;
}

/** All at once, each by an account of its own. */
async function replayAll(servers: Servers, accounts: readonly ReplayAccount[]): Promise<void> {
  const all = Object.values(REPLAYS).map((replay, at) => {
    const account = accounts[at] ?? assert.fail();
    return { ...replay, id: account.id, ask: asker(servers, account.key, replay.email) };
  });
  for (const part of [0, 1, 2] as const) {
    await Promise.all(all.map(({ parts, ask }) => parts[part](ask)));
    if (part === 2) return;
    await servers.kill(async (database) => {
      for (const { id, fortnight } of part === 0 ? all : [])
        if (fortnight !== undefined) await addFortnight(database, id, fortnight);
    });
  }
}

/** Tables that hold the domain itself: of all accounts together, and what an account reports. */
const WITH_DOMAINS = ["domain_mail", "feedback"];

/** What a report and all messages left behind: hashes of mailboxes, and domains where they are documented. */
async function assertHashed(database: SqlDatabase, folders: readonly string[]): Promise<void> {
  const { db } = database;
  const holding: string[] = [];
  for (const { name } of await db.introspection.getTables()) {
    const { rows } = await sql`select * from ${sql.table(name)}`.execute(db);
    if (JSON.stringify(rows).includes("secretname")) holding.push(name);
  }
  assert.deepEqual(holding.toSorted(), WITH_DOMAINS);
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1")),
  );
  assert.ok(
    files.some((text) => text.includes("secretname")),
    "the files are those of the store",
  );
  for (const text of files) assert.doesNotMatch(text, /secret\.?local|@secretname|@gmail\.com/i);
}

const report = (url: string, key: string): Promise<unknown> =>
  answerOf(url, "/api/feedback", key, { email: person(0), outcome: "bounce" });

test("the replays on one server that is killed, and what its files hold", async () => {
  const accounts: ReplayAccount[] = [];
  const { home, service, close } = await startServiceWorld({
    zone: ZONE,
    tiers: { pro: RATE },
    prepare(made) {
      for (const at of Object.keys(REPLAYS).keys()) {
        const { account_id: id, api_key: key } = createAccount(made, `a${String(at)}@shop.example`);
        accounts.push({ id, key });
      }
    },
  });
  let now = service;
  try {
    const servers: Servers = {
      url: () => now.url,
      async kill(meanwhile) {
        await now.stop("SIGKILL");
        const store = await openTestStore(home.directory);
        await meanwhile(store.sql);
        await store.close();
        now = await startService(home);
      },
    };
    await replayAll(servers, accounts);
    await report(now.url, accounts[0]?.key ?? "");
    await now.stop("SIGTERM");
    const store = await openTestStore(home.directory);
    await assertHashed(store.sql, [home.directory]);
    await store.close();
  } finally {
    await now.stop("SIGKILL");
    await close();
  }
});

test(
  "the replays on two servers that see each other's messages within a second, one of them killed",
  { skip: missingServices().length > 0 },
  async () => {
    const tiers = join(temporaryFolder(), "tiers.json");
    writeFileSync(tiers, JSON.stringify({ pro: RATE }));
    const environment = { GATEPOST_TIERS_FILE: tiers };
    const world = await openScaledWorld({ zone: ZONE, environment });
    try {
      let one = await world.start({ command: "serve" });
      const two = await world.start({ command: "serve" });
      let log = "";
      const servers: Servers = {
        url: (server) => (server === 0 ? one : two).url,
        async kill(meanwhile) {
          await one.stop("SIGKILL");
          log += one.text();
          await meanwhile(world.sql);
          one = await world.start({ command: "serve" });
        },
      };
      const accounts: ReplayAccount[] = [];
      for (const _ of Object.keys(REPLAYS)) {
        const { accountId: id, apiKey: key } = await world.account("pro");
        accounts.push({ id, key });
      }
      await replayAll(servers, accounts);
      await report(two.url, accounts[0]?.key ?? "");
      const waves = await world.sql.db.selectFrom("waves").selectAll().execute();
      assert.equal(waves.length, 2, "noted once by two servers: the form's and the launch's");
      for (const server of [one, two]) await server.stop("SIGTERM");
      log += one.text() + two.text();
      assert.equal(log.split("gate.wave").length - 1, 2, "one log event each");
      assert.doesNotMatch(log, /secret\.?local|secretname/i);
      await sql`checkpoint`.execute(world.sql.db);
      const said = await sql<{ data_directory: string }>`show data_directory`.execute(world.sql.db);
      await assertHashed(world.sql, [said.rows[0]?.data_directory ?? ""]);
    } finally {
      await world.close();
    }
  },
);
