import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import type { SqlDatabase } from "../../src/store/database.ts";
import type { ServedZone } from "../dns/dns-zone.ts";
import { openTestStore } from "../process/test-process.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";
import { openScaledWorld, type ScaledProcess, type ScaledWorld } from "../scaled/scaled-world.ts";
import { type Home, gatepost, type ServiceProcess, startService } from "./service-process.ts";
import { createAccount, startServiceWorld, type WorldPlan } from "./service-world.ts";

const RATE = { rate_per_minute: 100_000 };

/** What a kill may lose, and how late another server may see it. */
export const LATE_MS = 2_500;
export const HOUR_MS = 3_600_000;
const AT_ONCE = 10;

/** Servers of one store, of which each question names one. */
export interface Servers {
  readonly url: (server: 0 | 1) => string;
  /** Ends the first as a power cut would, and starts it again. While it is away, `meanwhile` may change the store. */
  readonly kill: (meanwhile: (database: SqlDatabase) => Promise<void>) => Promise<void>;
  /** Waits until they wrote what they counted: a busy machine takes longer than the second that a kill may cost. */
  readonly written: () => Promise<void>;
}

export async function answerOf(
  url: string,
  path: string,
  key: string,
  body: Record<string, string>,
) {
  const headers = { "x-api-key": key };
  const init = { method: "POST", body: new URLSearchParams(body), headers };
  const reply = await fetch(`${url}${path}`, init);
  assert.equal(reply.status, 200);
  return (await reply.json()) as Answer;
}

interface Answer {
  readonly decision: string;
  readonly reason: string;
  readonly retry_after?: number;
  readonly mailbox?: { readonly seen?: number };
  readonly counts?: Readonly<Record<string, unknown>>;
}

const TRIES = 50;

const DEADLINE = "5000";
/** A message that servers of one store could not count in time waits for so many seconds, and counts for nothing. */
const UNCOUNTED_SECONDS = 5;

/**
 * A busy machine may not have read its counts in time, and says so. Who signs up is asked about again then: it counts once.
 * A message does not: the fourth in ten minutes is refused, and what was said of the one before holds.
 */
async function decided(url: string, key: string, asked: Readonly<Record<string, string>>) {
  const names = Object.keys(JSON.parse(asked["count_by"] ?? "{}") as object);
  let before: Answer | undefined;
  for (let left = TRIES; ; left -= 1) {
    const answer = await answerOf(url, "/api/decide", key, asked);
    const { mailbox, counts, decision, reason, retry_after: seconds = Infinity } = answer;
    const isPatient = asked["deadline_ms"] === DEADLINE;
    if (isPatient && reason === "too_often" && seconds <= UNCOUNTED_SECONDS && left > 0) continue;
    if (before !== undefined && reason === "too_often") return before;
    before = answer;
    const isCounted = mailbox?.seen !== undefined && names.every((name) => counts?.[name]);
    if (asked["for"] === "send" || decision !== "accept" || isCounted) return answer;
    assert.ok(left > 0, `no counts of ${JSON.stringify(answer)}`);
  }
}

export type Said = Readonly<Record<string, number>>;

/** Asks a server about this many mailboxes, from the number `from` on. */
export function asker(
  { url }: Pick<Servers, "url">,
  key: string,
  { email, more = () => ({ for: "send" }) }: Pick<Replay, "email" | "more">,
) {
  return async (server: 0 | 1, from: number, count: number): Promise<Said> => {
    const said: Record<string, number> = {};
    let next = from;
    const asking = async (): Promise<void> => {
      while (next < from + count) {
        const at = next++;
        const asked = { email: email(at), deadline_ms: DEADLINE, ...more(at) };
        const { decision, reason } = await decided(url(server), key, asked);
        said[`${decision} ${reason}`] = (said[`${decision} ${reason}`] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, asking));
    return said;
  };
}

export type Ask = ReturnType<typeof asker>;

export interface Replay {
  readonly email: (at: number) => string;
  /** What is asked besides; absent: whether a message may be sent. */
  readonly more?: (at: number) => Readonly<Record<string, string>>;
  /** After each but the last a server is killed. */
  readonly parts: readonly [(ask: Ask) => unknown, (ask: Ask) => unknown, (ask: Ask) => unknown];
  /** What becomes of the store while a server is dead after this part. */
  readonly meanwhile?: (db: SqlDatabase["db"], accountId: string, part: 0 | 1) => Promise<unknown>;
}

export async function says(asked: Promise<Said>, want: string): Promise<void> {
  assert.deepEqual(Object.keys(await asked), [want]);
}

/** Two servers at once. */
export async function together(asked: readonly Promise<Said>[]): Promise<Said> {
  const sum: Record<string, number> = {};
  for (const said of await Promise.all(asked))
    for (const [what, count] of Object.entries(said)) sum[what] = (sum[what] ?? 0) + count;
  return sum;
}

export interface ReplayAccount {
  readonly id: string;
  readonly key: string;
}

/** One after the other, each by an account of its own: what a server cannot read in time it does not count. */
async function replayAll(
  replays: Readonly<Record<string, Replay>>,
  servers: Servers,
  accounts: readonly ReplayAccount[],
): Promise<void> {
  const all = Object.values(replays).map((replay, at) => {
    const { id, key } = accounts[at] ?? assert.fail();
    return { ...replay, id, ask: asker(servers, key, replay) };
  });
  for (const part of [0, 1, 2] as const) {
    for (const { parts, ask } of all) await parts[part](ask);
    if (part === 2) return;
    await servers.written();
    await servers.kill(async ({ db }) => {
      for (const { id, meanwhile } of all) await meanwhile?.(db, id, part);
    });
  }
}

async function untilWritten({ db }: SqlDatabase): Promise<void> {
  const said: string[] = [];
  while (said.length < 3 || said.at(-1) !== said.at(-3)) {
    const { rows } = await sql`select count(*), sum(count) from traffic`.execute(db);
    said.push(JSON.stringify(rows));
    await pause(LATE_MS / 2);
  }
}

export interface Replayed {
  readonly url: string;
  /** One of each replay, in order. */
  readonly accounts: readonly ReplayAccount[];
}

interface OneServer extends Replayed {
  readonly home: Home;
  readonly service: ServiceProcess;
}

/** The replays on one embedded server that is killed; `atKill` looks at what it leaves. */
export async function replayOnOne(
  replays: Readonly<Record<string, Replay>>,
  plan: WorldPlan & { readonly hasLog?: boolean },
  then: (world: OneServer) => Promise<void>,
  atKill: (world: Omit<OneServer, keyof Replayed>) => void = () => undefined,
): Promise<void> {
  const accounts: ReplayAccount[] = [];
  const { home, service, close } = await startServiceWorld({
    ...plan,
    tiers: { pro: RATE },
    prepare(made) {
      for (const at of Object.keys(replays).keys()) {
        const { account_id: id, api_key: key } = createAccount(made, `a${String(at)}@shop.example`);
        if (plan.hasLog) assert.equal(gatepost(made, ["account", "log", id, "on"]).code, 0);
        accounts.push({ id, key });
      }
    },
  });
  let now = service;
  try {
    const servers: Servers = {
      url: () => now.url,
      async written() {
        const store = await openTestStore(home.directory);
        await untilWritten(store.sql);
        await store.close();
      },
      async kill(meanwhile) {
        await now.stop("SIGKILL");
        atKill({ home, service: now });
        const store = await openTestStore(home.directory);
        await meanwhile(store.sql);
        await store.close();
        now = await startService(home);
      },
    };
    await replayAll(replays, servers, accounts);
    await then({ home, service: now, url: now.url, accounts });
  } finally {
    await now.stop("SIGKILL");
    await close();
  }
}

interface TwoServers extends Replayed {
  readonly world: ScaledWorld;
  readonly servers: Servers;
  /** Stops both; what they and the killed ones logged. */
  readonly stop: () => Promise<string>;
}

/** The replays on two servers of one PostgreSQL, of which the first is killed. */
export async function replayOnTwo(
  replays: Readonly<Record<string, Replay>>,
  {
    zone,
    settings = {},
    hasLog = false,
  }: {
    readonly zone: ServedZone;
    readonly settings?: Readonly<Record<string, string>>;
    readonly hasLog?: boolean;
  },
  then: (world: TwoServers) => Promise<void>,
): Promise<void> {
  const tiers = join(temporaryFolder(), "tiers.json");
  writeFileSync(tiers, JSON.stringify({ pro: RATE }));
  const environment = { GATEPOST_TIERS_FILE: tiers, ...settings };
  const world = await openScaledWorld({ zone, environment });
  try {
    let one = await world.start({ command: "serve" });
    const two = await world.start({ command: "serve" });
    let log = "";
    const servers: Servers = {
      url: (server) => (server === 0 ? one : two).url,
      written: () => untilWritten(world.sql),
      async kill(meanwhile) {
        await one.stop("SIGKILL");
        log += one.text();
        await meanwhile(world.sql);
        one = await world.start({ command: "serve" });
      },
    };
    const accounts: ReplayAccount[] = [];
    for (const _ of Object.keys(replays)) {
      const { accountId: id, apiKey: key } = await world.account("pro");
      if (hasLog) await world.store.switches.switchLog(id, "on");
      accounts.push({ id, key });
    }
    await replayAll(replays, servers, accounts);
    const stop = async (): Promise<string> => {
      const running: readonly ScaledProcess[] = [one, two];
      for (const server of running) await server.stop("SIGTERM");
      return log + one.text() + two.text();
    };
    await then({ world, servers, url: two.url, accounts, stop });
  } finally {
    await world.close();
  }
}
