import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import { forkDnsServer } from "../dns/dns-server.ts";
import type { ServedZone } from "../dns/dns-zone.ts";
import { DOCS_ZONE } from "./docs-zone.ts";
import {
  gatepost,
  type Home,
  makeHome,
  type ServiceProcess,
  type Settings,
  startService,
} from "./service-process.ts";

export interface WorldPlan {
  /** What the name server answers; without it, the zone of the documents. */
  readonly zone?: ServedZone;
  readonly settings?: Settings;
  /** The content of a tiers file. */
  readonly tiers?: unknown;
  /** Makes accounts and rules, before the service starts. */
  readonly prepare?: (home: Home) => void;
  /** Starts or makes the rest, with the running service. A file's own `before` would run beside the world's. */
  readonly begin?: (world: ServiceWorld) => unknown;
}

export interface ServiceWorld {
  readonly home: Home;
  readonly service: ServiceProcess;
  /** Runs this first when the world ends. */
  readonly atEnd: (end: () => unknown) => void;
}

/**
 * A name server, a home that asks it, and the service in this home. The name server is a separate process, because
 * this one blocks while a command runs. What was started ends by `close`, or when a later part fails to start.
 */
export async function startServiceWorld(
  plan: WorldPlan = {},
): Promise<ServiceWorld & { readonly close: () => Promise<void> }> {
  const ends: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    const dns = await forkDnsServer(plan.zone ?? DOCS_ZONE);
    ends.push(() => dns.close());
    const home = worldHome(plan, dns.port);
    ends.push(() => home.remove());
    plan.prepare?.(home);
    const service = await startService(home);
    ends.push(() => service.stop());
    const world: ServiceWorld = { home, service, atEnd: (end) => void ends.push(end) };
    await plan.begin?.(world);
    return { ...world, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function worldHome({ settings, tiers }: WorldPlan, dnsPort: number): Home {
  const home = makeHome({ GATEPOST_DNS_SERVERS: `127.0.0.1:${String(dnsPort)}`, ...settings });
  if (tiers === undefined) return home;
  const file = join(home.directory, "tiers.json");
  writeFileSync(file, JSON.stringify(tiers));
  return { ...home, settings: { ...home.settings, GATEPOST_TIERS_FILE: file } };
}

/** Starts a world before the tests of this suite or file, and ends it after them. */
export function serviceWorld(plan: WorldPlan = {}): ServiceWorld {
  let world: Awaited<ReturnType<typeof startServiceWorld>> | undefined;
  before(async () => {
    world = await startServiceWorld(plan);
  });
  after(() => world?.close());
  const started = (): ServiceWorld => world ?? assert.fail("the world did not start");
  return {
    get home() {
      return started().home;
    },
    get service() {
      return started().service;
    },
    atEnd: (end) => started().atEnd(end),
  };
}

export interface Account {
  readonly account_id: string;
  readonly api_key: string;
}

/** Makes an account by the command; without words, on the tier "pro". */
export function createAccount(
  home: Home,
  email: string,
  words: readonly string[] = ["--tier", "pro"],
  input = "",
): Account {
  const ran = gatepost(home, ["account", "create", email, "--json", ...words], input);
  assert.equal(ran.code, 0, ran.err);
  return JSON.parse(ran.out) as Account;
}
