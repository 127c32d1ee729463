import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { forkDnsServer, type ForkedDnsServer } from "../dns/dns-server.ts";
import { DOCS_ZONE } from "../e2e/docs-zone.ts";
import { gatepostBeside, makeHome, startService } from "../e2e/service-process.ts";
import { startFaultProxy } from "./fault-proxy.ts";

/** What the tests of client libraries need, as JSON. */
export interface ClientWorld {
  /** The real service, with the zone of the documents. */
  readonly service: string;
  /** Of an account on the highest tier, with the policy "strict". */
  readonly key: string;
  /** Base URLs that answer with one fault each. */
  readonly faults: Readonly<Record<string, string>>;
}

export interface RunningWorld extends ClientWorld {
  /** Ends the service at once, as a crash does. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

/** Besides what the built-in policy does, it reviews role addresses. */
const STRICT = {
  rules: [
    { when: { role: true }, then: "review", reason: "role" },
    { when: { "caller.country": "xx" }, then: "challenge", reason: "caller" },
    { when: { disposable: true }, then: "reject", reason: "disposable" },
  ],
  else: "accept",
};

/** The real service on loopback, and a proxy for each fault. */
export async function startClientWorld(): Promise<RunningWorld> {
  const dns = await forkDnsServer(DOCS_ZONE);
  try {
    return await startAround(dns);
  } catch (error) {
    await dns.close();
    throw error;
  }
}

async function startAround(dns: ForkedDnsServer): Promise<RunningWorld> {
  const home = makeHome({ GATEPOST_DNS_SERVERS: `127.0.0.1:${String(dns.port)}` });
  const tiers = join(home.directory, "tiers.json");
  const many = { rate_per_minute: 1_000_000 };
  writeFileSync(tiers, JSON.stringify({ anonymous: many, pro: many }));
  const account = await gatepostBeside(
    home,
    "account create jo@good.example --tier pro --json".split(" "),
  );
  const { api_key: key } = JSON.parse(account) as { readonly api_key: string };
  const policy = join(home.directory, "strict.json");
  writeFileSync(policy, JSON.stringify(STRICT));
  await gatepostBeside(home, ["policy", "set", "jo@good.example", policy, "--name", "strict"]);
  const service = await startService(home, { GATEPOST_TIERS_FILE: tiers });
  const proxy = await startFaultProxy(service.url);
  return {
    service: service.url,
    key,
    faults: proxy.urls,
    kill: async () => void (await service.stop("SIGKILL")),
    async close() {
      await proxy.close();
      await service.stop("SIGKILL");
      await dns.close();
      home.remove();
    },
  };
}
