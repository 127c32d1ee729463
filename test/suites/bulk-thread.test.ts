import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { shareDatasets } from "../../src/adapters/lists/shared-datasets.ts";
import { memoryRateCounter } from "../../src/adapters/memory/rate-counter.ts";
import { openBulk } from "../../src/main/open-bulk.ts";
import type { CompletedEvent } from "../../src/service/bulk/announce.ts";
import { createGate } from "../../src/service/create-gate.ts";
import { DEFAULT_TIERS } from "../../src/service/tiers.ts";
import {
  domains,
  entranceOf,
  listOf,
  noDatasets,
  sessionOf,
  STARTER,
  until,
} from "../bulk-world.ts";
import { addAccount, openStores } from "../contracts/stores.ts";
import { startDnsServer } from "../dns-server.ts";
import { zoneLookup } from "../zone-lookup.ts";

const NAMES = 3_000;

test("the thread works a job off against a real name server, with the lists it was handed", async (t) => {
  const mail = { mx: ["10 mx.provider.example"] };
  const names = domains(NAMES).split("\n");
  const server = await startDnsServer({
    ...Object.fromEntries(names.slice(0, 2_000).map((name) => [name, mail])),
    "mx.provider.example": { a: ["203.0.113.5"] },
  });
  t.after(() => server.close());
  const dataDir = mkdtempSync(join(tmpdir(), "gatepost-thread-"));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const stores = await openStores(t, dataDir);
  await addAccount(stores);
  const { sql, charges, counter, clock, log } = stores;
  const tiers = DEFAULT_TIERS;
  const keys = { holder: () => Promise.resolve(undefined) };
  const rates = memoryRateCounter();
  const events: CompletedEvent[] = [];
  const datasets = shareDatasets({
    version: 1,
    disposable: [{ id: "own", curated: true, read: () => ["d0.example", "d2999.example"] }],
    exceptions: new Set(),
    free: [],
    knownGood: [],
    roles: [],
    mailServers: [],
  });
  const { host, port } = server;
  const config = { dataDir, dnsServers: [{ host, port }], implicitMx: false, syncBudgetMs: 10_000 };
  const open = openBulk(config, {
    sql,
    charges,
    gate: createGate({ keys, rates, quotas: counter, charges, clock, tiers }),
    tiers,
    checker: { datasets: () => noDatasets, lookup: zoneLookup({}) },
    datasets,
    log,
    onCompleted: (event) => Promise.resolve(void events.push(event)),
  });
  const { service } = open;
  const session = sessionOf(await service.submit(entranceOf(STARTER), listOf(domains(NAMES))));
  const event = await until(() => events[0]);
  assert.deepEqual(event.stats, {
    total: NAMES,
    unique: NAMES,
    invalid_format: 0,
    invalid_dns: 999,
    disposable: 2,
    valid: 1_999,
    session,
  });
  await open.stop();
  assert.deepEqual(log.lines, []);
  assert.equal(events.length, 1);
});
