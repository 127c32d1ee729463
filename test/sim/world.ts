import { seedNode } from "./one-thread.ts";
import { createHash } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqlAccounts } from "../../src/adapters/sql/account/accounts.ts";
import { sqlSignIns } from "../../src/adapters/sql/account/sign-ins.ts";
import { sqlOutcomes } from "../../src/adapters/sql/policy/outcomes.ts";
import { sqlPolicyStore } from "../../src/adapters/sql/policy/policy-store.ts";
import { openStoredLists } from "../../src/main/feeds/lists.ts";
import { openDns } from "../../src/main/parts/dns.ts";
import { openAccountStore } from "../../src/main/parts/store.ts";
import { openWebhooks } from "../../src/main/parts/webhooks.ts";
import { openProcess, type Process } from "../../src/main/process/open-process.ts";
import { startServer } from "../../src/main/server.ts";
import { openSecretKey } from "../../src/main/settings/secret-key.ts";
import { type Config, readConfig } from "../../src/main/settings/config.ts";
import { startWorker } from "../../src/main/worker.ts";
import { createSignIns } from "../../src/service/account/sign-ins.ts";
import { DEFAULT_TIERS } from "../../src/service/admission/tiers.ts";
import { createPolicyService } from "../../src/service/policy/policies.ts";
import { Chance } from "./chance.ts";
import { type Ground, type Host, type Received, simulatedMachine } from "./machine.ts";
import { SimulatedRedis } from "./redis/simulated-redis.ts";
import { SimulatedStore } from "./store.ts";
import { type Lifetime, Timeline } from "./timeline.ts";

export interface WorldOptions {
  readonly seed: number;
  readonly servers: number;
  /** None: one embedded server. */
  readonly workers: number;
  /** Gets every line of the trace. */
  readonly trace?: (line: string) => void;
}

export interface Request {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly from: string;
}

export interface Reply {
  /** 0: the line was cut before an answer came. */
  readonly status: number;
  readonly body: string;
  readonly retryAfter: number | undefined;
}

const WRITES = /^(?:insert|update|delete) /;

const CUT: Reply = { status: 0, body: "", retryAfter: undefined };

const folder = mkdtempSync(join(tmpdir(), "gatepost-sim-"));
const tiersFile = join(folder, "tiers.json");
writeFileSync(tiersFile, JSON.stringify({ free: { daily: 12 }, anonymous: { daily: 16 } }));

const SETTINGS = {
  GATEPOST_DATA_DIR: join(folder, "none"),
  GATEPOST_DNS_SERVERS: "192.0.2.53",
  GATEPOST_LISTS_REFRESH: "off",
  GATEPOST_PUBLIC_URL: "http://gatepost.test",
  GATEPOST_SECRET_KEY: Buffer.alloc(32, 7).toString("base64"),
  GATEPOST_TIERS_FILE: tiersFile,
  PORT: "0",
} as const;

const SCALED = { DATABASE_URL: "postgres://db.test/sim", REDIS_URL: "redis://redis.test" } as const;

/** When a fault comes that waits for what its process does. */
export interface Moment {
  /** Writes to this table are let pass first, and then steps before and after statements. */
  readonly table?: string;
  writesLeft: number;
  stepsLeft: number;
  readonly strike: () => void;
}

/** One place where a server or worker runs, again and again. */
export interface Place {
  readonly kind: "server" | "worker";
  readonly name: string;
  host: Host | undefined;
  starts: number;
  moment: Moment | undefined;
  readonly cut: Set<() => void>;
}

/** What operators do at the command line, on the same stores; this process never dies. */
async function openOperator(process: Process) {
  const store = await openAccountStore(process);
  const dns = openDns(process.config, "interactive", { machine: process.machine });
  const { setup } = openWebhooks(process, {
    sql: store.sql,
    secretKey: await openSecretKey(process.config, store.sql),
    addresses: dns.addresses,
    sent: "elsewhere",
  });
  const { operator } = await openStoredLists(process, store);
  const { clock, ids } = process;
  const { db } = store.sql;
  const policies = createPolicyService({
    store: sqlPolicyStore(db),
    outcomes: sqlOutcomes(db),
    tiers: DEFAULT_TIERS,
    clock,
    notices: store.notices,
  });
  const [sessions, accounts] = [sqlSignIns(db), sqlAccounts(db)];
  const signIns = createSignIns({ sessions, accounts, ids, clock });
  return { ...store, setup, rules: operator, policies, signIns };
}

export type Operator = Awaited<ReturnType<typeof openOperator>>;

/** Servers, workers, stores, name servers and receivers under one seed. */
export class World {
  readonly timeline = new Timeline();
  readonly chance: Chance;
  readonly store: SimulatedStore;
  readonly redis: SimulatedRedis;
  readonly names = { silentUntilMs: 0, isEbb: false };
  /** Webhooks since the last rest. */
  readonly received: Received[] = [];
  /** How often a session was announced. */
  readonly told = new Map<string, number>();
  /** Faults that a process logged. */
  readonly logged = new Map<string, number>();
  readonly places: readonly Place[];
  /** Several processes share the stores. */
  readonly isScaled: boolean;
  /** Starts that failed; none should, but while the store fails. */
  readonly failedStarts: unknown[] = [];
  kills = 0;
  readonly #ground: Ground;
  readonly #config: Config;
  readonly #hash = createHash("sha256");
  readonly #trace: (line: string) => void;

  constructor({ seed, servers, workers, trace = () => undefined }: WorldOptions) {
    seedNode(seed);
    this.chance = new Chance(seed);
    this.#trace = trace;
    this.isScaled = workers > 0;
    this.store = new SimulatedStore(this.timeline, this.chance.fork(), this.isScaled);
    this.redis = new SimulatedRedis(this.timeline, this.chance.fork());
    this.#config = readConfig(this.isScaled ? { ...SETTINGS, ...SCALED } : SETTINGS);
    this.#ground = {
      timeline: this.timeline,
      chance: this.chance.fork(),
      store: this.store,
      redis: this.redis,
      names: this.names,
      lock: { holder: undefined },
      receive: (webhook) => this.#receive(webhook),
      trace: (line) => this.note(line),
      logged: (_life, _level, event) => {
        this.logged.set(event, (this.logged.get(event) ?? 0) + 1);
      },
    };
    const place = (kind: Place["kind"], index: number): Place => {
      const name = `${kind}${String(index)}`;
      return { kind, name, host: undefined, starts: 0, moment: undefined, cut: new Set() };
    };
    this.places = [
      ...Array.from({ length: workers === 0 ? 1 : servers }, (_, index) => place("server", index)),
      ...Array.from({ length: workers }, (_, index) => place("worker", index)),
    ];
  }

  /** Adds a line to the trace, which tells two runs of one seed apart. */
  note(line: string): void {
    const text = `${this.timeline.nowMs.toFixed(3)} ${line}`;
    this.#hash.update(text).update("\n");
    this.#trace(text);
  }

  hash(): string {
    return this.#hash.copy().digest("hex");
  }

  async operator(): Promise<Operator> {
    const life: Lifetime = { name: "operator", isAlive: true, frozenUntilMs: 0, skewMs: 0 };
    const host: Host = { life, step: () => undefined, app: undefined };
    const machine = simulatedMachine(this.#ground, host);
    // The teller would open a real connection; notices of commands may be lost anyway.
    const { redisUrl: _, ...config } = this.#config;
    const opened = await openProcess({ ...config, redisUrl: undefined }, { machine }, openOperator);
    this.store.watchChunks();
    return opened;
  }

  /** Starts what does not run; a start that fails is tried again a second later. */
  start(place: Place): void {
    place.starts += 1;
    place.moment = undefined;
    const name = `${place.name}.${String(place.starts)}`;
    const life: Lifetime = { name, isAlive: true, frozenUntilMs: 0, skewMs: 0 };
    const host: Host = { life, step: (sql) => this.#step(place, host, sql), app: undefined };
    place.host = host;
    this.note(`${name} starts`);
    const machine = simulatedMachine(this.#ground, host);
    const started =
      place.kind === "server"
        ? startServer(this.#config, { machine })
        : startWorker(this.#config, { machine });
    started.catch((fault: unknown) => {
      if (!life.isAlive) return;
      this.failedStarts.push(fault);
      this.note(`${name} did not start`);
      life.isAlive = false;
      this.timeline.after(undefined, 1_000, () => this.start(place));
    });
  }

  /** Ends the process as SIGKILL does, and starts another one later. */
  kill(place: Place, restartMs: number): void {
    const life = place.host?.life;
    if (life?.isAlive !== true) return;
    this.kills += 1;
    this.note(`${life.name} is killed`);
    life.isAlive = false;
    place.host = undefined;
    this.store.died(life);
    this.redis.died(life);
    for (const cut of place.cut) cut();
    place.cut.clear();
    this.timeline.after(undefined, restartMs, () => this.start(place));
  }

  #step(place: Place, { life }: Host, sql: string): void {
    const { moment } = place;
    if (!life.isAlive || moment === undefined) return;
    if (moment.writesLeft > 0) {
      const { table = "" } = moment;
      if (WRITES.test(sql) && sql.includes(`"${table}"`)) moment.writesLeft -= 1;
      if (moment.writesLeft > 0) return;
    }
    moment.stepsLeft -= 1;
    if (moment.stepsLeft > 0) return;
    place.moment = undefined;
    moment.strike();
  }

  #receive(webhook: Received): number {
    this.note(`receiver ${webhook.url}`);
    this.received.push(webhook);
    return 200;
  }

  /** Everything stands still for so long. */
  leap(ms: number): void {
    this.timeline.leap(ms);
    this.store.stoodStill();
  }

  /** A server that takes requests; undefined while none does. */
  serving(): Place | undefined {
    const up = this.places.filter(({ host }) => host?.app !== undefined && host.life.isAlive);
    return up.length === 0 ? undefined : this.chance.pick(up);
  }

  /** Sends a request over the network; `status` 0 when no server is there or the line is cut. */
  async ask(request: Request): Promise<Reply> {
    await this.timeline.sleep(this.chance.between(1, 30));
    const place = this.serving();
    const host = place?.host;
    if (place === undefined || host?.app === undefined) return CUT;
    const { app, life } = host;
    const { method, url, headers = {}, body, from } = request;
    const reply = new Promise<Reply>((resolve) => {
      const cut = (): void => resolve(CUT);
      place.cut.add(cut);
      const answer = async (): Promise<void> => {
        const answered = await app.inject({
          method,
          url,
          headers: { host: "gatepost.test", ...headers },
          ...(body !== undefined && { payload: body }),
          remoteAddress: from,
        });
        if (!life.isAlive) return;
        place.cut.delete(cut);
        const { statusCode: status, body: text, headers: given } = answered;
        const retry = given["retry-after"];
        const retryAfter = retry === undefined ? undefined : Number(retry);
        resolve({ status, body: text, retryAfter });
      };
      this.timeline.after(life, 0, () => void answer());
    });
    const given = await reply;
    await this.timeline.sleep(this.chance.between(1, 30));
    return given;
  }
}
