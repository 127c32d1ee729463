import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { openEmbedded, type SqlDatabase } from "../../src/store/database.ts";
import { startDnsServer } from "../dns/dns-server.ts";
import { type Home, makeHome, type Settings } from "../e2e/service-process.ts";
import { testAuthority } from "../process/certificates.ts";
import { startPostgres } from "../services/postgres.ts";
import { openPatiently } from "../services/with-postgres.ts";
import { RECEIVER_ADDRESS } from "./fate.ts";
import { zone } from "./entries.ts";
import { Place } from "./places.ts";
import { openReceiver, type Receiver } from "./receiver.ts";

export const SECRET_KEY = Buffer.alloc(32, 7);

/** Servers, workers and stores as processes, with name servers and a receiver of webhooks. */
export interface Ground {
  readonly kind: "sqlite" | "postgresql";
  readonly home: Home;
  readonly places: readonly Place[];
  /** One more place, for another checkout's program. */
  place(command: Place["command"], program?: string): Place;
  readonly receiver: Receiver;
  readonly dataDir: string;
  /** Undefined: the embedded database in `dataDir`. */
  readonly databaseUrl: string | undefined;
  /** Kills PostgreSQL and starts it again. */
  killDatabase(): Promise<void>;
  /** Opens the same store beside the processes for `work`. */
  look<T>(work: (sql: SqlDatabase) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Rates would hold the clients up; "starter" pays by credits, but for its first unit of a day. */
const TIERS = {
  pro: { rate_per_minute: null, daily: null, monthly: null },
  starter: { rate_per_minute: null, daily: 1, monthly: null },
};

type Closing = (() => Promise<void> | void)[];

export async function openGround(kind: Ground["kind"]): Promise<Ground> {
  const closing: Closing = [];
  const dns = await startDnsServer(zone);
  const receiver = await openReceiver();
  closing.push(
    () => dns.close(),
    () => receiver.close(),
  );
  const postgres = kind === "postgresql" ? await startPostgres() : undefined;
  if (postgres !== undefined) closing.push(() => postgres.close());
  const url = await postgres?.createDatabase();
  const home = makeHome({
    ...(url !== undefined && { DATABASE_URL: url }),
    GATEPOST_SECRET_KEY: SECRET_KEY.toString("base64"),
    GATEPOST_DNS_SERVERS: `127.0.0.1:${String(dns.port)}`,
    GATEPOST_DNS_CANARIES: "off",
    LOG_LEVEL: "warn",
  });
  closing.push(() => home.remove());
  const file = (name: string): string => join(home.directory, "test", name);
  mkdirSync(join(home.directory, "test"));
  writeFileSync(file("tiers.json"), JSON.stringify(TIERS));
  writeFileSync(file("authority.pem"), testAuthority);
  const settings: Settings = {
    ...home.settings,
    GATEPOST_TIERS_FILE: file("tiers.json"),
    NODE_EXTRA_CA_CERTS: file("authority.pem"),
  };
  const fate = {
    KILL_RECEIVER_PORT: String(receiver.port),
    ...(kind === "sqlite" && {
      KILL_DATABASE: join(home.directory, "gatepost.db"),
      KILL_SYNCED: file("synced"),
    }),
  };
  const made = { ...home, settings };
  const place: Ground["place"] = (command, program) => {
    const order = file(`order-${command}-${String(all.length)}`);
    const from = program === undefined ? made : { ...made, program };
    const one = new Place(command, from, { ...fate, KILL_ORDER: order });
    all.push(one);
    return one;
  };
  const all: Place[] = [];
  const commands =
    kind === "sqlite" ? (["serve"] as const) : (["serve", "serve", "worker", "worker"] as const);
  const places = commands.map((command) => place(command));
  closing.push(async () => {
    await Promise.all(all.map((one) => one.stop("SIGKILL")));
  });
  return {
    kind,
    home: made,
    places,
    place,
    receiver,
    dataDir: home.directory,
    databaseUrl: url,
    async killDatabase() {
      await postgres?.stop("kill");
      await postgres?.start();
    },
    look: (work) => lookInto(home.directory, url, work),
    async close() {
      for (const close of closing.reverse()) await close();
      rmSync(home.directory, { recursive: true, force: true });
    },
  };
}

async function lookInto<T>(
  dataDir: string,
  url: string | undefined,
  work: (sql: SqlDatabase) => Promise<T>,
): Promise<T> {
  const look = async (): Promise<T> => {
    const nowMs = Date.now();
    const sql = await (url === undefined
      ? openEmbedded(dataDir, nowMs)
      : openPatiently(url, nowMs));
    try {
      return await work(sql);
    } finally {
      await sql.close();
    }
  };
  const seen = await look();
  // On Node 20 a closed database stays open until its statements are collected. It would take part in the next start,
  // with what it knows of a log that was cut meanwhile.
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  await setImmediate();
  return seen;
}

/** Where an account's webhooks go. */
export const RECEIVER_URL = `https://${RECEIVER_ADDRESS}/hook`;
