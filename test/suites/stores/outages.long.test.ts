// Two servers and two workers through outages of PostgreSQL, with traffic and a running job.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openOutageWorld, type Outage, type OutageWorld, ridesOut } from "../../scaled/outages.ts";
import { testWith } from "../../process/require-tool.ts";
import { missingServices } from "../../scaled/scaled-world.ts";

const cut = (lastsMs: number): Outage => ({
  name: `is cut off for ${String(lastsMs / 1_000)} s`,
  lastsMs,
  breakIt: ({ line }) => line.cut(),
  mendIt: ({ line }) => line.mend(),
});

const frozen = (lastsMs: number): Outage => ({
  name: `is silent for ${String(lastsMs / 1_000)} s`,
  lastsMs,
  breakIt: ({ line }) => line.freeze(),
  mendIt: ({ line }) => line.mend(),
});

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
    name: "is stopped in order and started again",
    lastsMs: 2_000,
    breakIt: ({ postgres }) => postgres.stop("fast"),
    mendIt: ({ postgres }) => postgres.start(),
  },
  cut(10_000),
  frozen(9_000),
  {
    name: "is slow by 300 ms each way",
    lastsMs: 2_000,
    breakIt: ({ line }) => line.slow(300),
    mendIt: ({ line }) => line.slow(0),
  },
  {
    name: "is read-only for 5 s",
    lastsMs: 5_000,
    breakIt: (world) => setReadOnly(world, true),
    mendIt: (world) => setReadOnly(world, false),
  },
  // By hand: nothing waits for longer than 10 s between two tries.
  ...(process.env["EVERY_OUTAGE"] === undefined ? [] : [cut(60_000)]),
];

const missing = missingServices();
if (missing.length > 0) {
  testWith(["postgresql"], missing, "outages", () => Promise.resolve());
} else {
  let opened: OutageWorld | undefined;
  before(async () => {
    opened = await openOutageWorld();
  });
  after(() => opened?.close());

  for (const outage of outages) {
    test(`PostgreSQL ${outage.name}, and nothing is lost`, async (t) => {
      assert.ok(opened !== undefined);
      await ridesOut(t, opened, outage);
    });
  }
}
