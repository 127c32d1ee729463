// The replays of public reports about messages and crowds, by the real program: on one server and on two, with a kill in the middle.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { test } from "node:test";
import { sql } from "kysely";
import type { SqlDatabase } from "../../src/store/database.ts";
import { honestPeople } from "../policy/crowd-names.ts";
import { openTestStore } from "../process/test-process.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";
import { mailZone, missingServices, openScaledWorld } from "../scaled/scaled-world.ts";
import { startService } from "./service-process.ts";
import { createAccount, startServiceWorld } from "./service-world.ts";

const ZONE = mailZone(["gmail.com", "outlook.com", "secretname.example"], 0);
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
function asker(
  { url }: Servers,
  key: string,
  { email, more = { for: "send" } }: Pick<Replay, "email" | "more">,
) {
  return async (server: 0 | 1, from: number, count: number): Promise<Said> => {
    const said: Record<string, number> = {};
    let next = from;
    const asking = async (): Promise<void> => {
      while (next < from + count) {
        const asked = { email: email(next++), deadline_ms: "5000", ...more };
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
  /** What is asked besides; absent: whether a message may be sent. */
  readonly more?: Readonly<Record<string, string>>;
  /** Messages an hour in the fortnight before, which is there after the first part. */
  readonly fortnight?: (back: number) => number;
  /** After each but the last a server is killed. */
  readonly parts: readonly [(ask: Ask) => unknown, (ask: Ask) => unknown, (ask: Ask) => unknown];
}

async function says(asked: Promise<Said>, want: string): Promise<void> {
  assert.deepEqual(Object.keys(await asked), [want]);
}

/** Two servers at once. */
async function together(asked: readonly Promise<Said>[]): Promise<Said> {
  const sum: Record<string, number> = {};
  for (const said of await Promise.all(asked))
    for (const [what, count] of Object.entries(said)) sum[what] = (sum[what] ?? 0) + count;
  return sum;
}

const PEOPLE = honestPeople(400, 5);

/** All but one in 200 of a part. */
async function mostly(asked: Promise<Said>): Promise<void> {
  const { "accept ok": accepted = 0, "review burst": reviewed = 0, ...others } = await asked;
  assert.deepEqual(others, {});
  assert.ok(reviewed <= (accepted + reviewed) / 200, String(reviewed));
}

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
    fortnight: (back) => (back % 8 === 0 ? 1 : 0),
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
    more: { count_by: JSON.stringify({ ip: ADDRESS }) },
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
    more: { for: "invite", count_by: JSON.stringify({ inviter: INVITER }) },
    parts: [
      (ask) => says(ask(0, 0, 10), "accept ok"),
      (ask) => says(ask(1, 10, 10), "accept ok"),
      async (ask) => {
        await says(ask(0, 20, 20), "reject many");
        await says(ask(1, 40, 20), "reject many");
      },
    ],
  },
  "60 names made alike at one provider: review from the 31st on": {
    email: named,
    more: {},
    parts: [
      (ask) => says(ask(0, 0, 14), "accept ok"),
      (ask) => says(ask(1, 14, 15), "accept ok"),
      async (ask) => {
        await says(ask(0, 29, 11), "review burst");
        await says(ask(1, 40, 20), "review burst");
      },
    ],
  },
  "an honest launch of 400: none refused, at most two reviewed": {
    email: (at) => PEOPLE[at] ?? assert.fail(),
    more: {},
    parts: [
      (ask) => mostly(ask(0, 0, 130)),
      (ask) => mostly(ask(1, 130, 130)),
      (ask) => mostly(together([ask(0, 260, 70), ask(1, 330, 70)])),
    ],
  },
  "a farm at one young domain, of 40: review from the fifth on": {
    email: (at) => `farm${String(at)}.x@secretname.example`,
    more: {},
    parts: [
      (ask) => says(ask(0, 0, 4), "accept ok"),
      (ask) => says(ask(1, 4, 16), "review burst"),
      (ask) => says(ask(0, 20, 20), "review burst"),
    ],
  },
  "40 spellings of one mailbox: review from the fourth on": {
    email: spelled,
    more: {},
    parts: [
      (ask) => says(ask(0, 0, 3), "accept ok"),
      (ask) => says(ask(1, 3, 17), "review repeated_mailbox"),
      (ask) => says(ask(0, 20, 20), "review repeated_mailbox"),
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

/** One after the other, each by an account of its own: what a server cannot read in time it does not count. */
async function replayAll(servers: Servers, accounts: readonly ReplayAccount[]): Promise<void> {
  const all = Object.values(REPLAYS).map((replay, at) => {
    const account = accounts[at] ?? assert.fail();
    return { ...replay, id: account.id, ask: asker(servers, account.key, replay) };
  });
  for (const part of [0, 1, 2] as const) {
    for (const { parts, ask } of all) await parts[part](ask);
    if (part === 2) return;
    await pause(LATE_MS);
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
    const text = JSON.stringify(rows);
    if (text.includes("secretname")) holding.push(name);
    assert.ok(!text.includes(INVITER) && !text.includes(ADDRESS), name);
  }
  assert.deepEqual(holding.toSorted(), WITH_DOMAINS);
  const texts = folders.flatMap(assertNoneInClear);
  assert.ok(
    texts.some((text) => text.includes("secretname")),
    "the files are those of the store",
  );
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

async function assertMetricsHashed(url: string): Promise<void> {
  const reply = await fetch(`${url}/metrics`);
  assert.equal(reply.status, 200);
  assert.doesNotMatch(await reply.text(), IN_CLEAR);
}

/** While PostgreSQL serves, but nothing of the traffic within the deadline, no message goes out; then three do. */
async function assertLateWaits(servers: Servers, { db }: SqlDatabase, key: string): Promise<void> {
  const more = { for: "send", deadline_ms: "400" };
  const ask = asker(servers, key, { email: spelled, more });
  const asked = await db.transaction().execute(async (holder) => {
    await sql`lock table traffic in access exclusive mode`.execute(holder);
    return await together([ask(0, 0, 20), ask(1, 20, 20)]);
  });
  assert.deepEqual(asked, { "reject too_often": 40 });
  await pause(LATE_MS);
  const then = await together([ask(0, 40, 20), ask(1, 60, 20), ask(0, 80, 1)]);
  assert.deepEqual(then, { "accept ok": 3, "reject too_often": 38 });
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
        assertNoneInClear(home.directory);
        assert.doesNotMatch(now.log() + now.said(), IN_CLEAR);
        const store = await openTestStore(home.directory);
        await meanwhile(store.sql);
        await store.close();
        now = await startService(home);
      },
    };
    await replayAll(servers, accounts);
    await report(now.url, accounts[0]?.key ?? "");
    await assertMetricsHashed(now.url);
    await now.stop("SIGTERM");
    assert.doesNotMatch(now.log() + now.said(), IN_CLEAR);
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
      await assertLateWaits(servers, world.sql, (await world.account("pro")).apiKey);
      await report(two.url, accounts[0]?.key ?? "");
      const waves = await world.sql.db.selectFrom("waves").selectAll().execute();
      assert.equal(waves.length, 2, "noted once by two servers: the form's and the launch's");
      await assertMetricsHashed(two.url);
      for (const server of [one, two]) await server.stop("SIGTERM");
      log += one.text() + two.text();
      assert.equal(log.split("gate.wave").length - 1, 2, "one log event each");
      assert.doesNotMatch(log, /secretname/i);
      assert.doesNotMatch(log, IN_CLEAR);
      await sql`checkpoint`.execute(world.sql.db);
      const said = await sql<{ data_directory: string }>`show data_directory`.execute(world.sql.db);
      await assertHashed(world.sql, [said.rows[0]?.data_directory ?? ""]);
    } finally {
      await world.close();
    }
  },
);
