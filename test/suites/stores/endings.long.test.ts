// How processes of the scale-out end while a store hangs.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { domains } from "../../bulk/bulk-world.ts";
import { givenMsOf } from "../../time/given-time.ts";
import { testWith } from "../../process/require-tool.ts";
import {
  mailZone,
  missingServices,
  openScaledWorld,
  type ScaledProcess,
  type ScaledWorld,
} from "../../scaled/scaled-world.ts";
import { type CutLine, openCutLine } from "../../services/cut-line.ts";
import { until } from "../../time/until.ts";

const ENTRIES = 1_204;
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
  testWith(["postgresql"], missing, `endings: ${sentence}`, check);

/** A server and a worker at work, then a database that stops answering. */
async function withHangingStore(
  act: (processes: readonly ScaledProcess[]) => Promise<void>,
): Promise<void> {
  const { world, api } = here();
  const url = new URL(world.urls.databaseUrl);
  const line: CutLine = await openCutLine(Number(url.port));
  url.port = String(line.port);
  const via = { databaseUrl: url.href };
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

rule("SIGTERM ends processes that wait for a hanging database in order, within 30 s", async () => {
  await withHangingStore(async (processes) => {
    const tookMs = await givenMsOf(() => Promise.all(processes.map((one) => one.stop("SIGTERM"))));
    for (const one of processes) {
      const { code, signal } = await one.ended();
      assert.equal(code, 0, `${String(signal)} ${one.text()}`);
    }
    assert.ok(tookMs < STOP_WITHIN_MS, `${String(tookMs)} ms`);
  });
});

rule("a second signal does not wait for a hanging database", async () => {
  await withHangingStore(async (processes) => {
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
