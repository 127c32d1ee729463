/**
 * `npm run bench:growth [row...]`: what grows with what the service holds. CPU of a decision by accounts and by rows of traffic,
 * of a list's entry by entries, of a start by the size of the database, and memory by keys in use. Each line has its figures
 * and the slope: how many times the cost of the least, for how many times the size.
 */
import { execFile } from "node:child_process";
import { statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { sql } from "kysely";
import { hashApiKey, makeApiKey } from "../src/accounts/key-text.ts";
import { systemIds } from "../src/base/ids.ts";
import { readUpload } from "../src/bulk/files/read-upload.ts";
import { openEmbedded } from "../src/store/database.ts";
import { startNameServer } from "../test/dns/numbered-names.ts";
import { gatepost, type Home, makeHome, startService } from "../test/e2e/service-process.ts";
import { sized } from "./short.ts";
import { cpuOf, median, memoryOf } from "./usage.ts";

const run = promisify(execFile);
const autocannon = createRequire(import.meta.url).resolve("autocannon/autocannon.js");
const REQUESTS = sized(10_000, 200);
const ROUNDS = sized(3, 1);
const AMPLE = { rate_per_minute: 1e9, daily: 1e9, monthly: 1e9 };

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function report(what: string, unit: string, figures: readonly (readonly [number, number])[]): void {
  const [[least, first] = [1, 1]] = figures;
  const [most, last] = figures.at(-1) ?? [1, 1];
  const all = figures.map(([size, figure]) => `${String(size)}: ${figure.toFixed(1)}`).join(", ");
  say(
    `${what}, ${unit}: ${all}; ${(last / first).toFixed(2)} times for ${(most / least).toFixed(0)} times the size`,
  );
}

const dns = await startNameServer({ delayMs: 0, lossShare: 0, deadEvery: 0 });

/** A home with one account. */
function homeOf(): { readonly home: Home; readonly id: string; readonly key: string } {
  const home = makeHome({
    GATEPOST_DNS_SERVERS: dns.address,
    GATEPOST_DNS_CANARIES: "off",
    GATEPOST_MAX_CONNECTIONS_PER_ADDRESS: "1000",
    LOG_LEVEL: "error",
  });
  const file = join(home.directory, "tiers.json");
  writeFileSync(file, JSON.stringify({ pro: AMPLE }));
  const settled = { ...home, settings: { ...home.settings, GATEPOST_TIERS_FILE: file } };
  const words = ["account", "create", "b@good.example", "--tier", "pro", "--json"];
  const made = JSON.parse(gatepost(settled, words).out) as { account_id: string; api_key: string };
  return { home: settled, id: made.account_id, key: made.api_key };
}

/** Runs statements on the database of a home; `n.i` counts to `count`. */
async function fill({ directory }: Home, count: number, ...inserts: readonly string[]) {
  const { db, close } = await openEmbedded(directory, Date.now());
  const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${String(count)})`;
  for (const insert of inserts)
    await sql.raw(insert.replace(" select ", ` ${numbers} select `)).execute(db);
  await close();
}

const ACCOUNTS =
  "insert into accounts (id, email, tier, origin, admin, credit_balance, credit_entries, created_at_ms) select 'a' || i, 'a' || i || '@x.example', 'pro', 'operator', 0, 0, 0, 1 from n";

/** Microseconds of CPU of one decision about a known mailbox. */
async function decisionUs(home: Home, key: string): Promise<number> {
  const service = await startService(home);
  const words = [
    "-j",
    "-n",
    "-c",
    "32",
    "-a",
    String(REQUESTS),
    "-m",
    "POST",
    "-H",
    `x-api-key=${key}`,
  ];
  words.push("-H", "content-type=application/json", "-b", '{"email":"jo@d1.warm.co"}');
  const figures: number[] = [];
  for (let round = -1; round < ROUNDS; round += 1) {
    const before = cpuOf(service.child);
    await run(process.execPath, [autocannon, ...words, `${service.url}/api/decide`]);
    if (round >= 0) figures.push((cpuOf(service.child) - before) / REQUESTS);
  }
  await service.stop();
  return median(figures);
}

async function accounts(): Promise<void> {
  const figures: [number, number][] = [];
  for (const count of [1, 100, sized(10_000, 1_000)]) {
    const { home, key } = homeOf();
    await fill(home, count, ACCOUNTS);
    figures.push([count, await decisionUs(home, key)]);
    home.remove();
  }
  report("a decision by accounts", "us of CPU", figures);
}

/** Rows of another account and of the asking one, by halves, some 900 octets each with their indexes. */
const trafficOf = (id: string): string =>
  `insert into traffic select case when i % 2 = 0 then '${id}' else 'other' end, 's' || i, 'mailbox', 'm' || i || hex(zeroblob(300)), ${String(Date.now())}, ${String(Date.now())}, 1 from n`;

async function traffic(): Promise<void> {
  const decisions: [number, number][] = [];
  const starts: [number, number][] = [];
  for (const count of [sized(10_000, 100), sized(1_000_000, 1_000)]) {
    const { home, id, key } = homeOf();
    await fill(home, count, trafficOf(id));
    const megabytes = Math.round(statSync(join(home.directory, "gatepost.db")).size / 1e6);
    const cpu: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const service = await startService(home);
      cpu.push(cpuOf(service.child) / 1_000);
      await service.stop();
    }
    starts.push([megabytes, median(cpu)]);
    decisions.push([count, await decisionUs(home, key)]);
    home.remove();
  }
  report("a decision by rows of traffic", "us of CPU", decisions);
  report("a start by MB of the database", "ms of CPU", starts);
}

async function lists(): Promise<void> {
  const figures: [number, number][] = [];
  for (const count of [1_000, 10_000, 100_000, ...(sized(1, 0) > 0 ? [1_000_000] : [])]) {
    const text = Array.from(
      { length: count },
      (_, at) => `u${String(at)}@d${String(at)}.example\n`,
    );
    const octets = Buffer.from(text.join(""));
    async function* slices(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < octets.length; at += 65_536)
        yield await Promise.resolve(octets.subarray(at, at + 65_536));
    }
    const rounds = Array.from({ length: Math.max(1, Math.min(20, 100_000 / count)) });
    const { user, system } = process.cpuUsage();
    for (const _ of rounds) await readUpload(slices(), { entriesMax: null });
    const after = process.cpuUsage();
    figures.push([count, (after.user - user + after.system - system) / rounds.length / count]);
  }
  report("an entry by entries of a list that is read", "us of CPU", figures);
}

async function keys(): Promise<void> {
  const figures: [number, number][] = [];
  for (const count of [1, sized(10_000, 100)]) {
    const { home } = homeOf();
    const texts = Array.from({ length: count }, () => makeApiKey(systemIds));
    await fill(home, count, ACCOUNTS);
    const { db, close } = await openEmbedded(home.directory, Date.now());
    for (const [at, text] of texts.entries()) {
      const key_hash = hashApiKey(text);
      const row = {
        id: `k${String(at)}`,
        account_id: `a${String(at + 1)}`,
        name: "key",
        prefix: "",
        last_four: "",
      };
      await db
        .insertInto("api_keys")
        .values({ ...row, key_hash, created_at_ms: 1 })
        .execute();
    }
    await close();
    const service = await startService(home);
    let refused = 0;
    for (const text of texts) {
      const { status } = await service.get("/api/email/jo@d1.warm.co", { "x-api-key": text });
      if (status !== 200) refused += 1;
    }
    if (refused > 0) throw new Error(`${String(refused)} keys were refused`);
    figures.push([count, memoryOf(service.child).now]);
    await service.stop();
    home.remove();
  }
  report("memory by keys in use", "MB", figures);
}

const ROWS = { accounts, traffic, lists, keys };
const asked = process.argv.slice(2);
try {
  for (const [name, measure] of Object.entries(ROWS))
    if (asked.length === 0 || asked.includes(name)) await measure();
} finally {
  dns.stop();
}
