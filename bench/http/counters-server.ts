/**
 * One server of `bench/http/counters.ts`, in a separate process: the real app, admission and guard with a cached answer,
 * counting in memory over SQLite (`memory`) or in a private PostgreSQL (`postgres`). Every check counts rate, day and
 * month.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryAnswerCache } from "../../src/check/answer-cache.ts";
import { MemoryQuotaCounter } from "../../src/accounts/admission/memory-quota-counter.ts";
import { memoryRateCounter } from "../../src/accounts/admission/rate-counter.ts";
import { UnsavedUnits } from "../../src/accounts/admission/unsaved-units.ts";
import { sharedCounters } from "../../src/accounts/admission/shared-counters.ts";
import { openPostgres } from "../../src/store/postgres-database.ts";
import { sqlAccounts } from "../../src/accounts/accounts-store.ts";
import { sqlCharges } from "../../src/accounts/admission/charges.ts";
import { openEmbedded } from "../../src/store/database.ts";
import { sqlKeys } from "../../src/accounts/keys.ts";
import { sqlUsageLedger } from "../../src/accounts/admission/usage.ts";
import { systemClock as clock } from "../../src/base/clock.ts";
import type { Ids } from "../../src/base/ids.ts";
import { hashApiKey, makeApiKey } from "../../src/accounts/admission/api-key.ts";
import { createCheckOne } from "../../src/check/check-one.ts";
import { createAdmission } from "../../src/accounts/admission/counting-admission.ts";
import { DEFAULT_TIERS } from "../../src/accounts/admission/tiers.ts";
import { recordingLog } from "../../test/http/http-app.ts";
import { testServer } from "../../test/http/http-server.ts";
import { startPostgres } from "../../test/services/postgres.ts";
import { type Started, tell } from "./http-rounds.ts";
import { CHECKED, RESULT } from "./http-result.ts";

const ids: Ids = { bytes: randomBytes, hex32: () => randomBytes(16).toString("hex") };
const tiers = {
  ...DEFAULT_TIERS,
  free: { ...DEFAULT_TIERS.free, ratePerMinute: 1e9, daily: 1e12, monthly: 1e12 },
};

const kind = process.argv[2] ?? "memory";

async function openCounters() {
  const log = recordingLog();
  if (kind === "memory") {
    const directory = mkdtempSync(join(tmpdir(), "gatepost-bench-counters-"));
    process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
    const { db } = await openEmbedded(directory, clock.nowMs());
    const ledger = sqlUsageLedger(db);
    const quotas = new MemoryQuotaCounter({ ledger, clock, log });
    const charges = sqlCharges({ db, counter: quotas, ids });
    return { db, log, counters: { rates: memoryRateCounter(), quotas, charges } };
  }
  const server = await startPostgres();
  const { db, counting, patient } = await openPostgres(
    await server.createDatabase(),
    clock.nowMs(),
  );
  const ledger = sqlUsageLedger(db);
  const journal = new UnsavedUnits({ ledger, clock, log });
  const shared = sharedCounters({ counting, patient, ledger, journal, clock });
  const charges = sqlCharges({ db, shared, ids });
  const { rates, quotas, requests } = shared;
  return { db, log, counters: { rates, quotas, requests, charges } };
}

async function start(): Promise<Started> {
  const { db, log, counters } = await openCounters();
  const keys = sqlKeys(db);
  const admission = createAdmission({ ...counters, keys, clock, tiers });
  const cache = memoryAnswerCache(1_000_000);
  cache.keep(`1 core address  ${CHECKED}`, JSON.stringify(RESULT), Infinity);
  const checkOne = createCheckOne({
    admission,
    cache,
    clock,
    tiers,
    check: () => Promise.reject(new Error("the answer is not cached")),
    publicUrl: () => "http://gatepost.example",
    datasetsVersion: () => 1,
  });
  const { port } = await testServer({ admission, checkOne, clock, log });
  const id = ids.hex32();
  const account = { id, email: "a@gatepost.example", tier: "free", origin: "operator" } as const;
  await sqlAccounts(db).create({ ...account, isAdmin: false, createdAtMs: 0 });
  const key = makeApiKey(ids);
  const shown = { id, accountId: id, name: "n", prefix: "", lastFour: "", createdAtMs: 0 };
  await keys.create({ ...shown, hash: hashApiKey(key) }, 1);
  return { url: `http://127.0.0.1:${String(port)}`, key };
}

await tell(start);
