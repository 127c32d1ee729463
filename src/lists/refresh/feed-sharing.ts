import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { FeedFiles } from "../feed-files.ts";
import type { Log } from "../../base/log.ts";
import { textOf } from "../files/feed-copy.ts";
import { versionOf } from "../table/lists-file.ts";
import { STATE_FILE, writeGeneration } from "../files/refresh-state.ts";
import { SHARED_NAMES } from "../table/name-table.ts";
import { type WorkerDesk, openWorkerDesk } from "./worker-desk.ts";

/** Keeps the list files of this machine and the other machines equal. */
export interface FeedSharing {
  /** This process changed these files; the next `sync` shares them, unless another machine's came first. */
  changed(names: readonly string[]): void;
  /** The next `sync` shares what the data directory holds too where nothing whole was shared. */
  offer(): void;
  /**
   * Shares what changed here and takes what changed elsewhere; a new generation in the data directory says that
   * lists came. Never rejects: what could not be done is logged once and done at a later call.
   */
  sync(): Promise<void>;
}

export interface FeedSharingDeps {
  readonly folder: string;
  readonly files: FeedFiles;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs" | "after">;
  readonly ids: Pick<Ids, "hex32">;
  readonly log: Log;
  /** Tells other machines that something was shared. */
  readonly tell: () => void;
}

/** Of one machine: its files are all there is. */
export const unsharedLists: FeedSharing = {
  changed: () => undefined,
  offer: () => undefined,
  sync: () => Promise.resolve(),
};

/** Of several machines: files in the data directory, and the same in a store for all. */
export function shareLists(deps: FeedSharingDeps): FeedSharing {
  return new SharedLists(deps);
}

/** After a fault, which is logged; the calls in between do nothing. */
const FAULT_REST_MS = 10_000;

type Versions = ReadonlyMap<string, string>;

class SharedLists implements FeedSharing {
  readonly #deps: FeedSharingDeps;
  /** By name the version that this process took, shared or found unfit. */
  readonly #seen = new Map<string, string>();
  readonly #unfit = new Set<string>();
  readonly #unsent = new Set<string>();
  #isOffering = false;
  #isFirst = true;
  #isFailing = false;
  #restUntilMs = -Infinity;
  #last: Promise<void> = Promise.resolve();

  constructor(deps: FeedSharingDeps) {
    this.#deps = deps;
  }

  changed(names: readonly string[]): void {
    for (const name of names) this.#unsent.add(name);
  }

  offer(): void {
    this.#isOffering = true;
  }

  sync(): Promise<void> {
    this.#last = this.#last.then(() => this.#syncLogged());
    return this.#last;
  }

  async #syncLogged(): Promise<void> {
    const { clock, log } = this.#deps;
    if (clock.monotonicMs() < this.#restUntilMs) return;
    try {
      await this.#syncNow();
      this.#isFailing = false;
    } catch (fault) {
      if (!this.#isFailing) log.error("feed.share_failed", fault);
      this.#isFailing = true;
      this.#restUntilMs = clock.monotonicMs() + FAULT_REST_MS;
    }
  }

  async #syncNow(): Promise<void> {
    const { folder, files, clock } = this.#deps;
    const there = await files.versions();
    if (this.#isFirst) this.#recognise(there);
    this.#isFirst = false;
    if (this.#isOffering) this.changed(SHARED_NAMES.filter((name) => this.#isMissing(name, there)));
    this.#isOffering = false;
    if (this.#unsent.size === 0 && this.#news(there).length === 0) return;
    const desk = openWorkerDesk(folder, clock);
    try {
      const sent = await this.#send(desk, there);
      const news = this.#news(there).filter((name) => !sent.has(name));
      await this.#take(desk, there, news);
    } finally {
      await desk.close();
    }
  }

  /** A process that starts on current files need not take them again. */
  #recognise(there: Versions): void {
    for (const name of SHARED_NAMES) {
      const text = textOf(join(this.#deps.folder, name));
      const version = text === undefined ? undefined : versionOf(text);
      if (version !== undefined && version === there.get(name)) this.#seen.set(name, version);
    }
  }

  #isMissing(name: string, there: Versions): boolean {
    return !there.has(name) || (this.#unfit.has(name) && there.get(name) === this.#seen.get(name));
  }

  #news(there: Versions): readonly string[] {
    return SHARED_NAMES.filter(
      (name) => there.has(name) && there.get(name) !== this.#seen.get(name),
    );
  }

  /** The names of what is shared now. What others shared meanwhile is newer, and stays. */
  async #send(desk: WorkerDesk, there: Versions): Promise<ReadonlySet<string>> {
    const { log, tell } = this.#deps;
    const sent = new Set<string>();
    for (const name of this.#unsent) {
      if (await this.#sendOne(desk, name, there.get(name))) sent.add(name);
      this.#unsent.delete(name);
    }
    if (sent.size > 0) {
      log.info("feed.shared", { names: [...sent] });
      tell();
    }
    return sent;
  }

  async #sendOne(desk: WorkerDesk, name: string, version: string | undefined): Promise<boolean> {
    const { files, clock, log } = this.#deps;
    const file = await desk.wrap(name, clock.nowMs());
    if (file === undefined || file.version === version) return false;
    const isSent = await files.write(file, this.#seen.get(name));
    if (isSent) this.#note(name, file.version);
    else log.info("feed.share_overtaken", { name });
    return isSent;
  }

  async #take(desk: WorkerDesk, there: Versions, names: readonly string[]): Promise<void> {
    const { folder, ids, log } = this.#deps;
    const taken: string[] = [];
    try {
      for (const name of names) {
        if (await this.#takeOne(desk, name, there.get(name) ?? "")) taken.push(name);
      }
    } finally {
      if (taken.length > 0) log.info("feed.received", { names: taken });
      if (taken.some((name) => name !== STATE_FILE)) writeGeneration(folder, ids.hex32());
    }
  }

  /** True when it changed the folder. `version` is what was there a moment ago. */
  async #takeOne(desk: WorkerDesk, name: string, version: string): Promise<boolean> {
    const { files, log } = this.#deps;
    const file = await files.read(name);
    const taking = file === undefined ? "unfit" : await desk.take(file);
    if (taking === "not_kept") throw new Error(`list file ${name}: the data directory took it not`);
    this.#note(name, file?.version ?? version);
    if (taking === "unfit") {
      this.#unfit.add(name);
      log.warn("feed.share_invalid", { name, version });
    }
    return taking === "new";
  }

  #note(name: string, version: string): void {
    this.#seen.set(name, version);
    this.#unfit.delete(name);
  }
}
