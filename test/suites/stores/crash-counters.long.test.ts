// Two servers that race for the units of one account while PostgreSQL crashes.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { testWith } from "../../process/require-tool.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";
import { missingServices, openScaledWorld } from "../../scaled/scaled-world.ts";
import type { ScaledAccount } from "../../scaled/scaled-account.ts";
import { until } from "../../time/until.ts";

/** CRASHES=20 by hand. */
const CRASHES = Number(process.env["CRASHES"] ?? 1);
const UNITS = 1_500;
const CLIENTS = 12;

/** Of each of two servers: what it granted in 250 ms may be lost, and no more. */
const LOST_MS = 250;

const missing = missingServices();
let opened: Awaited<ReturnType<typeof openScaledWorld>> | undefined;
const folder = temporaryFolder();

const here = () => {
  assert.ok(opened !== undefined);
  return opened;
};

before(async () => {
  if (missing.length > 0) return;
  const file = join(folder, "tiers.json");
  writeFileSync(file, JSON.stringify({ pro: { rate_per_minute: null, daily: UNITS } }));
  opened = await openScaledWorld({ environment: { GATEPOST_TIERS_FILE: file } });
});

after(() => opened?.close());

/** Asks until the quota is spent; adds up what was granted, and returns the most within `LOST_MS`. */
async function race(apis: readonly string[], account: ScaledAccount, crash: () => Promise<void>) {
  const grantedAt: number[] = [];
  let isSpent = false;
  const client = async (_: unknown, at: number): Promise<void> => {
    while (!isSpent) {
      const api = apis[at % apis.length] ?? "";
      const answer = await account.get(api, "/api/email/not-an-address").catch(() => undefined);
      if (answer?.status === 200) grantedAt.push(performance.now());
      else if (answer?.status === 429) isSpent = true;
      else await pause(5);
    }
  };
  const crashing = crash();
  await Promise.all(Array.from({ length: CLIENTS }, client));
  await crashing;
  const within = (from: number): number =>
    grantedAt.filter((at) => at >= from && at < from + LOST_MS).length;
  return { granted: grantedAt.length, most: Math.max(...grantedAt.map(within)) };
}

testWith(
  ["postgresql"],
  missing,
  "two servers grant what is left, but for 250 ms of counts, when PostgreSQL is killed",
  async (t) => {
    const world = here();
    const servers = await Promise.all([
      world.start({ command: "serve" }),
      world.start({ command: "serve" }),
    ]);
    const apis = servers.map(({ url }) => url);
    for (let crash = 0; crash < CRASHES; crash += 1) {
      const account = await world.account();
      const { granted, most } = await race(apis, account, async () => {
        await pause(50 + Math.random() * 400);
        await world.postgres.stop("kill");
        await world.postgres.start();
      });
      // The last 250 ms of counts are written after the last answer.
      let written = 0;
      const areWritten = async (): Promise<boolean> => {
        written = (await account.books().catch(() => ({ units: 0 }))).units;
        return written >= granted - most;
      };
      await until(areWritten, { everyMs: 50 }).catch(() => undefined);
      t.diagnostic(
        `${String(granted)} granted, ${String(written)} written, ${String(most)} in 250 ms`,
      );
      assert.ok(granted <= UNITS + most, `${String(granted)} of ${String(UNITS)} are granted`);
      assert.ok(written >= granted - most, `${String(written)} of ${String(granted)} are written`);
    }
  },
);
