import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryQuotaCounter } from "../src/accounts/admission/quota-counter.ts";
import { memoryRateCounter } from "../src/accounts/admission/rate-counter.ts";
import { Accounts } from "../src/accounts/accounts-store.ts";
import { Charges } from "../src/accounts/admission/charges.ts";
import { openEmbedded } from "../src/store/database.ts";
import { hashApiKey, Keys, makeApiKey } from "../src/accounts/keys.ts";
import { UsageLedger } from "../src/accounts/admission/usage.ts";
import type { Clock } from "../src/base/clock.ts";
import type { Ids } from "../src/base/ids.ts";
import type { Log } from "../src/base/log.ts";
import { createAdmission } from "../src/accounts/admission/counting-admission.ts";
import type { Admission, Credentials } from "../src/accounts/admission/admission.ts";
import { DEFAULT_TIERS, type Tiers } from "../src/accounts/admission/tiers.ts";

// The cost of one request before it is answered: key, rate, quota. The rounds of the cases are
// interleaved and their medians compared, so read the ratios; then a million owners, each for the first time.
// node dist/bench/gate.js
const ROUNDS = 9;
const CALLS = 100_000;
const OWNERS = 1_000_000;

const say = (line: string): void => void writeSync(1, `${line}\n`);
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const ids: Ids = {
  bytes: (count) => randomBytes(count),
  hex32: () => randomBytes(16).toString("hex"),
};
const nowNs = (): number => Number(process.hrtime.bigint());
const startNs = nowNs();
/** Read seldom, because reading the clock is not what is measured. */
let elapsedMs = 0;
const lookAtClock = (): void => {
  elapsedMs = (nowNs() - startNs) / 1e6;
};
const clock: Clock = {
  nowMs: () => 1_795_000_000_000 + elapsedMs,
  monotonicMs: () => elapsedMs,
  after: (delayMs, task) => {
    const timer = setTimeout(task, delayMs).unref();
    return () => clearTimeout(timer);
  },
};
const log: Log = {
  info: () => undefined,
  warn: () => undefined,
  error: (event, fault) => say(`${event}: ${String(fault)}`),
};
/** Lets timers run, and the clock advance. */
const rest = async (): Promise<void> => {
  lookAtClock();
  await new Promise((resolve) => setImmediate(resolve));
};
const NOBODY: Credentials = { apiKey: [], authorization: [] };
const keyed = (key: string): Credentials => ({ apiKey: [key], authorization: [] });

interface Bench {
  readonly admission: Admission;
  readonly key: string;
  readonly quotas: MemoryQuotaCounter;
  readonly close: () => Promise<void>;
}

async function openBench(tiers: Tiers): Promise<Bench> {
  const dataDir = mkdtempSync(join(tmpdir(), "gatepost-bench-"));
  const { db, close } = await openEmbedded(dataDir, clock.nowMs());
  const quotas = new MemoryQuotaCounter({ ledger: new UsageLedger(db), clock, log });
  const charges = new Charges({ db, counter: quotas, ids });
  const keys = new Keys(db);
  const admission = createAdmission({
    keys,
    rates: memoryRateCounter(),
    quotas,
    charges,
    clock,
    tiers,
  });
  const id = ids.hex32();
  const account = { id, email: "a@gatepost.example", tier: "free", origin: "operator" } as const;
  await new Accounts(db).create({ ...account, isAdmin: false, createdAtMs: 0 });
  const key = makeApiKey(ids);
  const shown = { id, accountId: id, name: "n", prefix: "", lastFour: "", createdAtMs: 0 };
  await keys.create({ ...shown, hash: hashApiKey(key) }, 1);
  return {
    admission,
    key,
    quotas,
    close: async () => {
      await quotas.flush();
      await close();
      rmSync(dataDir, { recursive: true });
    },
  };
}

/** Tiers that count everything and refuse nothing. */
function endless(): Tiers {
  const limits = { ratePerMinute: 1e9, daily: 1e12, monthly: 1e12 };
  const { anonymous, free } = DEFAULT_TIERS;
  return { ...DEFAULT_TIERS, anonymous: { ...anonymous, ...limits }, free: { ...free, ...limits } };
}

/** Enters and takes one unit; returns a promise only if it must wait, as in the server. */
function request(
  admission: Admission,
  credentials: Credentials,
  address: string,
): Promise<unknown> | void {
  const entering = admission.enter(credentials, address);
  if (entering instanceof Promise) return entering;
  if (entering.refusal !== undefined) return;
  const charging = admission.charge(entering, 1);
  if (charging instanceof Promise) return charging;
}

type Contender = readonly [string, (call: number) => Promise<unknown> | void];

async function times(calls: number, call: Contender[1]): Promise<void> {
  for (let count = 0; count < calls; count += 1) {
    const waiting = call(count);
    if (waiting !== undefined) await waiting;
  }
}

/** Nanoseconds of a call: the median of interleaved rounds. Timers run between the rounds. */
async function nanoseconds(contenders: readonly Contender[]): Promise<ReadonlyMap<string, number>> {
  const samples = new Map<string, number[]>(contenders.map(([name]) => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, call] of contenders) {
      const startedNs = nowNs();
      await times(CALLS, call);
      samples.get(name)?.push((nowNs() - startedNs) / CALLS);
      await rest();
    }
  }
  return new Map([...samples].map(([name, values]) => [name, median(values)]));
}

async function costs(): Promise<void> {
  const { admission, key, close } = await openBench(endless());
  const known = keyed(key);
  const forged = Array.from({ length: 1_000 }, () => {
    const real = makeApiKey(ids);
    return keyed(`${real.slice(0, -1)}${real.endsWith("0") ? "1" : "0"}`);
  });
  const found = await nanoseconds([
    ["a known key", () => request(admission, known, "192.0.2.1")],
    ["an anonymous IPv4 address", () => request(admission, NOBODY, "192.0.2.1")],
    ["an anonymous IPv6 address", () => request(admission, NOBODY, "2001:db8:1:2:3:4:5:6")],
    ["a forged key", (call) => request(admission, forged[call % 1_000] ?? NOBODY, "192.0.2.1")],
  ]);
  const valid = found.get("a known key") ?? 0;
  for (const [name, ns] of found) {
    const perSecond = Math.round(1e9 / ns).toLocaleString("en");
    const ratio = (ns / valid).toFixed(2);
    say(`${name}: ${ns.toFixed(0)} ns, ${perSecond} a second, ${ratio} of a known key`);
  }
  await close();
}

/** Resident memory, including uncollected garbage. */
const residentMb = (): number => process.memoryUsage().rss / 1e6;

async function million(): Promise<void> {
  const { admission, close } = await openBench(DEFAULT_TIERS);
  const beforeMb = residentMb();
  const startedNs = nowNs();
  let mostMb = beforeMb;
  for (let owner = 0; owner < OWNERS; owner += 1) {
    const [high, low] = [owner >>> 16, owner & 0xffff];
    await request(admission, NOBODY, `2001:db8:${high.toString(16)}:${low.toString(16)}::1`);
    if (owner % 1_000 === 0) await rest();
    if (owner % 10_000 === 0) mostMb = Math.max(mostMb, residentMb());
  }
  const seconds = (nowNs() - startedNs) / 1e9;
  const afterMb = residentMb();
  say(
    `${OWNERS.toLocaleString("en")} owners, each for the first time, in ${seconds.toFixed(0)} s: ` +
      `resident ${beforeMb.toFixed(0)} MB before, ${mostMb.toFixed(0)} at most, ${afterMb.toFixed(0)} after`,
  );
  await close();
}

await costs();
await million();
