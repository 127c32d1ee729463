// How processes of the scale-out end: stopped while a store hangs, and killed while they accept a batch.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { domains } from "../bulk/bulk-world.ts";
import { givenMsOf } from "../time/given-time.ts";
import { testWith } from "../process/require-tool.ts";
import type { ScaledAccount } from "../scaled/scaled-account.ts";
import {
  mailZone,
  missingServices,
  openScaledWorld,
  type ScaledProcess,
  type ScaledWorld,
} from "../scaled/scaled-world.ts";
import { type CutLine, openCutLine } from "../services/cut-line.ts";
import { until } from "../time/until.ts";

const ENTRIES = 1_204;
const FEW = 20;
const STOP_WITHIN_MS = 30_000;

const zone = mailZone(domains(ENTRIES).split("\n"), 20);

const missing = missingServices();
let opened: { world: ScaledWorld; api: string } | undefined;

const here = () => {
  assert.ok(opened !== undefined);
  return opened;
};

before(async () => {
  if (missing.length > 0) return;
  const world = await openScaledWorld({ zone });
  opened = { world, api: (await world.start({ command: "serve" })).url };
});

after(() => opened?.world.close());

const rule = (sentence: string, check: () => Promise<void>): void =>
  testWith(["postgresql", "redis-server"], missing, `endings: ${sentence}`, check);

type Store = "database" | "redis";

/** A server and a worker at work, then a store that stops answering. */
async function withHangingStore(
  store: Store,
  act: (processes: readonly ScaledProcess[]) => Promise<void>,
): Promise<void> {
  const { world, api } = here();
  const { databaseUrl, redisUrl } = world.urls;
  const url = new URL(store === "redis" ? redisUrl : databaseUrl);
  const line: CutLine = await openCutLine(Number(url.port));
  url.port = String(line.port);
  const via = { [store === "redis" ? "redisUrl" : "databaseUrl"]: url.href };
  const [server, worker] = await Promise.all([
    world.start({ command: "serve" }, via),
    world.start({ command: "worker", dnsWindowMax: 1 }, via),
  ]);
  try {
    const account = await world.account();
    const session = await account.queue(api, domains(ENTRIES));
    await untilLeased();
    assert.equal((await account.get(server.url, "/api/domain/d1.example")).status, 200);
    line.freeze();
    // Sent while the store hangs; any answer is allowed, also none.
    const asked = account.get(server.url, `/api/view/${session}`).catch(() => undefined);
    await act([server, worker]);
    await asked;
    await account.remove(api, `/api/view/${session}`);
  } finally {
    await Promise.all([server.stop("SIGKILL"), worker.stop("SIGKILL")]);
    await line.close();
  }
}

function untilLeased(): Promise<true> {
  const { sql } = here().world;
  const leased = () =>
    sql.db.selectFrom("chunks").select("number").where("lease_worker", "is not", null).execute();
  return until(async () => (await leased()).length > 0, { what: "a chunk that is taken" });
}

for (const store of ["database", "redis"] as const) {
  rule(
    `SIGTERM ends processes that wait for a hanging ${store} in order, within 30 s`,
    async () => {
      await withHangingStore(store, async (processes) => {
        const tookMs = await givenMsOf(() =>
          Promise.all(processes.map((one) => one.stop("SIGTERM"))),
        );
        for (const one of processes) {
          const { code, signal } = await one.ended();
          assert.equal(code, 0, `${String(signal)} ${one.text()}`);
        }
        assert.ok(tookMs < STOP_WITHIN_MS, `${String(tookMs)} ms`);
      });
    },
  );
}

rule("a second signal does not wait for a hanging database", async () => {
  await withHangingStore("database", async (processes) => {
    const ends = processes.map(async (one) => {
      one.child.kill("SIGTERM");
      await until(() => one.isStopping(), { what: "the first signal" });
      const end = await one.stop("SIGTERM");
      // A process that had waited for the database would have exited with 0.
      assert.equal(end.code, 143, `${String(end.signal)} ${one.text()}`);
    });
    await Promise.all(ends);
  });
});

const send = (account: ScaledAccount, api: string, text: string, key: string): Promise<Response> =>
  fetch(`${api}/api/domain`, {
    method: "POST",
    headers: { "x-api-key": account.apiKey, "idempotency-key": key },
    body: new URLSearchParams({ domain: text, bulk: "true" }),
  });

/** Repeats the request to the other server, like a client without an answer; returns the session. */
async function sendAgain(account: ScaledAccount, text: string, isThere: boolean): Promise<string> {
  const { api } = here();
  const again = await send(account, api, text, "once");
  // A dead request keeps its key for half a minute; with another key it can be sent at once.
  assert.equal(again.status, isThere ? 200 : 409);
  const answer = isThere ? again : await send(account, api, text, "again");
  assert.equal(answer.status, 200);
  return ((await answer.json()) as { session: string }).session;
}

const LISTS = [
  ["a list", FEW],
  ["a job", ENTRIES],
] as const;

for (const stage of ["charged", "inserted", "accepted"] as const) {
  for (const [what, entries] of LISTS) {
    rule(`a server killed when ${what} is ${stage} leaves it complete or absent`, async () => {
      const { world, api } = here();
      const account = await world.account();
      const dying = await world.start({ command: "serve", dieAt: { stage, times: 1 } });
      const text = domains(entries);
      await assert.rejects(send(account, dying.url, text, "once"));
      assert.equal((await dying.ended()).signal, "SIGKILL");
      const isThere = stage === "accepted";
      const { units, runningJobs } = await account.books();
      assert.equal(units, isThere ? entries : 0);
      assert.equal(runningJobs, isThere && what === "a job" ? 1 : 0);
      const session = await sendAgain(account, text, isThere);
      const worker = await world.start({ command: "worker" });
      assert.equal(await account.ended(api, session), "completed");
      const books = await account.books();
      assert.deepEqual([books.units, books.runningJobs], [entries, 0]);
      assert.equal(books.balance, books.creditSum);
      await worker.stop("SIGKILL");
    });
  }
}
