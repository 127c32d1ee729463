import { argonPasswords } from "../../src/accounts/sign-in/passwords.ts";
import { ListReader } from "../../src/bulk/lists/list-reader.ts";
import type { App } from "../../src/http/server.ts";
import type { Machine } from "../../src/main/process.ts";
import { loadLists } from "../../src/lists/load-lists.ts";
import type { SqlDatabase } from "../../src/store/database.ts";
import { openBulkWork } from "../../src/main/threads/bulk-work.ts";
import type {
  BulkThread,
  BulkThreadDeps,
  BulkThreadSettings,
} from "../../src/main/threads/bulk-thread.ts";
import { splitText } from "../../src/core/batch/batch-chunk.ts";
import { finish } from "../bulk/finish.ts";
import { readFile } from "../../src/http/api/read-file.ts";
import { decodeBody } from "../../src/http/decode.ts";
import type { Ids } from "../../src/base/ids.ts";
import type { Log } from "../../src/base/log.ts";
import type { Chance } from "./chance.ts";
import { type NameFaults, simulatedResolver } from "./names.ts";
import type { SimulatedStore } from "./store/store.ts";
import type { Lifetime, Timeline } from "./timeline.ts";

type BulkWork = Awaited<ReturnType<typeof openBulkWork>>;

/** A webhook as it arrived. */
export interface Received {
  readonly url: string;
  readonly signature: string;
  readonly body: string;
}

/** What a simulated process stands on. */
export interface Ground {
  readonly timeline: Timeline;
  readonly chance: Chance;
  readonly store: SimulatedStore;
  readonly names: NameFaults;
  /** Who serves, of those that may be but one. */
  readonly lock: { holder: Lifetime | undefined };
  /** A webhook arrives at its receiver; the status it answers. */
  readonly receive: (webhook: Received) => number;
  readonly trace: (line: string) => void;
  readonly logged: (life: Lifetime, level: "warn" | "error", event: string) => void;
}

export interface Host {
  readonly life: Lifetime;
  readonly step: (sql: string) => void;
  /** How many migrations of later versions its program has. */
  readonly later: number;
  app: App | undefined;
  /** Requests that have no answer yet. */
  underWay: number;
  /** It takes no requests any more. */
  isStopping: boolean;
  /** Ends it as SIGTERM does; absent until it has started. */
  stop: (() => Promise<void>) | undefined;
}

export const newHost = (known: Pick<Host, "life" | "step" | "later">): Host => ({
  ...known,
  app: undefined,
  underWay: 0,
  isStopping: false,
  stop: undefined,
});

const lists = loadLists();

/** The machine under one simulated process. */
export function simulatedMachine(ground: Ground, host: Host): Machine {
  const { timeline, chance, store } = ground;
  const { life } = host;
  const clock = timeline.clockOf(life);
  const ids: Ids = {
    bytes: (count) => chance.bytes(count),
    hex32: () => Buffer.from(chance.bytes(16)).toString("hex"),
  };
  const openStore = (): Promise<SqlDatabase> => store.open(host);
  const lines = (level: "warn" | "error", event: string): void => {
    if (!life.isAlive) return;
    ground.trace(`${life.name} ${level} ${event}`);
    ground.logged(life, level, event);
  };
  const log: Log = {
    info: () => undefined,
    warn: (event) => lines("warn", event),
    error: (event) => lines("error", event),
  };
  const machine: Machine = {
    clock,
    ids,
    openLog: () => log,
    passwords: argonPasswords,
    openSqlite: openStore,
    openPostgres: () => Promise.reject(new Error("the simulated world is embedded")),
    lockForServing() {
      if (ground.lock.holder?.isAlive === true) throw new Error("another process serves");
      ground.lock.holder = life;
      return () => {
        if (ground.lock.holder === life) ground.lock.holder = undefined;
      };
    },
    openResolver: (options) =>
      simulatedResolver(options, { timeline, chance, faults: ground.names }),
    openOutbound: () => ({
      http: () => Promise.resolve({ ok: false, fault: "unreachable" }),
    }),
    openWebhookSender: () => ({
      async post({ url, body, signature }) {
        await new Promise<void>((go) => void clock.after(chance.between(5, 200), go));
        const status = ground.receive({ url, signature, body: Buffer.from(body).toString() });
        await new Promise<void>((go) => void clock.after(chance.between(5, 200), go));
        return { ok: true, value: { status, headers: {}, body: new Uint8Array(), cut: false } };
      },
    }),
    loadLists: () => lists,
    startBulkThread: (settings, deps) => simulatedThread(machine, settings, deps),
    openTexts: () => ({
      split: ({ text, entriesMax }) =>
        Promise.resolve(finish(splitText(text, entriesMax ?? Infinity))),
      decode: decodeBody,
      readFile,
      lists: new ListReader(),
      close: () => Promise.resolve(),
    }),
    async listen(app, _address, { limits: { stopTimeoutMs } }) {
      await Promise.resolve();
      host.app = app;
      const stop = async (): Promise<void> => {
        const endMs = timeline.nowMs + stopTimeoutMs;
        while (host.underWay > 0 && timeline.nowMs < endMs)
          await new Promise<void>((go) => void clock.after(20, go));
        app.stop();
      };
      return { url: `http://${life.name}`, port: 80, stop };
    },
  };
  return machine;
}

/** The bulk thread as a part of the process itself; one that cannot start is started again a second later. */
function simulatedThread(
  machine: Machine,
  settings: BulkThreadSettings,
  deps: BulkThreadDeps,
): BulkThread {
  let work: Promise<BulkWork | undefined> | undefined;
  const launch = (): Promise<BulkWork | undefined> =>
    openBulkWork(settings, { machine, ...deps }).catch((fault: unknown) => {
      deps.log.error("bulk.thread_failed", fault);
      machine.clock.after(1_000, () => {
        work = launch();
      });
      return undefined;
    });
  return {
    wake: () => void (work ??= launch()).then((its) => its?.wake()),
    use: (datasets) => void work?.then((its) => its?.use(datasets)),
    figures: () => undefined,
    isDown: () => false,
    stop: async () => (await work)?.close(),
  };
}
