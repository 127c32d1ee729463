import { ChildProcess } from "node:child_process";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { laterInTurn, later, lateEvents, replace } from "./late.ts";

interface Spawning {
  envPairs?: string[];
}

const HANDED_ON = /^(?:NODE_OPTIONS|UNEVEN_\w+)$/;

/** Applies the preload to a child too, although the test chose its environment. */
function handOn({ envPairs }: Spawning): void {
  for (const [name, value] of Object.entries(process.env)) {
    if (!HANDED_ON.test(name) || value === undefined) continue;
    if (envPairs?.some((pair) => pair.startsWith(`${name}=`)) === false) {
      envPairs.push(`${name}=${value}`);
    }
  }
}

/** The end of a process is reported late; its output is a socket and already delayed. */
function lateExits(): void {
  replace(
    ChildProcess.prototype,
    "spawn",
    (real) =>
      function (
        this: ChildProcess & { readonly _handle: { onexit: (...args: unknown[]) => void } },
        options: Spawning,
      ) {
        const { _handle: handle } = this;
        const { onexit } = handle;
        handle.onexit = (...how) => later(() => onexit.apply(handle, how));
        handOn(options);
        return Reflect.apply(real, this, [options]) as unknown;
      },
  );
}

const IN_WORDS: ReadonlySet<string | symbol> = new Set(["message", "disconnect"]);
const SIGNALS: ReadonlySet<string | symbol> = new Set(["SIGTERM", "SIGINT", "SIGHUP"]);
const OF_THREADS: ReadonlySet<string | symbol> = new Set(
  "online message messageerror error exit".split(" "),
);

/** Messages and ends of threads. Node removes the listeners at the end: that is delayed too. */
function lateThreads(): void {
  lateEvents(Worker.prototype, (name) => OF_THREADS.has(name));
  replace(
    Worker.prototype,
    "removeAllListeners",
    (real) =>
      function (this: Worker, ...names: string[]) {
        const remove = (): unknown => Reflect.apply(real, this, names);
        if (!names.every((name) => OF_THREADS.has(name))) return remove();
        laterInTurn(this, remove);
        return this;
      },
  );
}

/** How Node delivers a message to a port, for every kind of listener. */
const DISPATCH = Symbol.for("nodejs.internal.kHybridDispatch");

/** Delays messages and ends of other processes and threads. */
export function lateNeighbours(): void {
  lateExits();
  lateEvents(ChildProcess.prototype, (name) => IN_WORDS.has(name));
  lateThreads();
  if (isMainThread) lateEvents(process, (name) => IN_WORDS.has(name) || SIGNALS.has(name));
  if (parentPort === null) return;
  replace(
    parentPort,
    DISPATCH,
    (real) =>
      function (this: object, ...args: unknown[]) {
        laterInTurn(this, () => void Reflect.apply(real, this, args));
      },
  );
}
