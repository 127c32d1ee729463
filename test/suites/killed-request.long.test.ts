import assert from "node:assert/strict";
import { test } from "node:test";
import { startDnsServer } from "../dns/dns-server.ts";
import { makeHome, startService } from "../e2e/service-process.ts";
import { until } from "../time/until.ts";

/** A request that is never cut would hold up the run of all suites. */
const timeout = 180_000;

test("a request whose server was killed is answered after the restart", { timeout }, async (t) => {
  const dns = await startDnsServer({ "slow.example": { behave: "silent" } });
  t.after(() => dns.close());
  const home = makeHome({ GATEPOST_DNS_SERVERS: `127.0.0.1:${String(dns.port)}` });
  t.after(() => home.remove());
  const body = new URLSearchParams({ bulk: "1", email: "slow.example" }).toString();
  const headers = { "idempotency-key": "order-1" };
  const first = await startService(home);
  const dead = first.post("/api/email", body, headers).catch(() => "cut");
  await until(() => dns.asked.includes("MX slow.example")); // not one of the canaries
  await first.stop("SIGKILL");
  assert.equal(await dead, "cut");
  const second = await startService(home);
  t.after(() => second.stop("SIGKILL"));
  const repeated = await second.post("/api/email", body, headers);
  assert.equal(repeated.status, 200, repeated.body);
});
