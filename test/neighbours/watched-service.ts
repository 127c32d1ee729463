import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { AccountTier } from "../../src/accounts/accounts-store.ts";
import { type Home, makeHome, startService } from "../e2e/service-process.ts";
import { openTestStore } from "../process/test-process.ts";
import type { Outside } from "./outside.ts";
import type { Watched } from "./watch.ts";

/** What Node takes by itself of the 1 GiB that compose, chart and unit allow. */
const HEAP_MB = 512;

const PRELOAD = new URL("./watch.js", import.meta.url).href;

/** A real server with the shipped limits, whose memory and longest turn are watched. */
export interface WatchedService {
  readonly port: number;
  /** A key without limits. */
  readonly victimKey: string;
  /** Keys of separate accounts with the limits of their plans. */
  readonly keys: Readonly<Record<"free" | "starter", readonly string[]>>;
  readonly isRunning: () => boolean;
  /** Since the last call. */
  watched(): Promise<Watched>;
  stop(): Promise<void>;
}

export interface WatchedOptions {
  /** "127.0.0.1:port". */
  readonly dns: string;
  /** Keys of each plan. */
  readonly keys: number;
  readonly outside?: Outside | undefined;
}

export async function startWatched({
  dns,
  keys,
  outside,
}: WatchedOptions): Promise<WatchedService> {
  const home = makeHome({ GATEPOST_DNS_SERVERS: dns, GATEPOST_DNS_CANARIES: "off" });
  const tiers = join(home.directory, "tiers.json");
  // Each round stands for a day of its own: no quota is used up.
  const plans = {
    free: { daily: null, monthly: null },
    pro: { rate_per_minute: null },
    starter: { premium: true },
  };
  writeFileSync(tiers, JSON.stringify(plans));
  const made = await makeKeys(home, keys, outside);
  const socket = join(home.directory, "watch.sock");
  const settings = {
    ...outside?.settings,
    GATEPOST_TIERS_FILE: tiers,
    NODE_OPTIONS: `--max-old-space-size=${String(HEAP_MB)} --import=${PRELOAD}`,
    WATCH_SOCKET: socket,
  };
  const service = await startService(home, settings, { stdout: "ignore" });
  const end = (): void => {
    service.child.kill("SIGKILL");
    home.remove();
  };
  process.once("exit", end); // also when this program fails or is interrupted
  return {
    ...made,
    port: Number(new URL(service.url).port),
    isRunning: () => service.child.exitCode === null && service.child.signalCode === null,
    watched: async () => JSON.parse(await text(connect(socket))) as Watched,
    async stop() {
      process.off("exit", end);
      await service.stop("SIGKILL");
      home.remove();
    },
  };
}

interface Made {
  readonly id: string;
  readonly key: string;
}

async function makeKeys(
  { directory }: Home,
  count: number,
  outside: Outside | undefined,
): Promise<Pick<WatchedService, "victimKey" | "keys">> {
  const store = await openTestStore(directory);
  const make = async (name: string, tier: AccountTier): Promise<Made> => {
    const email = `${name}@accounts.example`;
    const created = await store.accounts.create({
      email,
      tier,
      origin: "operator",
      isAdmin: false,
    });
    if (created.kind !== "created") throw new Error(created.kind);
    const key = await store.keys.create(created.account.id, "neighbours");
    return { id: created.account.id, key: key.apiKey };
  };
  const several = async (tier: AccountTier): Promise<readonly Made[]> => {
    const made: Made[] = [];
    for (let at = 0; at < count; at += 1) made.push(await make(`${tier}-${String(at)}`, tier));
    return made;
  };
  try {
    const victim = await make("victim", "pro");
    const [free, starter] = [await several("free"), await several("starter")];
    const freeIds = free.map(({ id }) => id);
    await outside?.prepare({ directory, store, victimId: victim.id, freeIds });
    const keysOf = (made: readonly Made[]): readonly string[] => made.map(({ key }) => key);
    return { victimKey: victim.key, keys: { free: keysOf(free), starter: keysOf(starter) } };
  } finally {
    await store.close();
  }
}
