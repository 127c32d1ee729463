import { dirname } from "node:path";
import type { Clock } from "../../ports/clock.ts";
import type { Ids } from "../../ports/ids.ts";
import type {
  ListMetrics,
  ListRefresh,
  ListStatus,
  RefreshOutcome,
} from "../../ports/list-refresh.ts";
import type { Log } from "../../ports/log.ts";
import type { Outbound } from "../../ports/outbound.ts";
import { fetchList } from "./fetch-list.ts";
import { type CopyHead, readHead } from "./list-copy.ts";
import { FETCHED_SOURCES, type FetchedSource } from "./list-sources.ts";
import type { LoadedLists } from "./load-lists.ts";
import {
  readGeneration,
  readState,
  type RefreshState,
  type SourceState,
  writeGeneration,
  writeState,
} from "./refresh-state.ts";
import { openWorkerDesk, type WorkerDesk } from "./worker-desk.ts";

export interface ListRefresherDeps {
  /** The folder of the copies, made when missing. */
  readonly folder: string;
  /** Where a source is fetched. */
  readonly urlOf: (source: Pick<FetchedSource, "id" | "path">) => string;
  readonly http: Outbound["http"];
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly ids: Pick<Ids, "hex32">;
  readonly log: Log;
  readonly metrics?: ListMetrics;
  /** What is in use when the refresher is made. */
  readonly loaded: LoadedLists;
}

export interface ListRefresher extends ListRefresh {
  /** `swap` is called with whatever this or another process fetched. `fetches`: ask sources by itself, daily. */
  start(how: { readonly swap: (loaded: LoadedLists) => void; readonly fetches: boolean }): void;
  /** Waits for a refresh that runs. */
  stop(): Promise<void>;
}

/** Another process's copies are in use after so long and the packing. */
const LOOK_MS = 2_000;
const FIRST_ASK_MS = 10_000;
const DUE_LOOK_MS = 600_000;
const DAY_MS = 86_400_000;
/** A source that did not answer is asked again sooner. */
const RETRY_MS = 3_600_000;

export function createListRefresher(deps: ListRefresherDeps): ListRefresher {
  return new Refresher(deps);
}

class Refresher implements ListRefresher {
  readonly #deps: ListRefresherDeps;
  #loaded: LoadedLists;
  #generation: string;
  #running: Promise<readonly RefreshOutcome[]> | undefined;
  #looking: Promise<void> | undefined;
  #swap: (loaded: LoadedLists) => void = () => undefined;
  #cancels = new Set<() => void>();
  #isStopped = false;

  constructor(deps: ListRefresherDeps) {
    this.#deps = deps;
    this.#loaded = deps.loaded;
    this.#generation = readGeneration(deps.folder);
    deps.metrics?.inUse(this.#statusNow());
  }

  status(): Promise<readonly ListStatus[]> {
    return Promise.resolve(this.#statusNow());
  }

  refresh(): Promise<readonly RefreshOutcome[]> {
    this.#running ??= this.#run(FETCHED_SOURCES).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  start({ swap, fetches }: Parameters<ListRefresher["start"]>[0]): void {
    this.#swap = swap;
    this.#every(LOOK_MS, LOOK_MS, () => this.#look());
    if (fetches) this.#every(FIRST_ASK_MS, DUE_LOOK_MS, () => this.#askDue());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const cancel of this.#cancels) cancel();
    await Promise.allSettled([this.#running, this.#looking]);
  }

  /** Runs `work` again and again, never twice at a time. */
  #every(firstMs: number, nextMs: number, work: () => Promise<unknown>): void {
    const arm = (delayMs: number): void => {
      const cancel = this.#deps.clock.after(delayMs, () => {
        this.#cancels.delete(cancel);
        work()
          .catch((fault: unknown) => this.#deps.log.error("lists.failed", fault))
          .finally(() => {
            if (!this.#isStopped) arm(nextMs);
          });
      });
      this.#cancels.add(cancel);
    };
    arm(firstMs);
  }

  /** What another process fetched is packed and taken; a refresh of our own sees to itself. */
  #look(): Promise<void> {
    if (this.#running !== undefined) return Promise.resolve();
    const generation = readGeneration(this.#deps.folder);
    if (generation === this.#generation) return Promise.resolve();
    this.#looking = this.#take(generation);
    return this.#looking;
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
    if (!this.#isStopped) this.#swap(loaded);
    const names = loaded.lists.reduce((sum, list) => sum + list.names, 0);
    this.#deps.log.info("lists.swapped", { names });
    this.#deps.metrics?.inUse(this.#statusNow());
  }

  async #askDue(): Promise<void> {
    const state = readState(this.#deps.folder);
    const nowMs = this.#deps.clock.nowMs();
    const due = FETCHED_SOURCES.filter(({ id }) => isDue(state[id], nowMs));
    if (due.length === 0 || this.#running !== undefined) return;
    this.#running = this.#run(due).finally(() => {
      this.#running = undefined;
    });
    await this.#running;
  }

  async #run(sources: readonly FetchedSource[]): Promise<readonly RefreshOutcome[]> {
    const desk = openWorkerDesk(this.#deps.folder, this.#deps.clock);
    const outcomes: RefreshOutcome[] = [];
    try {
      // One after the other: so one file at a time is in memory.
      for (const source of sources) {
        if (this.#isStopped) break;
        const outcome = await this.#ask(source, desk);
        outcomes.push(outcome);
        this.#note(outcome);
      }
      if (outcomes.some(({ kind }) => kind === "accepted")) {
        const generation = this.#deps.ids.hex32();
        writeGeneration(this.#deps.folder, generation);
        this.#use(await desk.pack(), generation);
      }
    } finally {
      await desk.close();
    }
    return outcomes;
  }

  async #ask(source: FetchedSource, desk: WorkerDesk): Promise<RefreshOutcome> {
    const { folder, urlOf, http, clock } = this.#deps;
    const { id } = source;
    const removalSeen = readState(folder)[id]?.why === "many_removed";
    const answer = await fetchList(id, urlOf(source), this.#headInUse(id), http);
    if (answer.kind === "outcome") return answer.outcome;
    const { kind: _, ...file } = answer;
    return await desk.judge({ ...file, id, fetchedAtMs: clock.nowMs(), removalSeen });
  }

  /** Only of a copy that is in use: to ask whether another one changed would leave us without. */
  #headInUse(id: string): CopyHead | undefined {
    const inUse = this.#loaded.lists.find((list) => list.id === id);
    const head = inUse?.from === "fetch" ? readHead(this.#deps.folder, id) : undefined;
    return head?.fetchedAtMs === inUse?.fetchedAtMs ? head : undefined;
  }

  #note({ id, kind, why, detail }: RefreshOutcome): void {
    const { folder, clock, log, metrics } = this.#deps;
    const noted: SourceState = {
      askedAtMs: clock.nowMs(),
      ...(why !== undefined && { why }),
      ...(detail !== undefined && { detail }),
    };
    if (why === undefined) log.info("lists.asked", { id, kind });
    else log.warn("lists.refused", { id, why, detail });
    metrics?.refreshed({ id, kind, ...(why !== undefined && { why }) });
    try {
      writeState(folder, { ...readState(folder), [id]: noted });
    } catch (fault) {
      log.error("lists.state_not_kept", fault, { folder: dirname(folder) });
    }
  }

  #statusNow(): readonly ListStatus[] {
    const state: RefreshState = readState(this.#deps.folder);
    return this.#loaded.lists.map((list) => {
      const { askedAtMs, why, detail } = state[list.id] ?? {};
      return {
        ...list,
        ...(askedAtMs !== undefined && { askedAtMs }),
        ...(why !== undefined && { refusal: { why, ...(detail !== undefined && { detail }) } }),
      };
    });
  }
}

/** A clock that was set back makes a source due, not silent. */
function isDue(state: SourceState | undefined, nowMs: number): boolean {
  if (state === undefined) return true;
  const isSilent = state.why === "not_fetched" || state.why === "bad_status";
  return Math.abs(nowMs - state.askedAtMs) >= (isSilent ? RETRY_MS : DAY_MS);
}
