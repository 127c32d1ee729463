/**
 * One server of `bench/http/http.ts`, in a separate process: `service` is the whole real service on a data
 * directory of its own, `bare` is node:http writing the same bytes. It sends its address and a key over IPC, and
 * its resource use on request.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../src/main/settings/config.ts";
import { startServer } from "../../src/main/server.ts";
import { startDnsServer } from "../../test/dns/dns-server.ts";
import { openTestStore } from "../../test/process/test-process.ts";
import { RESULT } from "./http-result.ts";
import { type Started, tell } from "./http-rounds.ts";

const ZONE = {
  "good.example": {
    mx: ["10 mx1.mail.good.example", "20 mx2.mail.good.example", "30 mx3.mail.good.example"],
    ttlSeconds: 86_400,
  },
  "mx1.mail.good.example": { a: ["192.0.2.25"], ttlSeconds: 86_400 },
};

/** The bench exceeds every plan, but is counted as all callers are. */
const AMPLE = { rate_per_minute: 1e9, daily: 1e9, monthly: 1e9 };

async function startService(): Promise<Started> {
  const directory = mkdtempSync(join(tmpdir(), "gatepost-bench-http-"));
  process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
  const tiersFile = join(directory, "tiers.json");
  writeFileSync(tiersFile, JSON.stringify({ anonymous: AMPLE, starter: AMPLE }));
  const dns = await startDnsServer(ZONE);
  const config = readConfig({
    GATEPOST_DATA_DIR: directory,
    GATEPOST_DNS_SERVERS: `127.0.0.1:${String(dns.port)}`,
    GATEPOST_TIERS_FILE: tiersFile,
    GATEPOST_LISTS_REFRESH: "off",
    LOG_LEVEL: "error",
    PORT: "0",
  });
  const key = await makeKey(directory);
  return { url: (await startServer(config)).url, key };
}

async function makeKey(directory: string): Promise<string> {
  const store = await openTestStore(directory);
  try {
    const email = "bench@good.example";
    const order = { email, tier: "starter", origin: "operator", isAdmin: false } as const;
    const created = await store.accounts.create(order);
    if (created.kind !== "created") throw new Error(created.kind);
    const key = await store.keys.create(created.account.id, "bench");
    if (key.kind !== "created") throw new Error(key.kind);
    return key.apiKey;
  } finally {
    await store.close();
  }
}

function startBare(): Promise<Started> {
  const body = JSON.stringify(RESULT);
  const headers = {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "X-RateLimit-Limit, X-RateLimit-Remaining, Retry-After",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-type": "application/json",
    "x-ratelimit-limit": "500",
    "x-ratelimit-remaining": "500",
    "content-length": String(Buffer.byteLength(body)),
  };
  const server = createServer((_request, response) => response.writeHead(200, headers).end(body));
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      resolve({ url: `http://127.0.0.1:${String(port)}`, key: "" });
    });
  });
}

await tell(process.argv[2] === "service" ? startService : startBare);
