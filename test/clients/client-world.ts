import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gatepost } from "../e2e/service-process.ts";
import { DOCS_ZONE } from "../e2e/docs-zone.ts";
import { createAccount, startServiceWorld } from "../e2e/service-world.ts";
import { startFaultProxy } from "./fault-proxy.ts";

/** What the tests of client libraries need, as JSON. */
export interface ClientWorld {
  /** The real service, with the zone of the documents. */
  readonly service: string;
  /** Of an account on the highest tier, with the policy "strict". */
  readonly key: string;
  readonly account: string;
  readonly tokenSecret: string;
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
  const many = { rate_per_minute: 1_000_000 };
  let key = "";
  let account = "";
  let tokenSecret = "";
  let faults: ClientWorld["faults"] = {};
  const { service, close } = await startServiceWorld({
    zone: { ...DOCS_ZONE, "gmaill.com": { mx: ["10 mx1.mail.example"] } },
    tiers: { anonymous: many, pro: many },
    prepare(home) {
      ({ api_key: key, account_id: account } = createAccount(home, "jo@good.example"));
      const made = gatepost(home, ["account", "token-secret", account, "--json"]);
      tokenSecret = (JSON.parse(made.out) as { readonly token_secret: string }).token_secret;
      const policy = join(home.directory, "strict.json");
      writeFileSync(policy, JSON.stringify(STRICT));
      const set = ["policy", "set", "jo@good.example", policy, "--name", "strict"];
      assert.equal(gatepost(home, set).code, 0);
    },
    async begin(world) {
      world.atEnd(() => world.service.stop("SIGKILL"));
      const proxy = await startFaultProxy(world.service.url);
      world.atEnd(() => proxy.close());
      faults = proxy.urls;
    },
  });
  const kill = async (): Promise<void> => void (await service.stop("SIGKILL"));
  return { service: service.url, key, account, tokenSecret, faults, kill, close };
}
