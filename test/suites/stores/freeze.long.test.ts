import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { test, type TestContext } from "node:test";
import { startDnsServer } from "../../dns/dns-server.ts";
import { gatepost, makeHome, type Settings, startService } from "../../e2e/service-process.ts";
import { until } from "../../time/until.ts";

const NAMES = 6_000;
/** One name in so many is answered late, but within the first try. */
const LATE_EVERY = 25;
const UNLIMITED = { rate_per_minute: null, daily: null, monthly: null };

async function openWorld(t: TestContext, delayMs: number) {
  const names = Array.from({ length: NAMES }, (_, index) => `n${String(index)}.example`);
  const zone = Object.fromEntries(
    names.map((name, index) => [
      name,
      { mx: ["10 mx.mail.example"], delayMs: index % LATE_EVERY === 0 ? 700 : delayMs },
    ]),
  );
  const dns = await startDnsServer({ ...zone, "mx.mail.example": { a: ["203.0.113.5"] } });
  t.after(() => dns.close());
  const home = makeHome({ GATEPOST_DNS_SERVERS: `127.0.0.1:${String(dns.port)}` });
  t.after(() => home.remove());
  const tiers = join(home.directory, "tiers.json");
  writeFileSync(tiers, JSON.stringify({ pro: { ...UNLIMITED, bulk_limit: NAMES } }));
  const words = ["account", "create", "ada@mail.example", "--json", "--tier", "pro"];
  const { api_key: key } = JSON.parse(gatepost(home, words).out) as { api_key: string };
  const headers: Settings = { authorization: `Bearer ${key}` };
  return { home, tiers, names, headers };
}

for (const [words, delayMs, freezeMs] of [
  ["6 s with every name at 20 ms", 20, 6_000],
  ["20 s with every name at 2 ms", 2, 20_000],
] as const) {
  test(`a server that stands still for ${words} drops no live entry from the list`, async (t) => {
    const { home, tiers, names, headers } = await openWorld(t, delayMs);
    const service = await startService(home, { GATEPOST_TIERS_FILE: tiers });
    t.after(() => service.stop("SIGKILL"));
    const body = new URLSearchParams({ bulk: "1", email: names.join("\n") }).toString();
    const queued = await service.post("/api/email", body, headers);
    assert.equal(queued.status, 200, queued.body);
    const { session } = JSON.parse(queued.body) as { session: string };
    const view = async (): Promise<string> =>
      (await service.get(`/api/view/${session}`, headers)).body;
    await until(async () => {
      const text = await view();
      const { processed_count = 0 } = JSON.parse(text) as { processed_count?: number };
      return processed_count > 0 || undefined;
    });
    service.child.kill("SIGSTOP");
    await sleep(freezeMs);
    service.child.kill("SIGCONT");
    const list = await until(async () => {
      const text = await view();
      return text.startsWith("{") ? undefined : text;
    });
    assert.equal(list.trim().split("\n").length, NAMES);
  });
}
