// Two servers and two workers through outages of their stores, with traffic and a running job.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Redis } from "ioredis";
import {
  openOutageWorld,
  type Outage,
  type OutageWorld,
  ridesOut,
  type Store,
} from "../../scaled/outages.ts";
import { testWith } from "../../process/require-tool.ts";
import { missingServices } from "../../scaled/scaled-world.ts";

const cut = (store: Store, lastsMs: number): Outage => ({
  name: `is cut off for ${String(lastsMs / 1_000)} s`,
  store,
  lastsMs,
  breakIt: ({ lines }) => lines[store].cut(),
  mendIt: ({ lines }) => lines[store].mend(),
});

const frozen = (store: Store, lastsMs: number): Outage => ({
  name: `is silent for ${String(lastsMs / 1_000)} s`,
  store,
  lastsMs,
  breakIt: ({ lines }) => lines[store].freeze(),
  mendIt: ({ lines }) => lines[store].mend(),
});

async function flushAll({ redis }: OutageWorld): Promise<void> {
  const client = new Redis(redis.url);
  await client.flushall();
  client.disconnect();
}

async function setReadOnly({ postgres, urls }: OutageWorld, isOn: boolean): Promise<void> {
  const name = new URL(urls.databaseUrl).pathname.slice(1);
  const what = isOn
    ? "set default_transaction_read_only = on"
    : "reset default_transaction_read_only";
  await postgres.run(`alter database ${name} ${what}`);
  // A session keeps its initial settings.
  await postgres.run(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
  );
}

const outages: readonly Outage[] = [
  {
    name: "is restarted",
    store: "redis",
    lastsMs: 1_000,
    breakIt: ({ redis }) => redis.stop("end"),
    mendIt: ({ redis }) => redis.start(),
  },
  {
    name: "is killed and started again",
    store: "redis",
    lastsMs: 0,
    breakIt: ({ redis }) => redis.stop("kill"),
    mendIt: ({ redis }) => redis.start(),
  },
  {
    name: "is emptied",
    store: "redis",
    lastsMs: 0,
    breakIt: flushAll,
    mendIt: () => undefined,
  },
  cut("redis", 1_000),
  cut("redis", 10_000),
  frozen("redis", 6_000),
  {
    name: "is stopped in order and started again",
    store: "database",
    lastsMs: 2_000,
    breakIt: ({ postgres }) => postgres.stop("fast"),
    mendIt: ({ postgres }) => postgres.start(),
  },
  {
    name: "is killed and started again",
    store: "database",
    lastsMs: 0,
    breakIt: ({ postgres }) => postgres.stop("kill"),
    mendIt: ({ postgres }) => postgres.start(),
  },
  cut("database", 1_000),
  cut("database", 10_000),
  frozen("database", 8_000),
  {
    name: "is read-only for 6 s",
    store: "database",
    lastsMs: 6_000,
    canRead: true,
    breakIt: (world) => setReadOnly(world, true),
    mendIt: (world) => setReadOnly(world, false),
  },
  // By hand: nothing waits for longer than 10 s between two tries.
  ...(process.env["EVERY_OUTAGE"] === undefined
    ? []
    : [cut("redis", 60_000), cut("database", 60_000)]),
];

const STORE_NAMES: Readonly<Record<Store, string>> = { redis: "Redis", database: "PostgreSQL" };

const missing = missingServices();
if (missing.length > 0) {
  testWith(["postgresql", "redis-server"], missing, "outages", () => Promise.resolve());
} else {
  let opened: OutageWorld | undefined;
  before(async () => {
    opened = await openOutageWorld();
  });
  after(() => opened?.close());

  for (const outage of outages) {
    test(`${STORE_NAMES[outage.store]} ${outage.name}, and nothing is lost`, async (t) => {
      assert.ok(opened !== undefined);
      await ridesOut(t, opened, outage);
    });
  }
}
