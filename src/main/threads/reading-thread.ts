import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { OwnerKey } from "../../base/owner.ts";
import { badUpload, Refusal } from "../../base/refusals.ts";
import type { Share } from "../../base/shares.ts";
import type { TaskSource, TaskName, Tasks } from "./tasks.ts";

/** What main tells the thread: a task, or what the task asked of its source. */
export type ThreadOrder =
  | { readonly id: number; readonly name: TaskName; readonly order: unknown }
  | { readonly id: number; readonly given: unknown }
  | { readonly id: number; readonly failed: unknown };

export interface ThreadData {
  readonly isUrgent: boolean;
}

type RefusalMessage = Pick<Refusal, "code" | "status" | "message" | "detail" | "retryAfterSeconds">;

/** `place`: the thread's folder under /proc, where there is one. */
export type ThreadReport =
  | { readonly place: string }
  | ({ readonly id: number } & (
      | { readonly result: unknown }
      | { readonly refusal: RefusalMessage }
      | { readonly fault: unknown }
      | { readonly wanted: keyof TaskSource; readonly of: readonly unknown[] }
    ));

/** One piece of work of an owner. */
export interface Work<Name extends TaskName> {
  readonly name: Name;
  readonly order: Parameters<Tasks[Name]>[0];
  /** As its owner knows it: "list.csv". */
  readonly what: string;
  /** What it reads, by which owners take turns. */
  readonly octets: number;
  /** What is in it cannot be used afterwards. */
  readonly transfer?: readonly ArrayBufferLike[];
  readonly source?: Partial<TaskSource>;
  /** Time of the thread itself beyond `LIMIT_MS`. */
  readonly moreMs?: number;
}

interface Job {
  readonly id: number;
  readonly what: string;
  readonly source: Partial<TaskSource> | undefined;
  readonly done: (result: unknown) => void;
  readonly failed: (fault: unknown) => void;
}

export interface ThreadTerms {
  /** Has one place, so that the thread does one piece of work at a time. */
  readonly share: Share;
  readonly heapMb: number;
  /** An idle thread is ended after that, with all it has in memory; starting one takes 0.1 s. */
  readonly idleMs: number;
  /** Nobody else's checks go before it. */
  readonly isUrgent?: boolean;
  /** Absent: `LIMIT_MS`. */
  readonly limitMs?: number;
}

/** Time of the thread itself that one piece of work may take. */
const LIMIT_MS = 10_000;

/** On a busy machine, or where a store is slow, it may take this many times as long. */
const ELAPSED_TIMES = 12;

const LOOK_EVERY_MS = 200;

/** What is usually read in 1 ms, to put large pieces of work behind small ones. */
const OCTETS_A_MS = 20_000;

/**
 * A thread that reads what callers send, one piece of work at a time in turn of their owners. Work that takes too much time or
 * memory is refused, and its thread is ended; the next work gets a new one.
 */
export class ReadingThread {
  readonly #terms: ThreadTerms;
  #worker: Worker | undefined;
  #place: string | undefined;
  #idle: NodeJS.Timeout | undefined;
  #job: Job | undefined;
  #lastId = 0;

  constructor(terms: ThreadTerms) {
    this.#terms = terms;
  }

  /** Rejects with `NoRoom`, with a `Refusal`, or with a fault when the thread ends. */
  async run<Name extends TaskName>(owner: OwnerKey, work: Work<Name>): Promise<TaskResult<Name>> {
    const { share } = this.#terms;
    const expectedMs = Math.ceil(work.octets / OCTETS_A_MS);
    const hold = await share.wait(owner, 1, expectedMs);
    const startMs = performance.now();
    try {
      return (await this.#carryOut(work)) as TaskResult<Name>;
    } finally {
      // What took longer than others of its size puts its owner behind them.
      share.charge(owner, Math.max(0, performance.now() - startMs - expectedMs));
      hold.release();
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#end(new Error("the reading thread was closed"));
  }

  #carryOut({ name, order, what, transfer = [], source, moreMs = 0 }: Work<TaskName>) {
    clearTimeout(this.#idle);
    const worker = (this.#worker ??= this.#launch());
    const limitMs = (this.#terms.limitMs ?? LIMIT_MS) + moreMs;
    const startMs = performance.now();
    const usedMs = this.#time(worker);
    usedMs();
    const watch = setInterval(() => {
      const elapsedMs = performance.now() - startMs;
      if (usedMs() <= limitMs && elapsedMs <= limitMs * ELAPSED_TIMES) return;
      void this.#end(tooSlow(what));
    }, LOOK_EVERY_MS);
    const id = (this.#lastId += 1);
    return new Promise<unknown>((resolve, reject) => {
      this.#job = { id, what, source, done: resolve, failed: reject };
      const message = { id, name, order } satisfies ThreadOrder;
      worker.postMessage(message, transfer as ArrayBuffer[]);
    }).finally(() => {
      clearInterval(watch);
      this.#job = undefined;
      this.#idle = setTimeout(() => void this.close(), this.#terms.idleMs).unref();
    });
  }

  /** What the thread has used since the first call, in ms; its start is not counted. */
  #time(worker: Worker): () => number {
    let before: number | undefined;
    return () => {
      if (IS_LINUX && this.#place === undefined) return 0;
      const { active } = worker.performance.eventLoopUtilization();
      const used = this.#place === undefined ? active : timeOf(this.#place);
      before ??= used;
      return used - before;
    };
  }

  #launch(): Worker {
    const { heapMb, isUrgent = false } = this.#terms;
    const worker = new Worker(new URL("../text-thread.js", import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
      workerData: { isUrgent } satisfies ThreadData,
    });
    worker.unref(); // an idle thread keeps no process alive
    let fault: (what: string) => Error = () => new Error("the reading thread ended");
    worker.on("message", (report: ThreadReport) => {
      if (this.#worker === worker) this.#heard(worker, report);
    });
    worker.on("error", (error: Error & { readonly code?: string }) => {
      const isFull = error.code === "ERR_WORKER_OUT_OF_MEMORY";
      fault = isFull ? tooLarge : () => new Error("the reading thread", { cause: error });
    });
    worker.on("exit", () => {
      if (this.#worker === worker) void this.#end(fault(this.#job?.what ?? ""));
    });
    return worker;
  }

  #heard(worker: Worker, report: ThreadReport): void {
    if ("place" in report) {
      this.#place = report.place;
      return;
    }
    const job = this.#job;
    if (job?.id !== report.id) return;
    if ("wanted" in report) void this.#give(worker, job, report);
    else if ("result" in report) job.done(report.result);
    else if ("fault" in report) job.failed(report.fault);
    else {
      const { code, status, message, ...more } = report.refusal;
      job.failed(new Refusal(code, status, message, more));
    }
  }

  async #give(
    worker: Worker,
    { id, source }: Job,
    { wanted, of }: Extract<ThreadReport, { readonly wanted: unknown }>,
  ): Promise<void> {
    try {
      const ask = source?.[wanted] as ((...of: readonly unknown[]) => Promise<unknown>) | undefined;
      const given = await ask?.(...of);
      worker.postMessage({ id, given } satisfies ThreadOrder);
    } catch (fault) {
      if (this.#job?.id === id) this.#job.failed(fault);
      worker.postMessage({ id, failed: "its source failed" } satisfies ThreadOrder);
    }
  }

  async #end(why: Error): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#place = undefined;
    this.#job?.failed(why);
    await worker?.terminate();
  }
}

type TaskResult<Name extends TaskName> = Awaited<ReturnType<Tasks[Name]>>;

const tooSlow = (what: string): Refusal =>
  badUpload(
    `${what} takes more than ${String(LIMIT_MS / 1_000)} s to read. Split it, or save it as .csv.`,
  );

const tooLarge = (what: string): Refusal =>
  badUpload(`${what} takes too much memory to read. Split it, or save it as .csv.`);

const IS_LINUX = process.platform === "linux";

const TICK_MS = 10;

/** User and system time of a thread (proc_pid_stat(5), fields 14 and 15), in ms. */
function timeOf(place: string): number {
  const text = readFileSync(`/proc/${place}/stat`, "latin1");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
