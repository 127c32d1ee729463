import { dirname } from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { FeedRefresh, FeedStatus, ListMetrics, RefreshOutcome } from "../feed-refresh.ts";
import type { FeedSharing } from "./feed-sharing.ts";
import { every } from "../../base/every.ts";
import type { Log } from "../../base/log.ts";
import type { HttpReply, Outbound } from "../../outbound/outbound-types.ts";
import { type CopyHead, copyName, readHead } from "../files/feed-copy.ts";
import { FETCHED_SOURCES, type FetchedSource } from "../sources/feed-sources.ts";
import type { LoadedLists } from "../load/pack-lists.ts";
import {
  RefreshNotes,
  STATE_FILE,
  isDue,
  readGeneration,
  writeGeneration,
} from "../files/refresh-state.ts";
import { type WorkerDesk, openWorkerDesk } from "./worker-desk.ts";

/** What the source answered: a file to test, or an outcome already. */
type FetchAnswer =
  | {
      readonly kind: "file";
      readonly body: Uint8Array;
      readonly etag?: string;
      readonly lastModified?: string;
    }
  | { readonly kind: "outcome"; readonly outcome: RefreshOutcome };

const FETCH_MS = 60_000;
const BYTES_MAX = 16 * 1_048_576;
const REDIRECTS_MAX = 3;

/** Validators longer than this are not sent back. */
const VALIDATOR_MAX = 300;

/** Asks for one list, on condition that it changed since `last` (RFC 9110 section 13.1). Never rejects. */
export async function fetchList(
  id: string,
  url: string,
  last: Pick<CopyHead, "etag" | "lastModified"> | undefined,
  http: Outbound["http"],
): Promise<FetchAnswer> {
  const conditions = {
    ...(last?.etag !== undefined && { "If-None-Match": last.etag }),
    ...(last?.lastModified !== undefined && { "If-Modified-Since": last.lastModified }),
  };
  const result = await http({
    url,
    method: "GET",
    headers: { Accept: "*/*", "User-Agent": "gatepost", ...conditions },
    timeoutMs: FETCH_MS,
    maxBodyBytes: BYTES_MAX,
    maxRedirects: REDIRECTS_MAX,
  });
  if (result.ok) return readReply(id, result.value, last !== undefined);
  const detail = [result.fault, result.detail].filter((word) => word !== undefined).join(" ");
  return outcome({ id, kind: "refused", why: "not_fetched", detail });
}

const outcome = (its: RefreshOutcome): FetchAnswer => ({ kind: "outcome", outcome: its });

function readReply(id: string, reply: HttpReply, hasCopy: boolean): FetchAnswer {
  const { status, headers, body, cut } = reply;
  if (status === 304 && hasCopy) return outcome({ id, kind: "unchanged" });
  if (status !== 200) {
    return outcome({ id, kind: "refused", why: "bad_status", detail: String(status) });
  }
  if (cut) return outcome({ id, kind: "refused", why: "too_large" });
  const etag = validator(headers["etag"]);
  const lastModified = validator(headers["last-modified"]);
  return {
    kind: "file",
    body,
    ...(etag !== undefined && { etag }),
    ...(lastModified !== undefined && { lastModified }),
  };
}

const validator = (text: string | undefined): string | undefined =>
  text !== undefined && text.length <= VALIDATOR_MAX && /^[ -~]+$/.test(text) ? text : undefined;

export interface FeedRefresherDeps {
  /** The folder of the copies, made when missing. */
  readonly folder: string;
  /** Where a source is fetched. */
  readonly urlOf: (source: Pick<FetchedSource, "id" | "path">) => string;
  readonly http: Outbound["http"];
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly ids: Pick<Ids, "hex32">;
  readonly log: Log;
  readonly metrics?: ListMetrics;
  readonly sharing: FeedSharing;
  /** What is in use when the refresher is made. */
  readonly loaded: LoadedLists;
}

export interface FeedRefresher extends FeedRefresh {
  /** From now on `swap` is called with every fetched set, from this process or another, on this machine or another. */
  follow(swap: (loaded: LoadedLists) => void): void;
  /** Looks now for what others fetched, not at the next turn. */
  look(): void;
  /** Asks sources daily by itself until what it returns is called; what is asked by then comes to nothing. */
  fetch(): () => Promise<void>;
  /** Waits for a refresh that runs; what is asked by then comes to nothing. */
  stop(): Promise<void>;
}

/** Lists that other processes fetched are in use after this time and the packing. */
const LOOK_MS = 2_000;
const FIRST_ASK_MS = 10_000;
const DUE_LOOK_MS = 600_000;

export function createFeedRefresher(deps: FeedRefresherDeps): FeedRefresher {
  return new Refresher(deps);
}

/** Sources to ask, and those whose change of size the operator accepts. */
interface Round {
  readonly sources: readonly FetchedSource[];
  readonly confirmed?: readonly string[];
}

interface Question {
  readonly source: FetchedSource;
  readonly isConfirmed: boolean;
}

class Refresher implements FeedRefresher {
  readonly #deps: FeedRefresherDeps;
  readonly #notes: RefreshNotes;
  #loaded: LoadedLists;
  #generation: string;
  #running: Promise<readonly RefreshOutcome[]> | undefined;
  #looking: Promise<void> | undefined;
  #swap: (loaded: LoadedLists) => void = () => undefined;
  readonly #over = new AbortController();

  constructor(deps: FeedRefresherDeps) {
    this.#deps = deps;
    this.#notes = new RefreshNotes(deps.folder);
    this.#loaded = deps.loaded;
    this.#generation = readGeneration(deps.folder);
    deps.metrics?.stand(this.#statusNow());
  }

  status(): Promise<readonly FeedStatus[]> {
    return Promise.resolve(this.#statusNow());
  }

  async refresh(confirmed: readonly string[] = []): Promise<readonly RefreshOutcome[]> {
    // One that is under way knows nothing of the operator's word.
    if (confirmed.length > 0) await Promise.allSettled([this.#running]);
    return await this.#runOnce({ sources: FETCHED_SOURCES, confirmed }, this.#over.signal);
  }

  follow(swap: (loaded: LoadedLists) => void): void {
    this.#swap = swap;
    this.#every(LOOK_MS, LOOK_MS, this.#over.signal, () => this.#look());
  }

  look(): void {
    void this.#logged(() => this.#look());
  }

  fetch(): () => Promise<void> {
    const mine = new AbortController();
    const over = AbortSignal.any([mine.signal, this.#over.signal]);
    let asking: Promise<void> | undefined;
    this.#every(FIRST_ASK_MS, DUE_LOOK_MS, over, () => (asking = this.#askDue(over)));
    return async () => {
      mine.abort();
      // The operator's request continues, and stopping does not wait for it.
      await Promise.allSettled([asking]);
    };
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await Promise.allSettled([this.#running, this.#looking]);
  }

  #every(firstMs: number, ms: number, over: AbortSignal, work: () => Promise<void>): void {
    const { clock, log } = this.#deps;
    const failed = (fault: unknown): void => log.error("feed.refresh_failed", fault);
    const end = every({ ms, firstMs, clock, failed }, work);
    over.addEventListener("abort", () => void end(), { once: true });
  }

  async #logged(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (fault) {
      this.#deps.log.error("feed.refresh_failed", fault);
    }
  }

  /** What others fetched is packed and taken; a refresh of our own sees to itself. */
  #look(): Promise<void> {
    if (this.#running !== undefined || this.#over.signal.aborted) return Promise.resolve();
    this.#looking ??= this.#lookNow().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #lookNow(): Promise<void> {
    await this.#deps.sharing.sync();
    const generation = readGeneration(this.#deps.folder);
    if (generation !== this.#generation) await this.#take(generation);
  }

  async #take(generation: string): Promise<void> {
    const desk = openWorkerDesk(this.#deps.folder, this.#deps.clock);
    try {
      this.#use(await desk.pack(), generation);
    } finally {
      await desk.close();
    }
  }

  #use(loaded: LoadedLists, generation: string): void {
    this.#loaded = loaded;
    this.#generation = generation;
    if (!this.#over.signal.aborted) this.#swap(loaded);
    const names = loaded.lists.reduce((sum, list) => sum + list.names, 0);
    this.#deps.log.info("feed.swapped", { names });
    this.#deps.metrics?.stand(this.#statusNow());
  }

  /** After what others did is known: another machine may have asked since. */
  async #askDue(over: AbortSignal): Promise<void> {
    const { clock, sharing, metrics } = this.#deps;
    sharing.offer();
    await sharing.sync();
    metrics?.stand(this.#statusNow());
    const state = this.#notes.read();
    const nowMs = clock.nowMs();
    const due = FETCHED_SOURCES.filter(({ id }) => isDue(state[id], nowMs));
    if (due.length === 0 || over.aborted || this.#running !== undefined) return;
    await this.#runOnce({ sources: due }, over);
  }

  #runOnce(round: Round, over: AbortSignal): Promise<readonly RefreshOutcome[]> {
    this.#running ??= this.#run(round, over).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #run({ sources, confirmed = [] }: Round, over: AbortSignal) {
    const { folder, clock, ids, sharing, metrics } = this.#deps;
    await this.#looking?.catch(() => undefined); // it is logged where it began
    const desk = openWorkerDesk(folder, clock);
    const outcomes: RefreshOutcome[] = [];
    try {
      // One after the other: so one file at a time is in memory.
      for (const source of sources) {
        const outcome = await this.#ask(
          { source, isConfirmed: confirmed.includes(source.id) },
          desk,
          over,
        );
        if (outcome === undefined) break;
        outcomes.push(outcome);
        this.#note(outcome);
      }
      if (outcomes.some(({ kind }) => kind === "accepted")) {
        const generation = ids.hex32();
        writeGeneration(folder, generation);
        this.#use(await desk.pack(), generation);
      }
    } finally {
      await desk.close();
      metrics?.stand(this.#statusNow());
    }
    await sharing.sync();
    return outcomes;
  }

  /** Undefined when it was over before the answer was tested. */
  async #ask(
    { source, isConfirmed }: Question,
    desk: WorkerDesk,
    over: AbortSignal,
  ): Promise<RefreshOutcome | undefined> {
    const { urlOf, http, clock } = this.#deps;
    const { id } = source;
    const removalSeen = this.#notes.read()[id]?.why === "many_removed";
    const fetching = (): ReturnType<typeof fetchList> =>
      fetchList(id, urlOf(source), this.#headInUse(id), http);
    const answer = await unlessOver(fetching, over);
    if (answer === undefined) return undefined;
    if (answer.kind === "outcome") return answer.outcome;
    const { kind: _, ...file } = answer;
    return await desk.assess({ ...file, id, fetchedAtMs: clock.nowMs(), removalSeen, isConfirmed });
  }

  /** Only of a copy that is in use: to ask whether another one changed would leave us without. */
  #headInUse(id: string): CopyHead | undefined {
    const inUse = this.#loaded.lists.find((list) => list.id === id);
    const head = inUse?.from === "fetch" ? readHead(this.#deps.folder, id) : undefined;
    return head?.fetchedAtMs === inUse?.fetchedAtMs ? head : undefined;
  }

  #note({ id, kind, why, detail }: RefreshOutcome): void {
    const { folder, clock, log, metrics, sharing } = this.#deps;
    const askedAtMs = clock.nowMs();
    if (why === undefined) log.info("feed.fetched", { id, kind });
    else log.warn("feed.refused", { id, why, detail });
    metrics?.refreshed({ id, kind, ...(why !== undefined && { why }) });
    try {
      if (why === undefined) this.#notes.add(id, { askedAtMs, confirmedAtMs: askedAtMs });
      else this.#notes.add(id, { askedAtMs, why, ...(detail !== undefined && { detail }) });
    } catch (fault) {
      log.error("feed.state_save_failed", fault, { folder: dirname(folder) });
    }
    sharing.changed(kind === "accepted" ? [copyName(id), STATE_FILE] : [STATE_FILE]);
  }

  #statusNow(): readonly FeedStatus[] {
    const state = this.#notes.read();
    return this.#loaded.lists.map((list) => {
      const { askedAtMs, why, detail, confirmedAtMs } = state[list.id] ?? {};
      return {
        ...list,
        ...(askedAtMs !== undefined && { askedAtMs }),
        ...(confirmedAtMs !== undefined && { confirmedAtMs }),
        ...(why !== undefined && { refusal: { why, ...(detail !== undefined && { detail }) } }),
      };
    });
  }
}

/** Undefined when it is over first. */
async function unlessOver<T>(work: () => Promise<T>, over: AbortSignal): Promise<T | undefined> {
  if (over.aborted) return undefined;
  let end = (): void => undefined;
  const ended = new Promise<undefined>((resolve) => {
    end = () => resolve(undefined);
  });
  over.addEventListener("abort", end, { once: true });
  try {
    return await Promise.race([work(), ended]);
  } finally {
    over.removeEventListener("abort", end);
  }
}
