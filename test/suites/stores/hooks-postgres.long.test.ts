// Hooks while a real PostgreSQL is stopped, or holds the tables that decisions need.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import pg from "pg";
import { createSecretBox } from "../../../src/base/secrets.ts";
import { systemIds } from "../../../src/base/ids.ts";
import { Hooks, HookService } from "../../../src/gate/hooks.ts";
import { testWith } from "../../process/require-tool.ts";
import { RECORDED } from "../../policy/recorded-payloads.ts";
import {
  missingServices,
  openScaledWorld,
  SECRET_KEY,
  type ScaledProcess,
  type ScaledWorld,
} from "../../scaled/scaled-world.ts";
import { realClock } from "../../time/real-clock.ts";

const missing = missingServices();
let world: ScaledWorld;
let server: ScaledProcess;

before(async () => {
  if (missing.length > 0) return;
  world = await openScaledWorld({
    zone: { "mailinator.com": { behave: "silent" } },
  });
  server = await world.start({ command: "serve" });
});
after(() => world?.close());

interface MadeHook {
  readonly id: string;
  readonly secret: string;
}

async function makeHook(system: "kratos"): Promise<MadeHook> {
  const { accountId } = await world.account();
  const service = new HookService({
    hooks: new Hooks(world.sql.db),
    box: createSecretBox(SECRET_KEY),
    ids: systemIds,
    clock: realClock,
    publicUrl: () => server.url,
    checkHost: () => Promise.resolve(undefined),
  });
  const { id, secret } = await service.create(accountId, { system });
  return { id, secret: secret ?? "" };
}

let asked = 0;

/** Calls with listed addresses, 20 at once; the statuses that came. */
async function statuses(hooks: readonly MadeHook[], calls: number): Promise<ReadonlySet<number>> {
  const seen = new Set<number>();
  const call = async ({ id, secret }: MadeHook) => {
    const body = RECORDED.kratos.replace("SUB", `jo@n${String((asked += 1))}.mailinator.com`);
    const headers = { "content-type": "application/json", authorization: `Bearer ${secret}` };
    const answer = await fetch(`${server.url}/hooks/${id}`, { method: "POST", headers, body });
    await answer.text();
    seen.add(answer.status);
  };
  for (let at = 0; at < calls; at += 20) {
    const wave = Array.from({ length: 20 }, (_, one) => hooks[one % hooks.length] ?? assert.fail());
    await Promise.all(wave.map(call));
  }
  return seen;
}

const TABLES = "hooks, accounts, api_keys, counters, usage_days, policies, traffic, decisions";

const BAD_HOURS: readonly [name: string, during: (work: () => Promise<void>) => Promise<void>][] = [
  [
    "is stopped",
    async (work) => {
      await world.postgres.stop("fast");
      try {
        await work();
      } finally {
        await world.postgres.start();
      }
    },
  ],
  [
    "holds its tables for another",
    async (work) => {
      const holder = new pg.Client({ connectionString: world.urls.databaseUrl });
      await holder.connect();
      await holder.query(`begin; lock table ${TABLES} in access exclusive mode`);
      try {
        await work();
      } finally {
        await holder.end();
      }
    },
  ],
];

for (const [name, during] of BAD_HOURS) {
  testWith(
    ["postgresql"],
    missing,
    `while PostgreSQL ${name}, no listed address gets in`,
    async () => {
      const [known, unseen] = [await makeHook("kratos"), await makeHook("kratos")];
      assert.deepEqual(await statuses([known], 20), new Set([400]));
      await during(async () => {
        assert.deepEqual(
          await statuses([known], 120),
          new Set([400]),
          "a hook that was called before",
        );
        assert.deepEqual(
          await statuses([known, unseen], 120),
          new Set([400]),
          "one that was not, too",
        );
      });
    },
  );
}
