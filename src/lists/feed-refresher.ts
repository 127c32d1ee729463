import { Worker } from "node:worker_threads";
import { DAY_MS } from "../core/calendar.ts";
import type { ListRefusal } from "../core/evidence/list-refusal.ts";
import type { LearnedServer } from "../core/evidence/mail-servers/learn-mail-servers.ts";
import type { Clock } from "../base/clock.ts";
import { type Note, SERVICE } from "../accounts/audit.ts";
import { type End, every } from "../base/every.ts";
import { inRounds } from "../base/rounds.ts";
import type { Log } from "../base/log.ts";
import { orAborted } from "../outbound/dial.ts";
import type { Outbound } from "../outbound/outbound-types.ts";
import type { Validators } from "./assess-feed.ts";
import {
  copyName,
  type FeedFile,
  type FeedFiles,
  LEARNED_FILE,
  packFeedFile,
  parseIf,
  STATE_FILE,
  unpackFeedFile,
} from "./feed-files.ts";
import { FETCHED_SOURCES, type FetchedSource } from "./feed-sources.ts";
import type { Assessed, ListWork } from "./feed-worker.ts";
import type { FeedStatus, RefreshOutcome } from "./feed-status.ts";
import { type LoadedLists, loadLists } from "./load-lists.ts";

const FETCH_MS = 60_000;
const BYTES_MAX = 16 * 1_048_576;
const REDIRECTS_MAX = 3;

/** Asks for one list, on condition that it changed since `last` (RFC 9110 section 13.1). Never rejects. */
export async function fetchList(
  id: string,
  url: string,
  last: Validators | undefined,
  http: Outbound["http"],
): Promise<{ readonly body: Uint8Array; readonly validators: Validators } | RefreshOutcome> {
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
  if (!result.ok) {
    const advice = result.fault === "not_public" && "(allow it with GATEPOST_OUTBOUND_ALLOW)";
    const detail = [result.fault, result.detail, advice].filter(Boolean).join(" ");
    return { id, kind: "refused", why: "not_fetched", detail };
  }
  const { status, headers, body, cut } = result.value;
  if (status === 304 && last !== undefined) return { id, kind: "unchanged" };
  if (status !== 200) return { id, kind: "refused", why: "bad_status", detail: String(status) };
  if (cut) return { id, kind: "refused", why: "too_large" };
  const etag = validator(headers["etag"]);
  return { body, validators: { etag, lastModified: validator(headers["last-modified"]) } };
}

const VALIDATOR_MAX = 300;

const validator = (text: string | undefined): string | undefined =>
  text !== undefined && text.length <= VALIDATOR_MAX && /^[ -~]+$/.test(text) ? text : undefined;

interface SourceState {
  readonly askedAtMs: number;
  readonly why?: ListRefusal | undefined;
  readonly detail?: string | undefined;
  readonly confirmedAtMs?: number | undefined;
}

type RefreshState = Readonly<Record<string, SourceState | undefined>>;

const isState = (value: unknown): value is RefreshState =>
  typeof value === "object" &&
  value !== null &&
  Object.values(value).every((state: Partial<SourceState> | null) =>
    Number.isFinite(state?.askedAtMs),
  );

const RETRY_MS = 3_600_000;

/** A source that did not answer is asked again sooner, and so is one whose answer the database did not take. */
const RETRIED: ReadonlySet<ListRefusal | undefined> = new Set([
  "not_fetched",
  "bad_status",
  "not_kept",
]);

/** A clock that was set back makes a source due, not silent. */
function isDue(state: SourceState | undefined, nowMs: number): boolean {
  if (state === undefined) return true;
  return Math.abs(nowMs - state.askedAtMs) >= (RETRIED.has(state.why) ? RETRY_MS : DAY_MS);
}

export const IN_USE: readonly string[] = [
  ...FETCHED_SOURCES.map(({ id }) => copyName(id)),
  LEARNED_FILE,
];

/** A list takes up to 1 s; a thread that takes longer than this is stuck. */
const WORK_MS = 120_000;

async function inThread(
  work: ListWork,
  clock: Pick<Clock, "after">,
): Promise<Assessed | LoadedLists> {
  const worker = new Worker(new URL("./feed-worker.js", import.meta.url), { workerData: work });
  let cancel = (): void => undefined;
  try {
    return await new Promise<Assessed | LoadedLists>((resolve, reject) => {
      const fail = (why: string) => () => reject(new Error(`list worker: ${why}`));
      cancel = clock.after(WORK_MS, fail("no answer"));
      worker.once("message", resolve).once("error", reject).once("exit", fail("ended"));
    });
  } finally {
    cancel();
    await worker.terminate();
  }
}

interface FeedRefresherDeps {
  readonly work?: typeof inThread;
  readonly files: FeedFiles;
  readonly urlOf: (source: Pick<FetchedSource, "id" | "path">) => string;
  readonly http: Outbound["http"];
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly log: Log;
  readonly counted?: ((id: string, outcome: string) => void) | undefined;
  readonly load?: typeof loadLists;
  readonly tell?: () => void;
  readonly isOff?: (id: string) => boolean;
}

const LOOK_MS = 60_000;
const FIRST_ASK_MS = 10_000;
const DUE_LOOK_MS = 600_000;
const NOTE_TRIES = 5;

export class FeedRefresher {
  readonly #deps: FeedRefresherDeps;
  #loaded: LoadedLists;
  #versions: ReadonlyMap<string, string>;
  #state: RefreshState = {};
  #running: Promise<readonly RefreshOutcome[]> | undefined;
  #swap: (loaded: LoadedLists) => void = () => undefined;
  readonly #over = new AbortController();

  private constructor(deps: FeedRefresherDeps, inUse: readonly FeedFile[]) {
    const { load = loadLists } = deps;
    this.#deps = deps;
    this.#versions = new Map(inUse.map(({ name, version }) => [name, version]));
    this.#loaded = load(inUse);
  }

  static async open(deps: FeedRefresherDeps): Promise<FeedRefresher> {
    const refresher = new FeedRefresher(deps, await deps.files.read(...IN_USE));
    await refresher.#readState();
    return refresher;
  }

  get loaded(): LoadedLists {
    return this.#loaded;
  }

  async status(): Promise<readonly FeedStatus[]> {
    await this.#readState();
    return this.statusNow();
  }

  /** Never rejects for what a source did. `confirmed`: not refused for `size_swing` and `many_removed` this once. */
  async refresh(confirmed: readonly string[] = []): Promise<readonly RefreshOutcome[]> {
    // One that is under way knows nothing of the operator's word.
    if (confirmed.length > 0) await Promise.allSettled([this.#running]);
    return await this.#runOnce(FETCHED_SOURCES, confirmed, this.#over.signal);
  }

  follow(swap: (loaded: LoadedLists) => void): void {
    this.#swap = swap;
    this.#every(LOOK_MS, LOOK_MS, this.#over.signal, () => this.look());
  }

  readonly look = inRounds(() => this.#lookNow());

  async lookLogged(): Promise<void> {
    await this.look().catch((fault: unknown) => this.#failed(fault));
  }

  async learned(servers: readonly LearnedServer[]): Promise<void> {
    const { files, clock, tell } = this.#deps;
    const file = await packFeedFile(LEARNED_FILE, JSON.stringify(servers), clock.nowMs());
    const before = (await files.versions()).get(LEARNED_FILE);
    if (before === file.version) return;
    await files.write(file, before);
    await this.look();
    tell?.();
  }

  /** Asks sources daily by itself until what it returns is called; what is asked by then comes to nothing. */
  fetch(): () => Promise<void> {
    const mine = new AbortController();
    const over = AbortSignal.any([mine.signal, this.#over.signal]);
    const end = this.#every(FIRST_ASK_MS, DUE_LOOK_MS, over, () => this.#askDue(over));
    return () => {
      mine.abort();
      return end(); // the operator's request continues, and stopping does not wait for it
    };
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await Promise.allSettled([this.#running, this.look()]); // what was under way is over then
  }

  #every(firstMs: number, ms: number, over: AbortSignal, work: () => Promise<void>): End {
    const { clock } = this.#deps;
    const failed = (fault: unknown): void => this.#failed(fault);
    const end = every({ ms, firstMs, clock, failed }, work);
    over.addEventListener("abort", () => void end(), { once: true });
    return end;
  }

  #failed(fault: unknown): void {
    this.#deps.log.error("feed.refresh_failed", fault);
  }

  async #lookNow(): Promise<void> {
    if (this.#over.signal.aborted) return;
    const { files, clock, work = inThread } = this.#deps;
    const there = await files.versions();
    if (IN_USE.every((name) => there.get(name) === this.#versions.get(name))) return;
    const inUse = await files.read(...IN_USE);
    this.#loaded = (await work({ kind: "load", files: inUse }, clock)) as LoadedLists;
    this.#versions = there;
    if (!this.#over.signal.aborted) this.#swap(this.#loaded);
    const names = this.#loaded.lists.reduce((sum, list) => sum + list.names, 0);
    this.#deps.log.info("feed.swapped", { names });
  }

  async #askDue(over: AbortSignal): Promise<void> {
    await this.#readState(); // another process may have asked since
    const nowMs = this.#deps.clock.nowMs();
    const due = FETCHED_SOURCES.filter(({ id }) => isDue(this.#state[id], nowMs));
    if (due.length === 0 || over.aborted || this.#running !== undefined) return;
    await this.#runOnce(due, [], over);
  }

  #runOnce(
    sources: readonly FetchedSource[],
    confirmed: readonly string[],
    over: AbortSignal,
  ): Promise<readonly RefreshOutcome[]> {
    this.#running ??= this.#run(sources, confirmed, over).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #run(
    sources: readonly FetchedSource[],
    confirmed: readonly string[],
    over: AbortSignal,
  ): Promise<readonly RefreshOutcome[]> {
    const outcomes: RefreshOutcome[] = [];
    await this.#readState();
    for (const source of sources) {
      const outcome = await this.#ask(source, confirmed.includes(source.id), over);
      if (outcome === undefined) break;
      outcomes.push(outcome);
      await this.#note(outcome);
    }
    if (outcomes.some(({ kind }) => kind === "accepted")) {
      await this.look();
      this.#deps.tell?.();
    }
    return outcomes;
  }

  async #ask(
    source: FetchedSource,
    isConfirmed: boolean,
    over: AbortSignal,
  ): Promise<RefreshOutcome | undefined> {
    const { urlOf, http, clock, work = inThread } = this.#deps;
    const { id } = source;
    // Only of a copy that is in use: to ask whether another one changed would leave us without.
    const validators = this.#loaded.lists.find((list) => list.id === id)?.validators;
    if (over.aborted) return undefined;
    const answer = await orAborted(fetchList(id, urlOf(source), validators, http), over);
    if (answer === "aborted") return undefined;
    if (!("body" in answer)) return answer;
    const removalSeen = this.#state[id]?.why === "many_removed";
    const fetched = { ...answer, id, fetchedAtMs: clock.nowMs(), removalSeen, isConfirmed };
    try {
      const [previous] = await this.#deps.files.read(copyName(id));
      const assessing = await work({ kind: "assess", ...fetched, previous }, clock);
      const assessed = assessing as Assessed;
      if ("id" in assessed) return assessed;
      const isWritten = await this.#deps.files.write(assessed, previous?.version);
      return { id, kind: isWritten ? "accepted" : "unchanged" }; // another process was faster
    } catch (fault) {
      const detail = fault instanceof Error ? fault.message : "unknown";
      return { id, kind: "refused", why: "not_kept", detail };
    }
  }

  async #note({ id, kind, why, detail }: RefreshOutcome): Promise<void> {
    const { clock, log, counted, files } = this.#deps;
    const askedAtMs = clock.nowMs();
    if (why === undefined) log.info("feed.fetched", { id, kind });
    else log.warn("feed.refused", { id, why, detail });
    counted?.(id, why ?? kind);
    const confirmedAtMs = why === undefined ? askedAtMs : this.#state[id]?.confirmedAtMs;
    const note: SourceState = { askedAtMs, confirmedAtMs, why, detail };
    this.#state = { ...this.#state, [id]: note };
    try {
      for (let tries = 0; tries < NOTE_TRIES; tries += 1) {
        const version = await this.#readState(id);
        const file = await packFeedFile(STATE_FILE, JSON.stringify(this.#state), askedAtMs);
        if (await files.write(file, version)) return;
      }
    } catch (fault) {
      log.error("feed.state_save_failed", fault);
    }
  }

  /** Takes what other processes noted later of other sources than `own`, and returns the version that was read. */
  async #readState(own?: string): Promise<string | undefined> {
    const [file] = await this.#deps.files.read(STATE_FILE);
    for (const [id, there] of Object.entries(parseIf(unpackFeedFile(file), isState) ?? {})) {
      const isNewer = (there?.askedAtMs ?? 0) > (this.#state[id]?.askedAtMs ?? -1);
      if (isNewer && id !== own) this.#state = { ...this.#state, [id]: there };
    }
    return file?.version;
  }

  /** As this process knows it, without a question to the database. */
  statusNow(): readonly FeedStatus[] {
    const { isOff = () => false } = this.#deps;
    return this.#loaded.lists.map(({ id, curated, names, from, fetchedAtMs }) => {
      const { askedAtMs, confirmedAtMs, why, detail } = this.#state[id] ?? {};
      const stood = { askedAtMs, confirmedAtMs, refusal: why && { why, detail } };
      return { id, curated, names, from, fetchedAtMs, ...stood, isOff: isOff(id) };
    });
  }
}

export type FeedRefresh = Pick<FeedRefresher, "status" | "refresh">;

export async function refreshBy(
  note: Note,
  feeds: Pick<FeedRefresher, "refresh">,
  confirmed: readonly string[] = [],
): Promise<readonly RefreshOutcome[]> {
  const outcomes = await feeds.refresh(confirmed);
  const refused = outcomes.filter(({ kind }) => kind === "refused").length;
  const counts = `${String(outcomes.length)} asked, ${String(refused)} refused`;
  const detail = [counts, ...confirmed.map((id) => `${id} confirmed`)].join(", ");
  await note({ action: "lists.fetched", accountId: SERVICE, detail });
  return outcomes;
}
