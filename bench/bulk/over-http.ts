import type { ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { gatepost, makeHome, startService } from "../../test/e2e/service-process.ts";

/** The whole real service with an account that has no limits but the size of a list. */
export interface BulkService {
  readonly url: string;
  readonly child: ChildProcess;
  /** Sends a list and reads its session until it ends. */
  run(family: "email" | "domain", text: string): Promise<BulkRun>;
  stop(): Promise<unknown>;
}

export interface BulkRun {
  /** From before the request until the session says that it has ended. */
  readonly seconds: number;
  /** Entries for which DNS did not say. */
  readonly inconclusive: number;
}

const UNLIMITED = { rate_per_minute: null, daily: null, monthly: null, bulk_limit: 100_000 };
const POLL_MS = 100;

export async function startBulkService(dns: string): Promise<BulkService> {
  const home = makeHome({ GATEPOST_DNS_SERVERS: dns, LOG_LEVEL: "error" });
  const tiers = join(home.directory, "tiers.json");
  writeFileSync(tiers, JSON.stringify({ anonymous: UNLIMITED, pro: UNLIMITED }));
  const made = gatepost(home, ["account", "create", "b@bench.example", "--tier", "pro", "--json"]);
  const { api_key: key } = JSON.parse(made.out) as { readonly api_key: string };
  const headers = { "x-api-key": key };
  const service = await startService(home, {
    GATEPOST_TIERS_FILE: tiers,
    // The bench's name server answers for every name, as a lying resolver would.
    GATEPOST_DNS_CANARIES: "off",
  });
  return {
    url: service.url,
    child: service.child,
    async run(family, text) {
      const startMs = performance.now();
      const sent = await service.post(`/api/${family}`, `bulk=1&${family}=${text}`, headers);
      const { session } = JSON.parse(sent.body) as { readonly session?: string };
      if (session === undefined) throw new Error(`the list was refused: ${sent.body}`);
      for (;;) {
        await sleep(POLL_MS);
        const { body, headers: said } = await service.get(`/api/view/${session}/csv`, headers);
        if (said["content-type"]?.startsWith("application/json") === true) continue;
        const seconds = (performance.now() - startMs) / 1_000;
        return { seconds, inconclusive: body.split("dns_indeterminate").length - 1 };
      }
    },
    stop: () => service.stop().finally(() => home.remove()),
  };
}
