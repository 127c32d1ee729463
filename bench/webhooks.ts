/**
 * `node dist/bench/webhooks.js`: the CPU cost of signing and dispatching a notification, and the time that an
 * idle service needs from a finished batch to its dispatch. SQLite in memory, a receiver that answers at once.
 */
import { Deliveries, WebhookEndpoints } from "../src/webhooks/webhooks-store.ts";
import { openEmbedded } from "../src/store/database.ts";
import { createSecretBox } from "../src/base/secrets.ts";
import type { WebhookSender } from "../src/webhooks/webhook-sender.ts";
import { Dispatcher, envelope } from "../src/webhooks/dispatcher.ts";
import { sign } from "../src/webhooks/verify.ts";
import { keptLog } from "../test/process/kept-log.ts";
import { realClock } from "../test/time/real-clock.ts";

const ROUNDS = 2_000;
const SECRET = "0123456789abcdef".repeat(4);
const STATS = { total: 9, unique: 9, invalid_format: 1, invalid_dns: 1, disposable: 1, valid: 6 };
const session = (round: number): string => round.toString(16).padStart(32, "0");

const cpuMs = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000;
};

function signing(): number {
  const stats = { ...STATS, session: session(0) };
  const data = JSON.stringify({ session: session(0), stats });
  const since = process.cpuUsage();
  for (let round = 0; round < ROUNDS; round += 1) {
    sign(SECRET, envelope("bulk.completed", data, round));
  }
  return cpuMs(since) / ROUNDS;
}

/** A receiver that answers at once and records the time of the request. */
function atOnce() {
  let asked = (): void => undefined;
  const sender: WebhookSender = {
    post() {
      asked();
      const reply = { status: 200, headers: {}, body: new Uint8Array(), cut: false };
      return Promise.resolve({ ok: true, value: reply });
    },
  };
  return { sender, nextPost: () => new Promise<void>((resolve) => (asked = resolve)) };
}

async function dispatching() {
  const { db, close } = await openEmbedded(":memory:", 0);
  const { sender, nextPost } = atOnce();
  const box = createSecretBox(new Uint8Array(32));
  const endpoints = new WebhookEndpoints(db);
  const ids = { hex32: () => session(Math.floor(performance.now() * 1_000)) };
  const deps = { endpoints, deliveries: new Deliveries(db), box, sender, clock: realClock, ids };
  const dispatcher = new Dispatcher({ ...deps, log: keptLog() });
  await db.insertInto("accounts").values(ACCOUNT).execute();
  await endpoints.save({
    accountId: "a",
    url: "https://x.example/",
    events: [],
    sealedSecret: box.seal(SECRET, "a"),
  });
  const waits: number[] = [];
  const since = process.cpuUsage();
  for (let round = 0; round < ROUNDS; round += 1) {
    const posted = nextPost();
    const startedMs = performance.now();
    const stats = { ...STATS, session: session(round) };
    await dispatcher.announce({
      owner: { kind: "account", accountId: "a" },
      session: stats.session,
      stats,
    });
    await posted;
    waits.push(performance.now() - startedMs);
  }
  const cpu = cpuMs(since) / ROUNDS;
  await dispatcher.stop();
  await close();
  return { cpu, p99: waits.sort((a, b) => a - b)[Math.floor(ROUNDS * 0.99)] ?? 0 };
}

const ACCOUNT = {
  id: "a",
  email: "a@gatepost.example",
  tier: "pro",
  origin: "operator",
  admin: 0,
  credit_balance: 0,
  credit_entries: 0,
  password_hash: null,
  disabled_at_ms: null,
  traffic_since: 1,
  decision_log: 0,
  created_at_ms: 0,
} as const;

signing(); // warms up
const signed = signing();
const { cpu, p99 } = await dispatching();
process.stdout.write(
  `CPU to make and sign one notification: ${signed.toFixed(4)} ms\n` +
    `CPU to queue, claim, sign, send and log one: ${cpu.toFixed(3)} ms\n` +
    `finished batch to dispatch, idle, p99: ${p99.toFixed(2)} ms\n`,
);
