import type { Kysely } from "kysely";
import { LRUCache } from "lru-cache";
import { type Entrance } from "../accounts/admission/admission.ts";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { accountKey } from "../base/owner.ts";
import { badUpload, notFound, notNow, Refusal } from "../base/refusals.ts";
import type { Shares } from "../base/shares.ts";
import { inSlices } from "../base/slices.ts";
import { splitPieces } from "../core/batch/batch-chunk.ts";
import { keyOf } from "../core/batch/batch.ts";
import type { RowClass } from "../core/batch/row-class.ts";
import { TableFault } from "../core/batch/entry-cell.ts";
import type { Database } from "../store/schema.ts";
import type { SpelledResult } from "./bulk.ts";
import type { BulkService } from "./submit.ts";
import type { Jobs } from "./jobs.ts";
import {
  type AccountList,
  changeList,
  endOf,
  fileOf,
  findList,
  forgetList,
  keepList,
  keepSessionsUntil,
  type ListChoice,
  LISTS_MAX,
  type ListChange,
  listsOfAccount,
  runsOf,
} from "./list-store.ts";
import { cleanedCsv, type ListParts, type ListView, readView } from "./list-view.ts";
import { newestResults } from "./read-session.ts";
import { SESSION_LIFE_MS } from "./batches-store.ts";
import type { Session, SessionStore } from "./sessions.ts";

/** A list with its checks, as far as they began. */
export interface OpenList {
  readonly list: AccountList;
  readonly runs: readonly Session[];
  readonly running?: Session;
  /** When it is deleted; absent while a check runs. */
  readonly endMs?: number;
}

export interface ListsDeps {
  readonly db: Kysely<Database>;
  readonly sessions: SessionStore;
  readonly jobs: Pick<Jobs, "remove" | "stop">;
  readonly bulk: Pick<BulkService, "submit" | "entriesMax">;
  readonly shares: Pick<Shares, "of">;
  readonly clock: Clock;
  readonly ids: Ids;
  /** There is something to delete in the end. */
  readonly wake: () => void;
}

export interface Whose {
  readonly accountId: string;
  readonly id: string;
}

export interface NewList {
  readonly accountId: string;
  readonly name: string;
  readonly file: readonly Uint8Array[];
}

/** Entries to check: the first of those without a result; `again`: those that DNS said nothing about. */
export interface CheckOrder {
  readonly first?: number;
  readonly again: boolean;
}

/** Repairs to apply or to take back: those of a class of rows, or of one entry of the file. */
export interface FixOrder {
  readonly of: { readonly class: RowClass } | { readonly entry: string };
  readonly undo: boolean;
}

const NAME_MAX = 200;

const CHANGED = "The list was changed in another tab. Look at it again.";
const RUNNING = "The list is being checked. Wait until it is done.";

/** Lists of accounts, from the file to the cleaned file. Methods throw a `Refusal`; another account's list is a 404. */
export class Lists {
  readonly #deps: ListsDeps;
  readonly #views: Views;

  constructor(deps: ListsDeps) {
    this.#deps = deps;
    this.#views = new Views(deps);
  }

  async add({ accountId, name, file }: NewList): Promise<OpenList> {
    const { db, clock, ids, shares, wake } = this.#deps;
    const nowMs = clock.nowMs();
    const list: AccountList = {
      id: ids.hex32(),
      accountId,
      name: name.replaceAll(/\p{Cc}/gu, "").slice(0, NAME_MAX) || "list.txt",
      rows: 0,
      choice: {},
      fixes: new Set(),
      runs: [],
      version: 0,
      createdAtMs: nowMs,
      expiresAtMs: nowMs + SESSION_LIFE_MS,
    };
    const open = opened(list, []);
    const view = await this.#views.view(open, file);
    if (view.open.length === 0) {
      const reason = view.rows.find(({ class: name }) => name === "unread")?.why ?? "";
      throw badUpload(`The file has no entries. ${reason}`.trim());
    }
    const kept = await shares
      .of("writes")
      .run(accountKey(accountId), () => keepList(db, { ...list, rows: view.rows.length }, file));
    if (kept !== "kept") this.#views.forget(list.id);
    if (kept === "too_many") {
      throw notNow(`You have ${String(LISTS_MAX)} lists here. Delete one first.`);
    }
    if (kept === "full") {
      throw notNow(
        "There is no room for a list of this size. Delete a list, or try again in 15 minutes.",
      );
    }
    wake();
    return await this.find({ accountId, id: list.id });
  }

  async all(accountId: string): Promise<readonly OpenList[]> {
    return await this.#opened(await listsOfAccount(this.#deps.db, accountId));
  }

  async find({ accountId, id }: Whose): Promise<OpenList> {
    const list = await findList(this.#deps.db, accountId, id);
    const [open] = await this.#opened(list === undefined ? [] : [list]);
    if (open === undefined) throw notFound();
    return open;
  }

  /** Those that are not over. */
  async #opened(lists: readonly AccountList[]): Promise<readonly OpenList[]> {
    const runs = await runsOf(this.#deps.db, lists);
    const nowMs = this.#deps.clock.nowMs();
    return lists
      .map((list) => opened(list, runs(list)))
      .filter(({ endMs = Infinity }) => endMs > nowMs);
  }

  view(open: OpenList): Promise<ListView> {
    return this.#views.view(open);
  }

  newest(run: Session): Promise<readonly SpelledResult[]> {
    return newestResults(this.#deps.sessions, run);
  }

  async choose(whose: Whose, choice: ListChoice): Promise<OpenList> {
    const open = await this.#resting(whose);
    const { list, runs } = open;
    const chosen = { ...open, list: { ...list, choice, version: list.version + 1 } };
    const { rows } = await this.#views.view(chosen);
    const freshMs = this.#deps.clock.nowMs() + SESSION_LIFE_MS;
    const expiresAtMs = runs.length > 0 ? list.expiresAtMs : freshMs;
    return await this.#change(list, { choice, rows: rows.length, expiresAtMs });
  }

  async #resting(whose: Whose): Promise<OpenList> {
    const open = await this.find(whose);
    if (open.running !== undefined) throw notNow(RUNNING);
    return open;
  }

  async #change(list: AccountList, change: ListChange): Promise<OpenList> {
    if (!(await changeList(this.#deps.db, list, change))) throw notNow(CHANGED);
    return await this.find(list);
  }

  /** Charges and begins a check of what has no result. Its session is noted before it is charged, so that none is lost. */
  async check(
    whose: Whose,
    entrance: Entrance,
    { first = Infinity, again }: CheckOrder,
  ): Promise<OpenList> {
    const { db, clock, ids, bulk } = this.#deps;
    const open = await this.#resting(whose);
    const { list, runs } = open;
    const view = await this.#views.view(open);
    const entries = (again ? view.unsure : view.open).slice(0, Math.max(0, first));
    if (entries.length === 0) throw notNow("Nothing of this list is left to check.");
    const last = list.runs.at(-1);
    const isFree = last !== undefined && runs.every((run) => run.session !== last);
    const session = isFree ? last : ids.hex32();
    const nowMs = clock.nowMs();
    // Looked at before the sessions that it keeps are over.
    const expiresAtMs = nowMs + SESSION_LIFE_MS;
    await this.#change(list, { expiresAtMs, ...(!isFree && { runs: [...list.runs, session] }) });
    await keepSessionsUntil(db, list.runs, nowMs + 2 * SESSION_LIFE_MS);
    const split = await inSlices(
      splitPieces(entries, bulk.entriesMax(entrance.caller) ?? Infinity),
    );
    const retry = { key: `list ${session}`, bodyHash: session };
    try {
      await bulk.submit(entrance, { split, session, retry });
    } catch (error) {
      const isTwin = error instanceof Refusal && error.code === "retry_in_flight";
      throw isTwin ? notNow(RUNNING) : error;
    }
    return await this.find(whose);
  }

  async stop(whose: Whose): Promise<OpenList> {
    const { running } = await this.find(whose);
    if (running !== undefined) {
      await this.#deps.jobs.stop(running.session, this.#deps.clock.nowMs());
    }
    return await this.find(whose);
  }

  async fix(whose: Whose, order: FixOrder): Promise<OpenList> {
    const open = await this.#resting(whose);
    const fixes = new Set(open.list.fixes);
    for (const key of fixedBy(order, await this.#views.view(open))) {
      if (order.undo) fixes.delete(key);
      else fixes.add(key);
    }
    return await this.#change(open.list, { fixes });
  }

  /** Ends what runs and deletes everything; entries that were not begun are given back. */
  async remove(whose: Whose): Promise<void> {
    const { db, jobs, clock, wake } = this.#deps;
    const { list } = await this.find(whose);
    for (const session of list.runs) await jobs.remove(session, clock.nowMs());
    await forgetList(db, list.id);
    this.#views.forget(list.id);
    wake();
  }

  close(): void {
    this.#views.close();
  }

  /** The file with our columns behind its own, rows of these classes, in pieces. */
  async csv(open: OpenList, classes: ReadonlySet<RowClass>): Promise<AsyncIterable<string>> {
    const view = await this.#views.view(open);
    return cleanedCsv(partsOf(open, this.#deps), view, classes);
  }
}

function opened(list: AccountList, runs: readonly Session[]): OpenList {
  const running = runs.find(({ isRunning }) => isRunning);
  return running === undefined ? { list, runs, endMs: endOf(list, runs) } : { list, runs, running };
}

function fixedBy({ of, undo }: FixOrder, { rows }: ListView): readonly string[] {
  if ("entry" in of) return [keyOf(of.entry)];
  return rows.flatMap(({ class: name, wasClass, was, entry, meant }) => {
    if (undo) return wasClass === of.class && was !== undefined ? [keyOf(was)] : [];
    return name === of.class && meant !== "" ? [keyOf(entry)] : [];
  });
}

function partsOf(
  { list, runs }: OpenList,
  { db, sessions }: Pick<ListsDeps, "db" | "sessions">,
  file?: readonly Uint8Array[],
): ListParts {
  return {
    options: { name: list.name, ...list.choice },
    slices: () => (file === undefined ? fileOf(db, list) : slicesOf(file)),
    fixes: list.fixes,
    sessions: runs.filter(({ state }) => state !== "gone"),
    store: sessions,
  };
}

const SLICE_OCTETS = 65_536;

async function* slicesOf(file: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const chunk of file) {
    for (let at = 0; at < chunk.length; at += SLICE_OCTETS) {
      yield await Promise.resolve(chunk.subarray(at, at + SLICE_OCTETS));
    }
  }
}

interface KeptView {
  readonly version: string;
  readonly view: Promise<ListView>;
}

const IDLE_MS = 120_000;

/** Rows of all views in memory. */
const ROWS_MAX = 300_000;

/** Views of lists in memory, made anew from what is stored when they are not there. */
class Views {
  readonly #deps: ListsDeps;
  readonly #kept = new LRUCache<string, KeptView>({
    maxSize: ROWS_MAX,
    ttl: IDLE_MS,
    ttlAutopurge: true,
    updateAgeOnGet: true,
  });

  constructor(deps: ListsDeps) {
    this.#deps = deps;
  }

  view(open: OpenList, file?: readonly Uint8Array[]): Promise<ListView> {
    const { id, accountId, version: changes } = open.list;
    const runs = open.runs.map((run) => `${run.session} ${run.state} ${String(run.processed)}`);
    const version = [changes, ...runs].join();
    const known = this.#kept.get(id);
    if (known?.version === version) return known.view;
    const parts = partsOf(open, this.#deps, file);
    const read = (): Promise<ListView> => readView(parts);
    const reading = this.#deps.shares.of("decoding").run(accountKey(accountId), read, VIEW_OCTETS);
    const kept: KeptView = { version, view: reading.catch(refused) };
    this.#kept.set(id, kept, { size: 1 });
    kept.view.then(
      ({ rows }) => {
        const size = Math.min(ROWS_MAX, rows.length + 1); // the newest view stays in any case
        if (this.#kept.peek(id) === kept) this.#kept.set(id, kept, { size });
      },
      () => {
        if (this.#kept.peek(id) === kept) this.forget(id);
      },
    );
    return kept.view;
  }

  forget(id: string): void {
    this.#kept.delete(id);
  }

  close(): void {
    this.#kept.clear();
  }
}

const VIEW_OCTETS = 1_000_000;

/** For people, who see no parameters. */
function refused(error: unknown): never {
  if (!(error instanceof TableFault)) throw error;
  throw badUpload(error.message.replace("; name it with column", ""));
}
