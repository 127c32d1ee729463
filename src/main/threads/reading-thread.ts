import { TableFault } from "../../core/batch/entry-cell.ts";
import type { FileSlices, ListOptions, ListPage } from "../../bulk/files/list-file.ts";
import type { Decode } from "../../http/decode.ts";
import { readFile, type ReadFile } from "../../http/api/read-file.ts";
import { splitText } from "../../core/batch/batch-chunk.ts";
import type { ReadsLists } from "../../bulk/lists/list-reader.ts";
import type { ListOrder, ListSource } from "../../bulk/lists/list-view.ts";
import type { Splitter } from "../../bulk/jobs/bulk-shapes.ts";
import { inSlices } from "../../base/slices.ts";
import { createShares, type Reservation, type Share, type Shares } from "../../base/shares.ts";
import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { OwnerKey } from "../../base/owner.ts";
import { badUpload, Refusal } from "../../base/refusals.ts";
import type { TaskSource, TaskName, Tasks } from "./tasks.ts";

export type ThreadOrder =
  | { readonly id: number; readonly name: TaskName; readonly order: unknown }
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly failed: unknown };

export interface ThreadData {
  readonly isUrgent: boolean;
}

type RefusalMessage = Pick<
  Refusal,
  "code" | "status" | "message" | "detail" | "retryAfterSeconds" | "notice"
>;

export type ThreadReport =
  | { readonly place: string }
  | ({ readonly id: number } & (
      | { readonly result: unknown }
      | { readonly refusal: RefusalMessage }
      | { readonly fault: unknown }
      | { readonly wanted: keyof TaskSource; readonly of: readonly unknown[] }
    ));

export interface Work<Name extends TaskName> {
  readonly name: Name;
  readonly order: Parameters<Tasks[Name]>[0];
  /** As its owner knows it: "list.csv". */
  readonly what: string;
  readonly octets: number;
  /** What is in it cannot be used afterwards. */
  readonly transfer?: readonly ArrayBufferLike[];
  readonly source?: Partial<TaskSource>;
  readonly moreMs?: number;
  readonly left?: AbortSignal | undefined;
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
  readonly memory: Share;
  readonly heapMb: number;
  /** An idle thread is ended after that, with all it has in memory; starting one takes 0.1 s. */
  readonly idleMs: number;
  readonly isUrgent?: boolean;
  readonly limitMs?: number;
  readonly others?: () => Promise<unknown>;
}

const LIMIT_MS = 10_000;

/** On a busy machine, or where a store is slow, it may take this many times as long. */
const ELAPSED_TIMES = 12;

const LOOK_EVERY_MS = 200;

/** Enough for work on `SMALL_OCTETS`; a thread with more gives it back for others that wait. */
const SMALL_HEAP_MB = 96;
const SMALL_OCTETS = 1_048_576;

/** The heap's part for what is new, which V8 would make as large as a small heap. */
const YOUNG_MB = 16;

/** What is usually read in 1 ms, to put large pieces of work behind small ones. */
const OCTETS_A_MS = 20_000;

/** One piece of work at a time in turn of owners. What takes too much time or memory is refused, and the thread replaced. */
class ReadingThread {
  readonly #terms: ThreadTerms;
  #worker: Worker | undefined;
  #isBusy = false;
  #heapMb = 0;
  #memory: Reservation | undefined;
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
    const waiting = work.left === undefined ? {} : { signal: work.left };
    const place = await share.wait(owner, 1, { cost: expectedMs, ...waiting });
    const startMs = performance.now();
    this.#isBusy = true;
    try {
      await this.#takeMemory(owner, work);
      return (await this.#carryOut(work)) as TaskResult<Name>;
    } finally {
      // What took longer than others of its size puts its owner behind them.
      this.#isBusy = false;
      if (this.#terms.memory.waiting > 0) await this.giveBack();
      share.charge(owner, Math.max(0, performance.now() - startMs - expectedMs));
      place.release();
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#end(new Error("the reading thread was closed"));
  }

  async giveBack(): Promise<void> {
    if (!this.#isBusy && this.#heapMb > SMALL_HEAP_MB) await this.close();
  }

  /** A thread with too small a heap is ended for one with more, once the others leave it that. */
  async #takeMemory(owner: OwnerKey, { octets, left }: Work<TaskName>): Promise<void> {
    clearTimeout(this.#idle);
    const { heapMb, memory, others } = this.#terms;
    const neededMb = octets > SMALL_OCTETS ? heapMb : Math.min(heapMb, SMALL_HEAP_MB);
    if (this.#worker !== undefined && this.#heapMb >= neededMb) return;
    await this.close();
    const reservation = memory.wait(owner, neededMb, left === undefined ? {} : { signal: left });
    await others?.();
    this.#memory = await reservation;
    this.#heapMb = neededMb;
  }

  #carryOut({ name, order, what, transfer = [], source, moreMs = 0, left }: Work<TaskName>) {
    const worker = (this.#worker ??= this.#launch());
    const limitMs = (this.#terms.limitMs ?? LIMIT_MS) + moreMs;
    const startMs = performance.now();
    const usedMs = this.#time(worker);
    usedMs();
    const watch = setInterval(() => {
      const elapsedMs = performance.now() - startMs;
      if (left?.aborted === true) void this.#end(left.reason as Error);
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
    const { isUrgent = false } = this.#terms;
    const worker = new Worker(new URL("../text-thread.js", import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: this.#heapMb, maxYoungGenerationSizeMb: YOUNG_MB },
      workerData: { isUrgent } satisfies ThreadData,
    });
    worker.unref(); // an idle thread keeps no process alive
    let fault: (what: string) => Error = () => new Error("the reading thread ended");
    worker.on("message", (report: ThreadReport) => {
      if (this.#worker === worker) this.#receive(worker, report);
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

  #receive(worker: Worker, report: ThreadReport): void {
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
      const answer = await ask?.(...of);
      worker.postMessage({ id, answer } satisfies ThreadOrder);
    } catch (fault) {
      if (this.#job?.id === id) this.#job.failed(fault);
      worker.postMessage({ id, failed: "its source failed" } satisfies ThreadOrder);
    }
  }

  async #end(why: Error): Promise<void> {
    const [worker, memory] = [this.#worker, this.#memory];
    this.#worker = undefined;
    this.#memory = undefined;
    this.#place = undefined;
    this.#job?.failed(why);
    await worker?.terminate();
    memory?.release();
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

export interface Texts {
  readonly split: Splitter;
  readonly decode: Decode;
  readonly readFile: ReadFile;
  readonly lists: ReadsLists;
  readonly close: () => Promise<void>;
}

/** Texts up to this length are split in slices where they are, without waiting: about 3,000 entries. */
const INLINE_MAX_UNITS = 65_536;

/** A large text leaves some 60 MB that an idle thread would keep. */
const IDLE_MS = 5_000;

const LISTS_IDLE_MS = 120_000;

const THREADS = {
  texts: { heapMb: 192, idleMs: IDLE_MS },
  files: { heapMb: 288, idleMs: IDLE_MS },
  lists: { heapMb: 288, idleMs: LISTS_IDLE_MS },
} as const;

/** A thread each for the texts in requests, for uploaded files, and for lists of the dashboard. */
export function threadTexts(
  shares: Pick<Shares, "of">,
  terms: Partial<Pick<ThreadTerms, "limitMs" | "heapMb">> = {},
): Texts {
  const memory = shares.of("reading");
  const others = (): Promise<unknown> =>
    Promise.all([texts, files, lists].map((thread) => thread.giveBack()));
  const launch = (name: keyof typeof THREADS): ReadingThread =>
    new ReadingThread({ share: shares.of(name), memory, others, ...THREADS[name], ...terms });
  const [texts, files, lists] = [launch("texts"), launch("files"), launch("lists")];
  return {
    async split({ text, owner, entriesMax, left }) {
      const uniqueMax = entriesMax ?? Infinity;
      if (text.length <= INLINE_MAX_UNITS) return await inSlices(splitText(text, uniqueMax));
      const order = { text, uniqueMax };
      const work = { name: "split", order, what: LIST, octets: text.length, left } as const;
      return await texts.run(owner, work);
    },
    decode: (order, owner, left) =>
      texts.run(owner, { name: "decode", what: LIST, left, ...takenFrom(order) }),
    readFile: (order, owner, left) =>
      octetsOf(order.chunks) <= TINY_OCTETS && !isPacked(order.chunks)
        ? readFile(order)
        : files.run(owner, {
            name: "file",
            what: shown(order.options.name),
            left,
            ...takenFrom(order),
          }),
    lists: {
      facts: (order, source) => lists.run(order.owner, { name: "facts", ...of(order, source) }),
      rows: (order, source) => lists.run(order.owner, { name: "rows", ...of(order, source) }),
      entries: (order, source) => lists.run(order.owner, { name: "entries", ...of(order, source) }),
      fixed: (order, source) => lists.run(order.owner, { name: "fixed", ...of(order, source) }),
      piece: (order, source) => lists.run(order.owner, { name: "piece", ...of(order, source) }),
    },
    close: async () => {
      await Promise.all([texts.close(), files.close(), lists.close()]);
    },
  };
}

const LIST = "The list";
const NAME_MAX = 100;

const shown = (name = ""): string =>
  name.replaceAll(/\p{Cc}/gu, "").slice(0, NAME_MAX) || "The file";

/** Reading the results of a chunk again, which we wrote ourselves, takes up to this. */
const CHUNK_MS = 50;

function of<Order extends ListOrder>(order: Order, source: ListSource) {
  const { options, octets, sessions } = order;
  const chunks = sessions.reduce((sum, run) => sum + run.chunks, 0);
  return { order, source, what: shown(options.name), octets, moreMs: chunks * CHUNK_MS };
}

const UNPACKED_TIMES = 10;

/** A file of some lines waits for no other: it is read where it is, in less than 50 ms whatever is in it. */
const TINY_OCTETS = 4_096;

const octetsOf = (chunks: readonly Uint8Array[]): number =>
  chunks.reduce((sum, { length }) => sum + length, 0);

const isPacked = ([first]: readonly Uint8Array[]): boolean =>
  first?.[0] === 0x50 && first[1] === 0x4b;

/** The chunks are taken out of the order, and their memory is given to the thread. */
function takenFrom<Order extends { readonly chunks: Uint8Array[] }>(order: Order) {
  const chunks = order.chunks.splice(0);
  const octets = octetsOf(chunks) * (isPacked(chunks) ? UNPACKED_TIMES : 1);
  return { order: { ...order, chunks }, transfer: chunks.map(({ buffer }) => buffer), octets };
}

const FILE_OCTETS = 2 * SMALL_OCTETS;

const PAGES = { heapMb: 512, idleMs: 60_000, isUrgent: true } as const;

/** Reads a file of any length in a thread, a page ahead of who takes the pages. Throws a `TableFault`. */
export async function* threadPages(
  slices: FileSlices,
  options: ListOptions,
): AsyncGenerator<ListPage> {
  const shares = createShares();
  const thread = new ReadingThread({
    ...PAGES,
    share: shares.of("files"),
    memory: shares.of("reading"),
  });
  const iterator = slices[Symbol.asyncIterator]();
  const slice = async (): Promise<Uint8Array | undefined> => {
    const { done, value } = await iterator.next();
    return done === true ? undefined : value;
  };
  const ask = (): Promise<string | undefined> => {
    const work = { name: "page", order: options, what: "The file", octets: FILE_OCTETS } as const;
    const page = thread.run("command", { ...work, source: { slice } });
    page.catch(() => undefined); // it is told when its turn comes
    return page;
  };
  try {
    let ahead = ask();
    for (let page = await ahead; page !== undefined; page = await ahead) {
      ahead = ask();
      yield JSON.parse(page) as ListPage;
    }
  } catch (error) {
    throw error instanceof Refusal ? new TableFault(error.message) : error;
  } finally {
    await thread.close();
  }
}
